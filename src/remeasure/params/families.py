"""Every family of trainings: what its results are called, where its entries stand, how one is read.

The only list of plans. A new family is one line here, and its name in `records.results.FAMILIES`,
which has to load without these.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from remeasure.params.ablations import ablation_plan
from remeasure.params.induction import induction_plan
from remeasure.params.masked import masked_plan
from remeasure.params.normalisation import normalisation_plan
from remeasure.params.reading import mapping, section
from remeasure.params.recurrent import recurrent_plan
from remeasure.params.referent import referent_plan
from remeasure.params.scaled_embedding import scaled_embedding_plan
from remeasure.params.seq2seq import seq2seq_plan
from remeasure.params.training import Budget

Params = Mapping[str, Any]


class Plan(Protocol):
    """What all plans of a training have in common."""

    @property
    def settings(self) -> str:
        """Digest of all that decides what one seed measures."""
        ...

    @property
    def budget(self) -> Budget:
        """Already scaled by `training.fraction`."""
        ...

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where in params.yaml all of it stands."""
        ...


@dataclass(frozen=True)
class Family:
    """One family: its group in dvc.yaml is named `stage`, its folders of results `folder`."""

    stage: str
    folder: str
    entries: str
    """Address of the mapping in params.yaml that names its runs."""
    plan: Callable[[Params, str], Plan]
    """Reads one of them. Raises ParameterError."""

    def shortened(self, params: Params, name: str, steps: int) -> dict[str, Any]:
        """Parameters under which the run trains for so many steps at most, all else equal."""
        plan = self.plan(params, name)
        fewer = {"steps": min(steps, plan.budget.steps)}
        short = plan.budget.model_copy(update=fewer).model_dump(mode="json")
        whole = _replaced(params, "training.fraction", 1.0)
        named = [address for address in plan.addresses if address.startswith("budgets.")]
        if named:
            return _replaced(whole, named[0], short)
        own = f"{self.entries.partition('.')[0]}.budget"
        shared = {key: short[key] for key in mapping(params, own)}
        if "steps" not in shared:
            whole = _replaced(whole, f"{self.entries}.{name}.steps", short["steps"])
        return _replaced(whole, own, shared)


TRAININGS = (
    Family("ablation", "ablations", "ablations", ablation_plan),
    Family("referent", "referent", "referent.runs", referent_plan),
    Family("recurrent", "recurrent", "recurrent.runs", recurrent_plan),
    Family("seq2seq", "seq2seq", "seq2seq.runs", seq2seq_plan),
    Family("masked", "masked", "masked.runs", masked_plan),
    Family("normalisation", "normalisation", "normalisation.runs", normalisation_plan),
    Family("scaled_embedding", "scaled_embedding", "scaled_embedding.runs", scaled_embedding_plan),
    Family("induction", "induction", "induction.runs", induction_plan),
)


def _replaced(params: Params, address: str, value: Any) -> dict[str, Any]:
    """A copy in which another value stands at a dotted address."""
    key, _, rest = address.partition(".")
    inner = _replaced(section(params, key), rest, value) if rest else value
    return {**params, key: inner}
