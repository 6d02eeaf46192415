"""What a layer keeps of the tokens it has seen, so that generating one more costs one more.

Shapes: T new tokens, S tokens so far, new ones included.
"""

from torch import Tensor


class Cache:
    """Grown tensors of one layer (keys and values, say), in room reserved once.

    `capacity` is the largest number of tokens it can hold.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._rooms: dict[str, Tensor] = {}
        self._lengths: dict[str, int] = {}

    def extend(self, name: str, new: Tensor) -> Tensor:
        """Append `new` [..., T, W] to what is kept under `name`; returns all of it, [..., S, W].

        Raises ValueError if the capacity does not suffice.
        """
        if name not in self._rooms:
            *leading, _, width = new.shape
            self._rooms[name] = new.new_empty(*leading, self.capacity, width)
        start = self._lengths.get(name, 0)
        end = start + new.shape[-2]
        if end > self.capacity:
            raise ValueError(f"the cache holds {self.capacity} tokens, {end} are needed")
        room = self._rooms[name]
        room[..., start:end, :] = new
        self._lengths[name] = end
        return room[..., :end, :]

    @property
    def length(self) -> int:
        """How many tokens the layer has seen before the ones it is reading now."""
        return min(self._lengths.values(), default=0)

    @property
    def bytes(self) -> int:
        """Memory reserved, in bytes."""
        return sum(room.numel() * room.element_size() for room in self._rooms.values())


class ModelCache:
    """One `Cache` a block, and how many tokens the model has read into them."""

    def __init__(self, n_blocks: int, capacity: int) -> None:
        self.blocks = [Cache(capacity) for _ in range(n_blocks)]
        self.length = 0

    @property
    def bytes(self) -> int:
        """Memory reserved by all blocks, in bytes."""
        return sum(block.bytes for block in self.blocks)
