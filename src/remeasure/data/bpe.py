"""Byte-level byte-pair encoding (BPE), trained with ties broken by the pair met first.

The method is that of Sennrich, Haddow and Birch (2016), "Neural Machine Translation of Rare Words
with Subword Units", on the bytes and with the split pattern of GPT-2: Radford et al. (2019),
"Language Models are Unsupervised Multitask Learners". The `tokenizers` library splits the text
and applies the result, but its trainer breaks ties by the smaller pair of ids; hence this one.
"""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from heapq import heapify, heappop, heappush
from itertools import accumulate, pairwise

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

N_BYTES = 256
"""Symbols in the vocabulary before the first merge: one for each value of a byte."""

Pair = tuple[str, str]
"""Two neighbouring symbols, each written with one character for each of its bytes."""

# A piece ends before a space or newline that follows no white space. No word of GPT-2's pattern
# goes on there, and the pattern looks ahead only over white space: cutting changes no word.
_PIECE = re.compile(r"(?s:.+?)(?:(?<=\S)(?=[ \n])|\Z)")


def train(text: str, vocab_size: int) -> Tokenizer:
    """A byte-level BPE tokenizer of at most `vocab_size` tokens, learnt from the text.

    The text is split into words by GPT-2's pattern. Each merge joins the pair of neighbouring
    symbols with the most occurrences; overlapping ones all count, so "aaa" has two of ("a", "a").
    Among equally frequent pairs it joins the one met first: the one whose first occurrence, in
    the words as merged so far, comes first in the text. That is the choice of a trainer that at
    every merge counts all pairs anew, in reading order, into a dict and takes `max()`. Reading
    the running text or each different word once, in order of first appearance, is the same: a
    pair's first occurrence lies in the first appearance of some word.

    Ids: 0 to 255 are the bytes by value (not in the order of GPT-2's own vocabulary), then come
    the merges in the order made. Merging goes on down to pairs that occur once; if no pair is
    left, every word being one symbol, the vocabulary is smaller than asked. Decoding what was
    encoded gives back any text.

    Time grows with the length of the words that a merge changes, so a text without white space
    or punctuation is slow. Memory, beside the text, grows with the number of different words.

    Raises ValueError if `vocab_size` is below 256 or the text holds lone surrogates, which have no
    UTF-8 form.
    """
    if vocab_size < N_BYTES:
        raise ValueError(
            f"vocab_size must be at least {N_BYTES}, one token for each value of a byte;"
            f" got {vocab_size}"
        )
    merges = _learn_merges(_count_words(text), vocab_size - N_BYTES)
    tokens = _byte_symbols() + [left + right for left, right in merges]
    vocabulary = {token: token_id for token_id, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = _splitter()
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _splitter() -> pre_tokenizers.ByteLevel:
    """GPT-2's split into words, each written with one printable character for each byte."""
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)


def _byte_symbols() -> list[str]:
    """GPT-2's printable character for each byte, by the value of the byte."""
    printable = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1)}
    printable |= set(range(ord("®"), ord("ÿ") + 1))
    stand_ins = iter(range(N_BYTES, 2 * N_BYTES))
    return [chr(byte if byte in printable else next(stand_ins)) for byte in range(N_BYTES)]


def _count_words(text: str) -> Counter[str]:
    """How often each word occurs; the words come in order of first appearance.

    The library is slow on a long text, so it splits each different piece of the text only once.
    """
    piece_counts = Counter(match.group() for match in _PIECE.finditer(text))
    splitter = _splitter()
    word_counts: Counter[str] = Counter()
    for piece, piece_count in piece_counts.items():
        for word, _ in splitter.pre_tokenize_str(piece):
            word_counts[word] += piece_count
    return word_counts


def _learn_merges(word_counts: Mapping[str, int], n_merges: int) -> list[Pair]:
    """The first `n_merges` merges, or fewer if no pair is left.

    No symbol arises twice: wherever its bytes stand unjoined to their neighbours, the same merges
    join them. So a merge only takes occurrences from pairs that existed before it, and what a pair
    has lost never returns. A pair's rank in the heap can thus only get worse, by a smaller count;
    with its count unchanged it has all its occurrences, and the same first one. Hence a pair needs
    one entry in the heap, to be corrected only when it comes to the top.
    """
    table = _PairTable(word_counts)
    heap = [table.rank(pair) for pair in table.counts]
    heapify(heap)
    merges: list[Pair] = []
    while heap and len(merges) < n_merges:
        negative_count, _, pair = heappop(heap)
        count = table.counts[pair]
        if count == -negative_count:
            merges.append(pair)
            for new_pair in table.merge(pair):
                heappush(heap, table.rank(new_pair))
        elif count > 0:
            heappush(heap, table.rank(pair))
    return merges


class _PairTable:
    """The words as merged so far, and the pairs in them."""

    def __init__(self, word_counts: Mapping[str, int]) -> None:
        self._words = [list(word) for word in word_counts]
        self._word_counts = list(word_counts.values())
        # Where each word starts, in bytes, if the different words are written one after another.
        self._starts = list(accumulate(map(len, word_counts), initial=0))
        self.counts: defaultdict[Pair, int] = defaultdict(int)
        # Ascending indices of the words with the pair, and of some that had it once.
        self._holders: defaultdict[Pair, deque[int]] = defaultdict(deque)
        for index, symbols in enumerate(self._words):
            for pair in pairwise(symbols):
                self.counts[pair] += self._word_counts[index]
                self._note_holder(pair, index)

    def rank(self, pair: Pair) -> tuple[int, int, Pair]:
        """Sorts the most frequent pair first, among equally frequent ones the one met first."""
        return -self.counts[pair], self._first_position(pair), pair

    def merge(self, pair: Pair) -> set[Pair]:
        """Join the pair wherever it occurs; returns the pairs that this brought about."""
        joined = pair[0] + pair[1]
        new_pairs: set[Pair] = set()
        for index in self._holders.pop(pair):
            before = self._words[index]
            after = _join(before, pair)
            if len(after) == len(before):
                continue  # the word lost this pair in an earlier merge
            self._words[index] = after
            word_count = self._word_counts[index]
            for old_pair in pairwise(before):
                self.counts[old_pair] -= word_count
            for pair_after in pairwise(after):
                self.counts[pair_after] += word_count
                if joined in pair_after:
                    new_pairs.add(pair_after)
                    self._note_holder(pair_after, index)
        return new_pairs

    def _first_position(self, pair: Pair) -> int:
        """Where the pair first occurs, in bytes, which unlike symbols no merge renumbers."""
        holders = self._holders[pair]
        while True:
            position = self._starts[holders[0]]
            for found in pairwise(self._words[holders[0]]):
                if found == pair:
                    return position
                position += len(found[0])
            holders.popleft()

    def _note_holder(self, pair: Pair, index: int) -> None:
        holders = self._holders[pair]
        if not holders or holders[-1] != index:
            holders.append(index)


def _join(symbols: list[str], pair: Pair) -> list[str]:
    """The word's symbols with every occurrence of the pair joined, from left to right."""
    left, right = pair
    joined = left + right
    result: list[str] = []
    for symbol in symbols:
        # What was just joined is never `left`, so that it is not joined a second time.
        if symbol == right and result and result[-1] == left:
            result[-1] = joined
        else:
            result.append(symbol)
    return result
