"""A budget by its name in the section `budgets`, for families whose runs share those."""

from collections.abc import Mapping
from typing import Any

from remeasure.errors import ParameterError
from remeasure.params.reading import check, mapping
from remeasure.params.training import Budget


def named_budget(params: Mapping[str, Any], name: str, where: str) -> Budget:
    """The budget `budgets.<name>` that `where` asks for, not scaled.

    Raises ParameterError if there is none, or if it lists further window lengths: only ablations
    are evaluated on those.
    """
    budgets = mapping(params, "budgets")
    if name not in budgets:
        raise ParameterError(
            f"{where}.budget: {name!r} is not one of {', '.join(map(str, budgets))}"
        )
    budget = check(Budget, budgets[name], f"budgets.{name}")
    if budget.evaluated_at:
        raise ParameterError(
            f"{where}.budget: {name} lists windows in evaluated_at, which only ablations are"
            " evaluated on; choose a budget with evaluated_at: []"
        )
    return budget
