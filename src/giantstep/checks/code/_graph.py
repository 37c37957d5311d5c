"""Graph: what a function depends on, by what the sources import. Nothing is executed.

A module of the library counts as a whole, with all that it imports. Of a module that holds
measuring, judging and drawing side by side, and of the ``__init__`` of a package, only those
definitions count that are used. A package on the way to a module counts with what it does when it
is loaded. Imports for type checkers and names in annotations do not count.
"""

import gc
import hashlib
import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

from giantstep import __version__
from giantstep.checks.code._source import Import, Module, read
from giantstep.checks.code._uses import Asked

# A part of a module: a name that it gives a value, "=name" for one that it imports for itself, a
# statement by its number, or one of the three below.
Part = tuple[str, str | int]
Packages = tuple[str, ...]
Cuts = Mapping[str, Packages]
NO_CUTS: Cuts = {}
WHOLE, LOADED, EFFECTS = "*", "on the way", "when loaded"
# What these see cannot be told from the source.
_ANYTHING = {"globals", "locals", "vars", "eval", "exec"}
_INSTALLED = {"site-packages", "dist-packages"}
# For functions typed into a running Python, which have no source that lasts.
_SESSION = uuid.uuid4().bytes


class Graph:
    """The modules of packages.

    Args:
        homes: folders of the packages by their names. Modules that lie neither there nor where
            Python installs packages, such as a folder of a user's own, are found when they are
            asked for.
        whole: packages whose modules count as a whole, but for those in ``parted``.
        parted: modules of which only the definitions count that are used.
    """

    def __init__(self, homes: Mapping[str, Path], whole: tuple[str, ...], parted: tuple[str, ...]) -> None:
        self._homes = {name: [home] for name, home in homes.items()}
        self._known = frozenset(homes)
        self._whole, self._parted = whole, parted
        self._sources: dict[str, Module | None] = {}
        self._next: dict[Part, list[Part]] = {}

    def version(self, parts: Iterable[tuple[str, Asked]], without: Packages = (), cuts: Cuts = NO_CUTS) -> str:
        """8 hexadecimal digits over the package's version and all that these parts depend on.

        Args:
            parts: modules, each with the path of a name in it, or with an empty path.
            without: modules and packages that do not count.
            cuts: packages whose imports are not followed from a module.
        """
        text = hashlib.sha256(__version__.encode())
        with _no_collection():
            reached = self.reached(parts, without, cuts)
        for name, mark in sorted(reached.items()):
            text.update(f"\n{name}\n".encode() + mark)
        return text.hexdigest()[:8]

    def reached(
        self, parts: Iterable[tuple[str, Asked]], without: Packages = (), cuts: Cuts = NO_CUTS
    ) -> dict[str, bytes]:
        """The modules that these parts depend on, each with a digest of the code of it that counts."""
        todo = [part for module, path in parts for part in self._asked(module, path)]
        found: dict[str, set[str | int]] = {}
        out: dict[str, bool] = {}
        while todo:
            module, key = part = todo.pop()
            keys = found.setdefault(module, set())
            if key in keys:
                continue
            if module not in out:
                out[module] = _under(module, without)
            if out[module]:
                continue
            keys.add(key)
            following = self._following(part)
            todo += [each for each in following if not _under(each[0], cuts[module])] if module in cuts else following
        return {module: self._mark(module, keys) for module, keys in found.items() if keys}

    def _mark(self, module: str, keys: set[str | int]) -> bytes:
        """A digest of the code of a module that these keys stand for."""
        source = self.source(module)
        if source is None:
            return _SESSION if _is_session(module) else b""
        if WHOLE in keys:
            return source.mark
        numbers = {key for key in keys if isinstance(key, int)}
        if keys & {LOADED, EFFECTS}:
            numbers.update(source.effects)
        text = hashlib.sha256(b"".join(source.codes[i] for i in sorted(numbers)))
        names = {str(key).removeprefix("=") for key in keys} & source.shared.keys()
        for name in sorted(names):
            text.update("".join(f"{name} = {each.module}:{each.name}\n" for each in source.shared[name]).encode())
        return text.digest()

    def source(self, module: str) -> Module | None:
        """The source of a module; None for one that is not ours."""
        if module not in self._sources:
            path = self._path(module)
            self._sources[module] = None if path is None else read(module, path, partial(self._looked_into, module))
        return self._sources[module]

    def _path(self, module: str) -> Path | None:
        top, *rest = module.split(".")
        for home in self._homes.get(top, ()):
            place = home.joinpath(*rest)
            for path in (place / "__init__.py", place.with_suffix(".py") if rest else place):
                if path.is_file():
                    return path
        return None

    def _asked(self, module: str, path: Asked) -> list[Part]:
        """What a path in a module asks for, where the module itself may be anyone's."""
        top = module.partition(".")[0]
        if top not in self._homes:
            self._homes[top] = _places(top)
        return self._meant(module, path) or [(module, WHOLE)]

    def _meant(self, module: str, path: Asked) -> list[Part]:
        """The parts that ``module.path`` stands for."""
        source = self.source(module)
        if source is None:
            return []
        loaded = self._on_the_way(module)
        if not path:
            public = [part for name in source.public for part in self._meant(module, (name,))]
            return [*loaded, (module, WHOLE), *public]
        name, *rest = path
        if source.package and self.source(f"{module}.{name}") is not None:
            return self._meant(f"{module}.{name}", tuple(rest))
        if name in source.public:
            home, there = source.public[name]
            return [*self._on_the_way(f"{module}."), *self._meant(home, (there, *rest))]
        return [*loaded, (module, name if self._by_parts(module, source.package) else WHOLE)]

    def _on_the_way(self, module: str) -> list[Part]:
        """The packages around a module that do something when they are loaded."""
        parts = module.split(".")
        around = [".".join(parts[: i + 1]) for i in range(len(parts) - 1)]
        return [(name, LOADED) for name in around if (source := self.source(name)) is not None and source.effects]

    def _by_parts(self, module: str, package: bool) -> bool:
        return package or not _under(module, self._whole) or _under(module, self._parted)

    def _looked_into(self, module: str, package: bool, text: str) -> bool:
        """Whether it must be known what a module uses.

        It counts by parts, or it loads names late, or a string in it may name a module.
        """
        marks = [f"{before}{top}" for top in self._homes for before in ("import ", "'", '"')]
        return self._by_parts(module, package) or any(mark in text for mark in marks)

    def _following(self, part: Part) -> list[Part]:
        """What a part depends on next."""
        if part not in self._next:
            self._next[part] = list(dict.fromkeys(self._follow(*part)))
        return self._next[part]

    def _follow(self, module: str, key: str | int) -> Iterator[Part]:
        source = self.source(module)
        if source is None or key == LOADED:
            return
        if isinstance(key, int):
            yield from self._statement(source, key)
        elif key == WHOLE and self._by_parts(module, source.package):
            yield from ((module, i) for i in range(len(source.codes)))
            used = {name for each in source.used for name in each.paths}
            for name in source.shared.keys() - used:  # passed on to others
                yield from self._imported(source, source.shared[name], ())
        elif key == WHOLE:
            yield from self._module(source)
        elif key == EFFECTS:
            yield from ((module, i) for i in source.effects)
        elif key.startswith("="):
            yield (module, EFFECTS)
        else:
            yield from self._name(source, key)

    def _name(self, source: Module, name: str) -> Iterator[Part]:
        """A name of a module that counts by parts."""
        yield (source.name, EFFECTS)
        numbers = source.binding.get(name, ())
        yield from ((source.name, i) for i in numbers)
        yield from self._imported(source, source.shared.get(name, ()), ())
        hidden = not numbers and name not in source.shared and not name.startswith("__")
        if hidden:  # it comes from ``__getattr__`` or from ``import *``
            yield (source.name, WHOLE)

    def _statement(self, source: Module, i: int) -> Iterator[Part]:
        """A statement of a module that counts by parts."""
        paths, texts = source.used[i]
        own = source.imports[i]
        for name, asked in paths.items():
            bound = [each for each in own if each.bound == name] or source.shared.get(name, ())
            for path in asked:
                yield from self._imported(source, bound, path)
            if name in source.binding:
                yield (source.name, name)
            elif bound:
                yield (source.name, f"={name}")
        if _ANYTHING & paths.keys():
            yield (source.name, WHOLE)
        unnamed = [each for each in own if each.bound in ("", "*")]
        yield from self._imported(source, [*unnamed, *source.shared.get("*", ())], ())
        yield from self._named(texts)

    def _module(self, source: Module) -> Iterator[Part]:
        """A module that counts as a whole."""
        imports = {each for some in source.imports for each in some}
        for each in imports:
            late = not each.name and source.used and self._is_late(each.module)
            asked = {path for one in source.used for path in one.paths.get(each.bound, ())} if late else {()}
            for path in asked:
                yield from self._imported(source, [each], path)
        yield from self._named(text for one in source.used for text in one.texts)

    def _is_late(self, module: str) -> bool:
        """Whether a package loads its names when they are used."""
        home = self.source(module)
        return home is not None and bool(home.public)

    def _imported(self, source: Module, imports: Iterable[Import], path: Asked) -> Iterator[Part]:
        for each in imports:
            if not self._ours(each.module, source.name):
                continue
            asked = each.asked(path) if each.name != "*" else ()
            yield from self._meant(each.module, asked)
            home = self.source(each.module)
            for name in home.beside if home is not None else ():
                yield from self._meant(f"{source.name}.{name}", ())

    def _named(self, texts: Iterable[str]) -> Iterator[Part]:
        """Modules named by strings: ``package.module`` or ``package.module:name``."""
        for text in texts:
            module, _, name = text.partition(":")
            parts = module.split(".")
            if len(parts) > 1 and parts[0] in self._homes and all(map(str.isidentifier, parts)):
                yield from self._meant(module, tuple(filter(None, [name])))

    def _ours(self, module: str, importer: str) -> bool:
        """Whether a module is one of the packages, or, for a module outside of them, not an installed one."""
        top = module.partition(".")[0]
        if top not in self._homes and importer and importer.partition(".")[0] not in self._known:
            self._homes[top] = _places(top)
        return bool(self._homes.get(top))


@contextmanager
def _no_collection() -> Iterator[None]:
    """Syntax trees are many objects without circles, among which a search for circles is slow."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _under(module: str, packages: tuple[str, ...]) -> bool:
    """Whether a module is one of these, or inside one."""
    return any(module == each or module.startswith(f"{each}.") for each in packages)


def _is_session(module: str) -> bool:
    """Whether a module is only in the memory of this process."""
    loaded = sys.modules.get(module)
    file = getattr(loaded, "__file__", None) or getattr(loaded, "__path__", None)
    return loaded is not None and not file and module not in sys.stdlib_module_names


@cache
def _places(top: str) -> list[Path]:
    """Where the modules of this name lie; nothing for those that come with Python or are installed."""
    if top in sys.stdlib_module_names:
        return []
    loaded = sys.modules.get(top)
    try:
        spec = getattr(loaded, "__spec__", None) or find_spec(top)
    except (ImportError, ValueError):  # such as a script, which is loaded without
        spec = None
    file = getattr(loaded, "__file__", None) if spec is None else spec.origin
    folders = None if spec is None else spec.submodule_search_locations
    found = [Path(each) for each in (folders or ([file] if file else ()))]
    return [path for path in found if not _INSTALLED & set(path.parts)]
