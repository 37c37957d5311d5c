"""Call: a function of a module with plain arguments, to be run somewhere and kept; what is no trial of a setting."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from giantstep.errors import InputError

__all__ = ["Call", "call"]


@dataclass(frozen=True)
class Call:
    """``function`` is ``module:name``; the arguments are text, numbers, true and false, None, and tuples of these."""

    function: str
    arguments: tuple[Any, ...]

    @property
    def key(self) -> str:
        """What makes it the same call."""
        return f"{self.function}{json.dumps(self.arguments, ensure_ascii=False, separators=(',', ':'))}"

    def perform(self) -> Any:
        """What the function returns."""
        module, _, name = self.function.partition(":")
        return getattr(import_module(module), name)(*self.arguments)


def call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Call:
    """A call that workers can find."""
    home, name = function.__module__, function.__qualname__
    if "." in name or "<" in name:
        raise InputError(f"a call needs a function of a module, not {name}")
    return Call(f"{home}:{name}", arguments)
