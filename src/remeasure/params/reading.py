"""Read params.yaml exactly as DVC reads it, and turn what is wrong into one clear line.

DVC reads YAML 1.2 through ruamel.yaml. PyYAML reads YAML 1.1, in which `1e-3` is a string and `off`
is false: a stage that used it could train with other values than those DVC recorded.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from remeasure import paths
from remeasure.errors import ParameterError


class Settings(BaseModel):
    """A section of params.yaml: frozen, every key known, no silent conversion between types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


NAME = re.compile("[a-z][a-z0-9_]*")
"""Names become parts of file names, commands and addresses."""

AnySettings = TypeVar("AnySettings", bound=Settings)


def read_yaml(path: Path) -> Any:
    """The file's content as DVC sees it. Raises ParameterError if it is missing or no YAML."""
    try:
        return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ParameterError(
            f"{path}: not found; run the command in the folder that holds it"
        ) from None
    except (YAMLError, UnicodeDecodeError, ValueError) as error:
        first_line = " ".join(str(error).split())[:300]
        raise ParameterError(f"{path}: cannot be read as YAML: {first_line}") from None


def read_params(path: Path = paths.PARAMS) -> dict[str, Any]:
    """All of params.yaml as a mapping, unchecked. Raises ParameterError if it is no mapping."""
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise ParameterError(f"{path}: holds {_shown(content)}; allowed is a mapping of sections")
    return content


def section(params: Mapping[str, Any], address: str) -> Any:
    """The value at a dotted address such as `ablations.one_block`. Raises ParameterError."""
    value: Any = params
    walked: list[str] = []
    for key in address.split("."):
        if not isinstance(value, Mapping):
            raise ParameterError(f"{'.'.join(walked)}: {_shown(value)} is no mapping of keys")
        if key not in value:
            there = ", ".join(map(_name, value)) or "nothing"
            where = ".".join(walked) or str(paths.PARAMS)
            raise ParameterError(f"{where}: has no key {key!r}; there are: {there}")
        walked.append(key)
        value = value[key]
    return value


def mapping(params: Mapping[str, Any], address: str) -> Mapping[str, Any]:
    """The mapping of keys at a dotted address. Raises ParameterError if anything else is there."""
    value = section(params, address)
    if not isinstance(value, Mapping):
        raise ParameterError(f"{address}: {_shown(value)} is no mapping of keys")
    return value


def check_name(name: object, where: str) -> str:
    """A name that may be part of a file's name. Raises ParameterError for anything else."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ParameterError(
            f"{where}: {_shown(name)} is no name; allowed are a-z, 0-9 and _, with a letter first"
        )
    return name


def check(kind: type[AnySettings], value: Any, where: str) -> AnySettings:
    """`value` as a checked `kind`. Raises ParameterError naming key, value and what is allowed."""
    if not isinstance(value, Mapping):
        raise ParameterError(f"{where}: {_shown(value)} is no mapping of keys")
    try:
        return kind.model_validate(dict(value))
    except ValidationError as error:
        problems = error.errors(include_url=False)
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise ParameterError(_explained(kind, problems[0], where) + more) from None


def _explained(kind: type[BaseModel], problem: ErrorDetails, where: str) -> str:
    key = ".".join([where, *map(_name, problem["loc"])])
    value = _shown(problem["input"])
    context = problem.get("ctx", {})
    match problem["type"]:
        case "literal_error":
            allowed = context["expected"].replace("'", "").replace(" or ", ", ")
            return f"{key}: {value} is not one of {allowed}"
        case "extra_forbidden":
            known = ", ".join(kind.model_fields) if len(problem["loc"]) == 1 else "see params.yaml"
            return f"{key}: unknown key; known are: {known}"
        case "missing":
            return f"{key}: missing; it has no default"
        case "value_error":
            return f"{key}: {context['error']}"
        case _:
            message = problem["msg"][0].lower() + problem["msg"][1:]
            return f"{key}: {value} is not allowed: {message}"


def _name(key: Any) -> str:
    """A key as it is, if it fits into a line as that."""
    text = str(key)
    return text if text.isprintable() and len(text) <= 80 else _shown(key)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
