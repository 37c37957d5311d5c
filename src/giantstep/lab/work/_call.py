"""Call: a task that is not a trial of a setting, a function of a module with plain arguments."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from giantstep.errors import InputError


@dataclass(frozen=True)
class Call:
    """``function`` is ``module:name``; the arguments are text, numbers, true and false, None, and tuples of these."""

    function: str
    arguments: tuple[Any, ...]

    @property
    def key(self) -> str:
        """The text that identifies the call."""
        return f"{self.function}{json.dumps(self.arguments, ensure_ascii=False, separators=(',', ':'))}"

    def perform(self) -> Any:
        """Call the function and return its value."""
        module, _, name = self.function.partition(":")
        return getattr(import_module(module), name)(*self.arguments)


def call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Call:
    """Make a call of a function that workers can import."""
    home, name = function.__module__, function.__qualname__
    if "." in name or "<" in name:
        raise InputError(f"a call needs a function at the top level of a module, not {name}")
    return Call(f"{home}:{name}", arguments)
