"""The versions of code: what changes the version of a measurement, of a verdict, of neither."""

import sys
import textwrap
from types import ModuleType

import pytest

from giantstep.checks.code import measured
from giantstep.checks.code._graph import Graph
from giantstep.errors import InputError

CLAIM = '''
"""A claim."""

from typing import TYPE_CHECKING

import lab as gs
from lab import kernels, plot
from lab.margins import LIMIT
from papers import shared

if TYPE_CHECKING:
    from lab.types import Size

CLAIM = Claim(
    quote="It is small, and so on.",
    place="page 3",
    how="""it is # told
    to all""",
    judges=(Judge("error", margin=0.1, because="of its order, as usual"),),
)

SIZES = (1, 2)  # of the experiment, small
LABEL = "error"
TEXT = """
# a heading, no comment

the rest
"""


def measure(size: "Size", seeds: range) -> dict:
    """Measure it, as told."""
    # first the kernel, then the rest
    lengths = shared.measured(TEXT)  # of "both", say
    return {"errors": kernels.errors(gs.Noun(SIZES)), "lengths": lengths}


def predict_draws(size, seeds):
    LABEL = seeds
    return LABEL


def compare(size, measured, predicted):
    return measured, CLAIM, LIMIT


def describe(size, measured, predicted, ruling):
    return plot.line(LABEL), shared.drawn(measured)
'''
OTHER = """
from papers import shared
import lab

def measure(size, seeds):
    return shared.counted(lab.Other())

def compare(size, measured, predicted):
    return measured
"""
FILES = {
    "lab/__init__.py": "from lab import errors\n\nerrors.install()\n\n\ndef __getattr__(name):\n    return None\n",
    "lab/__init__.pyi": "from lab.nouns import Noun as Noun\nfrom lab.others import Other as Other\nolder = Noun\n",
    "lab/errors.py": "INSTALLED = 1\n",
    "lab/nouns.py": "class Noun:\n    size = 1\n",
    "lab/others.py": "class Other:\n    size = 1\n",
    "lab/kernels.py": "def errors(noun):\n    from lab import deep\n\n    return deep.sums(noun)\n",
    "lab/deep.py": "from lab.deeper import factors as sums\n",
    "lab/deeper.py": "from lab.deepest import FACTOR\n\n\ndef factors(noun):\n    return FACTOR\n",
    "lab/deepest.py": "FACTOR = 2\n",
    "lab/margins.py": "LIMIT = 0.1\n",
    "lab/plot.py": "COLOUR = 1\n",
    "lab/types.py": "Size = int\n",
    "lab/unused.py": "NOTHING = 1\n",
    "lab/late.py": "LATE = 1\n",
    "papers/__init__.py": "",
    "papers/shared.py": """
        from importlib import import_module

        from lab import others, plot

        SCALE = 3
        HOME = "lab.late:LATE"

        def measured(text):
            return SCALE, import_module(HOME)

        def counted(noun):
            return others

        def drawn(measured):
            return plot.COLOUR
    """,
    "papers/claim.py": CLAIM,
    "papers/other.py": OTHER,
}


@pytest.fixture
def home(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    return tmp_path


def versions(home) -> dict[str, str]:
    """The versions of the measurements and verdicts of both claims."""
    graph = Graph({name: home / name for name in ("lab", "papers")}, ("lab", "papers"), ("papers",))
    found = {}
    for claim in ("claim", "other"):
        module = f"papers.{claim}"
        found[f"measured {claim}"] = graph.version(measured(graph, module), ("lab.plot",))
        found[f"judged {claim}"] = graph.version([(module, ())])
    return found


def changed(home, *changes: tuple[str, str, str]) -> set[str]:
    """The versions that change where a text in a file is replaced."""
    before = versions(home)
    for name, old, new in changes:
        path = home / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        assert old in text
        path.write_text(text.replace(old, new, 1) if old else text + new, encoding="utf-8")
    after = versions(home)
    return {name for name in before if before[name] != after[name]}


BOTH = {"measured claim", "judged claim"}
VERDICT = {"judged claim"}
OTHERS = {"measured other", "judged other"}


@pytest.mark.parametrize(
    ("file", "old", "new", "which"),
    [
        ("papers/claim.py", "small, and", "small and", set()),  # a quote
        ("papers/claim.py", "order, as usual", "order as usual", set()),  # a reason, deeper inside
        ("papers/claim.py", '"page 3"', '(\n        "page "\n        "3"\n    )', set()),
        ("papers/claim.py", "it, as told", "it as told", set()),  # a docstring
        ("papers/claim.py", '    """Measure it, as told."""\n', "", set()),
        ("papers/claim.py", "kernel, then", "kernel then", set()),  # a comment
        ("papers/claim.py", "experiment, small", "experiment", set()),  # a comment behind code
        ("papers/claim.py", '"both", say', '"both"', set()),  # one with quotes
        ("papers/claim.py", "told\n    to all", "told, to\n    all", set()),  # words of several lines
        ("papers/claim.py", "\n\nSIZES", "\n\n\n\nSIZES", set()),
        ("papers/claim.py", "heading, no", "heading no", BOTH),  # a string that looks like a comment
        ("papers/claim.py", "comment\n\n", "comment\n", BOTH),  # a blank line in a string
        ("papers/claim.py", "margin=0.1", "margin=0.2", VERDICT),
        ("papers/claim.py", '    place="page 3",\n', "", VERDICT),  # whether there is one counts
        ("papers/claim.py", 'LABEL = "error"', 'LABEL = "errors"', VERDICT),
        ("papers/claim.py", "SIZES = (1, 2)", "SIZES = (1, 3)", BOTH),
        ("papers/claim.py", "return LABEL", "return LABEL, 1", BOTH),  # the prediction of the draws
        ("lab/margins.py", "0.1", "0.2", VERDICT),
        ("lab/plot.py", "COLOUR = 1", "COLOUR = 2", VERDICT),
        ("lab/deepest.py", "FACTOR = 2", "FACTOR = 3", BOTH),  # three imports away
        ("lab/nouns.py", "size = 1", "size = 2", BOTH),  # a name that is loaded when it is used
        ("lab/late.py", "LATE = 1", "LATE = 2", BOTH),  # named by a string
        ("lab/others.py", "size = 1", "size = 2", OTHERS),
        ("lab/__init__.py", "errors.install()", "errors.install(1)", BOTH | OTHERS),  # is run on the way
        ("lab/types.py", "Size = int", "Size = str", set()),
        ("lab/unused.py", "NOTHING = 1", "NOTHING = 2", set()),
        ("papers/shared.py", "SCALE = 3", "SCALE = 4", BOTH),
        ("papers/shared.py", "return plot.COLOUR", "return plot.COLOUR + 1", VERDICT),
        ("papers/shared.py", "return others", "return others, 1", OTHERS),
        ("papers/shared.py", "", "\ndef new():\n    return 1\n", set()),
    ],
)  # fmt: skip
def test_what_a_change_makes_new(home, file, old, new, which):
    assert changed(home, (file, old, new)) == which


def test_a_kernel_that_moves_is_seen_by_those_that_use_it(home):
    moved = "def factors(noun):\n    return FACTOR\n"
    here = ("lab/deeper.py", moved, "from lab.elsewhere import factors\n")
    assert changed(home, here, ("lab/elsewhere.py", "", f"from lab.deepest import FACTOR\n\n\n{moved}")) == BOTH
    assert changed(home, ("lab/elsewhere.py", "return FACTOR", "return FACTOR + 1")) == BOTH


def test_a_new_import_for_types_changes_nothing(home):
    new = "    from lab.types import Size\n    from lab.unused import NOTHING\n"
    assert changed(home, ("papers/claim.py", "    from lab.types import Size\n", new)) == set()


def test_windows_line_ends_change_nothing(home):
    before = versions(home)
    for path in home.rglob("*.py"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert versions(home) == before


def test_a_module_that_a_class_loads_from_beside_it(home):
    base = """
    from importlib import import_module

    class System:
        def measured(self):
            return import_module(f"{type(self).__module__}.simulate").measured(self)
    """
    (home / "lab/system.py").write_text(textwrap.dedent(base), encoding="utf-8")
    (home / "lab/early").mkdir()
    (home / "lab/early/__init__.py").write_text("from lab.system import System\n\n\nclass Early(System):\n    x = 1\n")
    (home / "lab/early/simulate.py").write_text("def measured(system):\n    return 1\n", encoding="utf-8")
    assert changed(home, ("papers/other.py", "import lab\n", "import lab\nfrom lab.early import Early\n"),
                   ("papers/other.py", "lab.Other()", "Early()")) == OTHERS  # fmt: skip
    assert changed(home, ("lab/early/simulate.py", "return 1", "return 2")) == OTHERS


def test_a_file_that_is_not_python_is_refused_with_its_place(home):
    (home / "lab/deepest.py").write_text("FACTOR = 2\nFACTOR = = 3\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"deepest\.py, line 2: this is not Python"):
        versions(home)


def test_a_folder_of_ones_own_is_followed_and_what_is_installed_is_not(tmp_path, monkeypatch):
    own = tmp_path / "my_claims_of_a_test"
    own.mkdir()
    (own / "__init__.py").write_text("", encoding="utf-8")
    (own / "kernels.py").write_text("import numpy as np\n\n\ndef half(x):\n    return np.divide(x, 2)\n")
    (own / "width.py").write_text(
        "from my_claims_of_a_test import kernels\n\n\ndef measure(*_):\n    return kernels.half(1)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    def version() -> str:
        return Graph({}, (), ()).version([("my_claims_of_a_test.width", ("measure",))])

    before = version()
    (own / "kernels.py").write_text("import numpy as np\n\n\ndef half(x):\n    return np.divide(x, 3)\n")
    assert version() != before
    graph = Graph({}, (), ())
    assert set(graph.reached([("my_claims_of_a_test.width", ("measure",))])) == {
        "my_claims_of_a_test.width",
        "my_claims_of_a_test.kernels",
    }
    assert graph.version([("numpy.linalg", ("norm",))]) == graph.version([("numpy.linalg", ("norm",))])


def test_a_function_without_a_source_is_another_one_in_every_process(monkeypatch):
    typed = "typed_into_a_running_python"
    monkeypatch.setitem(sys.modules, typed, ModuleType(typed))
    before = Graph({}, (), ()).version([(typed, ("measure",))])
    monkeypatch.setattr("giantstep.checks.code._graph._SESSION", b"of another process")
    assert Graph({}, (), ()).version([(typed, ("measure",))]) != before
