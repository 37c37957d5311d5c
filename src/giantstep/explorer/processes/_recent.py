"""Recent: a dictionary that forgets its oldest entries."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any


class Recent(OrderedDict[Any, Any]):
    """At most ``most`` entries, in the order in which they were added."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        while len(self) > self._most:
            self.popitem(last=False)

    def find(self, key: Any, make: Callable[[], Any]) -> Any:
        """The value of a key; ``make()`` if there is none."""
        value = self.get(key)
        if value is None:
            value = self[key] = make()
        return value
