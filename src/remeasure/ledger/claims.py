"""What the chapters state, one claim a figure, with the rule that judges it: claims.yaml, typed.

Rules and tolerances are data, fixed before the measurement. `verdicts` applies them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, JsonValue, model_validator

from remeasure import paths
from remeasure.errors import ParameterError
from remeasure.ledger.values import split_address
from remeasure.params.reading import Settings, check, read_yaml

Positive = Annotated[float, Field(gt=0)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9_]+(\.[A-Za-z0-9_]+)*$")]
Address = Annotated[str, Field(pattern=r"^metrics/[a-z0-9_/]+\.json#[A-Za-z0-9_.*]+$")]
Scale = Literal["linear", "log"]


class Tolerance(Settings):
    """How far from the printed figure still counts: exactly one of the three."""

    absolute: Positive | None = None
    relative: Positive | None = None
    factor: Annotated[float, Field(gt=1)] | None = None

    @model_validator(mode="after")
    def _one_of_three(self) -> "Tolerance":
        if len(self.model_dump(exclude_none=True)) != 1:
            raise ValueError("give exactly one of absolute, relative, factor")
        return self

    def around(self, printed: float) -> tuple[float, float]:
        """The smallest and the largest value that still count."""
        if self.factor is not None:
            return printed / self.factor, printed * self.factor
        reach = self.absolute if self.absolute is not None else abs(printed) * (self.relative or 0)
        return printed - reach, printed + reach

    @property
    def text(self) -> str:
        """In words, for reasons."""
        if self.factor is not None:
            return f"a factor of {self.factor:g}"
        if self.absolute is not None:
            return f"± {self.absolute:g}"
        return f"{100 * (self.relative or 0):g} %"


THREE_PERCENT = Tolerance(relative=0.03)
"""Two trained perplexities that differ by less would lead nobody to another decision."""


class Equal(Settings):
    """Equal to the digits printed; lists entry by entry."""

    type: Literal["equal"]


class Polynomial(Settings):
    """Every y is the polynomial of its x, exactly: sum of coefficients[k] · x^k.

    Reads two lists, x and y, or one mapping from x to y.
    """

    type: Literal["polynomial"]
    coefficients: Annotated[tuple[float, ...], Field(strict=False, min_length=1)]


class AtMost(Settings):
    """Every number is at most `limit`, such as the rounding of float32."""

    type: Literal["at_most"]
    limit: float
    why: str | None = None


class AtLeast(Settings):
    """Every number is at least `limit`."""

    type: Literal["at_least"]
    limit: float
    why: str | None = None


class Growth(Settings):
    """The last number of a list over the first is at least, or at most, so much."""

    type: Literal["growth"]
    at_least: float | None = None
    at_most: float | None = None
    why: str


class Within(Settings):
    """Every number is near the printed figure, or near `to` where words are printed."""

    type: Literal["within"]
    tolerance: Tolerance
    close: Tolerance | None = None
    to: float | None = None
    why: str


class Prediction(Settings):
    """The printed run lies in the 95 % prediction interval of our seeds."""

    type: Literal["prediction"]
    scale: Scale = "linear"
    close: Tolerance = THREE_PERCENT
    why: str | None = None


class Difference(Settings):
    """The same for the first number minus the second, seed by seed."""

    type: Literal["difference"]
    close: Tolerance
    why: str


class Ratio(Settings):
    """The same for the first number over the second, seed by seed, on logarithms."""

    type: Literal["ratio"]
    close: Tolerance
    why: str


class Magnitude(Settings):
    """Of the same order: the seeds' geometric mean is that many powers of ten off, at most."""

    type: Literal["magnitude"]
    decades: Positive
    close_decades: Positive
    why: str


class Order(Settings):
    """In each pair of addresses the first number is smaller: paired one-sided t-test over seeds.

    With `factor`, the second is that many times as large, or more. Without one, a difference below
    `least` is none: if ours is certainly below it, the claim is contradicted.
    """

    type: Literal["order"]
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    factor: Annotated[float, Field(gt=1)] | None = None
    least: Annotated[float, Field(ge=0)] = 0.0
    why: str | None = None


class Shape(Settings):
    """Growth over the last rows: each local exponent log(y'/y) / log(x'/x) is near the printed one.

    Reads two lists, x and y, of as many rows as are printed. Tolerances are on the exponent.
    """

    type: Literal["shape"]
    last: Annotated[int, Field(ge=2)]
    tolerance: Positive
    close: Positive
    why: str


Rule = Annotated[
    Equal
    | Polynomial
    | AtMost
    | AtLeast
    | Growth
    | Within
    | Prediction
    | Difference
    | Ratio
    | Magnitude
    | Order
    | Shape,
    Field(discriminator="type"),
]

RULES_OF_KIND: Mapping[str, tuple[str, ...]] = {
    "exact": ("equal", "polynomial", "within"),
    "numeric": ("at_most", "within", "prediction"),
    "trained": ("prediction", "difference", "ratio", "magnitude"),
    "order": ("order",),
    "hardware": ("equal", "at_most", "at_least", "growth", "within", "shape"),
}
"""A trained or ordered claim is judged over seeds only, so one seed can never settle it."""

ADDRESSES_OF_RULE: Mapping[str, tuple[int, ...]] = {
    "equal": (1,),
    "polynomial": (1, 2),
    "prediction": (1,),
    "magnitude": (1,),
    "difference": (2,),
    "ratio": (2,),
    "order": (2, 4, 6, 8),
    "shape": (2,),
    "growth": (1,),
}
"""How many; the rules that are not named here take any number."""

FIGURE_NEEDED = ("prediction", "difference", "ratio", "magnitude")


class Finding(Settings):
    """A measured number that no chapter prints: shown, never counted."""

    id: Name
    section: Name
    what: str
    address: Address
    lost: bool = False
    """Whether it stood in a table of the chapter that its text as handed down has lost."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """The one address, as claims have several."""
        return (self.address,)


class Claim(Settings):
    """One figure of a chapter, where ours stands, and the rule for the verdict.

    `digits` are the decimals printed. Words are printed for an order or a shape.
    """

    id: Name
    chapter: Literal["main", "companion"]
    section: Name
    what: str
    kind: Literal["exact", "numeric", "trained", "order", "hardware"]
    printed: JsonValue
    digits: Annotated[int, Field(ge=0, le=12)] = 0
    addresses: Annotated[tuple[Address, ...], Field(strict=False, min_length=1)]
    rule: Rule

    @model_validator(mode="after")
    def _fits_together(self) -> "Claim":
        rule = self.rule
        if rule.type not in RULES_OF_KIND[self.kind]:
            allowed = ", ".join(RULES_OF_KIND[self.kind])
            raise ValueError(f"no rule for kind {self.kind}: {rule.type}; allowed are {allowed}")
        counts = ADDRESSES_OF_RULE.get(rule.type)
        if counts and len(self.addresses) not in counts:
            allowed = " or ".join(map(str, counts))
            raise ValueError(
                f"rule {rule.type} takes {allowed} addresses, not {len(self.addresses)}"
            )
        if isinstance(rule, Prediction) and rule.close != THREE_PERCENT and rule.why is None:
            raise ValueError("a tolerance other than 3 % needs its why")
        if rule.type in FIGURE_NEEDED and round(self.figure, self.digits) != self.figure:
            raise ValueError(f"printed {self.figure} has more decimals than digits {self.digits}")
        return self

    @property
    def figure(self) -> float:
        """The printed number. Raises ValueError if words or a table are printed."""
        if isinstance(self.printed, bool) or not isinstance(self.printed, int | float):
            raise ValueError(f"printed {self.printed!r} is no number, as its rule needs")
        return self.printed


class Text(Settings):
    """The chapter's text and how it is cut: what metrics/corpus.json must say."""

    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    vocab_size: int
    tokens: int
    training_tokens: int


class Pin(Settings):
    """What a record must be to count: made by which stage, with which settings, on which text."""

    stage: str
    entry: str
    """Where params.yaml describes the experiment."""
    settings: Annotated[str, Field(pattern="^[0-9a-f]{12}$")] | None = None
    text: str | None = None
    """Where the record says which text it read, if it reads one."""


class Protocol(Settings):
    """The chapter's experiments as this project reads them."""

    text: Text
    records: dict[str, Pin]


class File(Settings):
    """claims.yaml before its entries are checked one by one."""

    typical_spread: Positive
    protocol: Protocol
    headlines: dict[Name, str]
    claims: Annotated[tuple[JsonValue, ...], Field(strict=False)]
    findings: Annotated[tuple[JsonValue, ...], Field(strict=False)]


@dataclass(frozen=True)
class Claims:
    """All of claims.yaml, checked."""

    claims: tuple[Claim, ...]
    findings: tuple[Finding, ...]
    protocol: Protocol
    headlines: Mapping[str, str]
    """Name in metrics/summary.json, and the claim whose measured number stands there."""
    typical_spread: float
    """Deviation between seeds as a share of the mean, assumed while there is a single seed."""


def read_claims(path: Path = paths.CLAIMS) -> Claims:
    """claims.yaml, checked. Raises ParameterError that names the claim and what is wrong."""
    where = str(path)
    file = check(File, read_yaml(path), where)
    claims = Claims(
        tuple(check(Claim, entry, _where(where, entry)) for entry in file.claims),
        tuple(check(Finding, entry, _where(where, entry)) for entry in file.findings),
        file.protocol,
        file.headlines,
        file.typical_spread,
    )
    _check_names(claims, where)
    return claims


def _where(path: str, entry: object) -> str:
    return f"{path}: {entry.get('id') if isinstance(entry, Mapping) else entry}"


def _check_names(claims: Claims, where: str) -> None:
    entries: list[Claim | Finding] = [*claims.claims, *claims.findings]
    ids = [entry.id for entry in entries]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise ParameterError(f"{where}: {twice[0]}: stands there twice")
    unknown = sorted(set(claims.headlines.values()) - {claim.id for claim in claims.claims})
    if unknown:
        raise ParameterError(f"{where}: headlines: {unknown[0]} is no claim")
    unpinned = sorted(records_of(entries) - set(claims.protocol.records))
    if unpinned:
        raise ParameterError(
            f"{where}: protocol.records: {unpinned[0]} is not pinned;"
            " add its stage there and run 'python -m remeasure.ledger pin'"
        )


def records_of(entries: Iterable[Claim | Finding]) -> set[str]:
    """The files that hold the numbers of these entries."""
    return {str(split_address(address)[0]) for entry in entries for address in entry.addresses}
