"""The explorer by HTTP: what it answers, and what it refuses."""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.client import HTTPConnection
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from giantstep import cli
from giantstep.errors import InputError
from giantstep.explorer import _controls as controls
from giantstep.explorer import _settings as settings
from giantstep.explorer import _state as state
from giantstep.explorer._app import make_app
from giantstep.explorer._security import _ours, guard
from giantstep.explorer.processes._backend import Backend
from giantstep.explorer.server import Address
from giantstep.explorer.views import _explain as explain
from giantstep.explorer.views.claims import _view as _view
from giantstep.explorer.views.giant_steps._charts import plane_chart, plane_words, share_words
from giantstep.explorer.views.giant_steps._numbers import KnownPaths, theory_of
from giantstep.plot.style import COLOURS
from tests.explorer_server import running

UPDATE = "/_dash-update-component"
LIMIT = 600  # seconds: ends a hang, and times nothing


@pytest.fixture(scope="module")
def app():
    backend = Backend()
    made = make_app(backend)
    guard(made)
    yield made
    backend.close()


@pytest.fixture
def client(app):
    found = app.server.test_client()
    found.get("/")
    return found


def ask(client, path: str, query: str = ""):
    """The view of an address, as the page asks for it."""
    inputs = [
        {"id": "url", "property": name, "value": value} for name, value in (("pathname", path), ("search", query))
    ]
    outputs = [{"id": one, "property": "children"} for one in ("main", "views")]
    body = {"output": "..main.children...views.children..", "outputs": outputs, "inputs": inputs}
    answer = client.post(UPDATE, json={**body, "changedPropIds": ["url.pathname"]})
    assert answer.status_code == 200
    return json.dumps(answer.get_json(), ensure_ascii=False)


@pytest.mark.parametrize("view", state.VIEWS)
def test_every_view_has_a_page(client, view):
    text = ask(client, f"/{view}")
    assert text.count('"type": "H1"') == 1 and "aria-current" in text


def test_a_link_with_a_mistake_says_so(client):
    text = ask(client, "/one-step", "?alpha=7&zz=1")
    assert "Step size must be a number from 0 to 0.7, not '7'." in text and "There is no 'zz' in this view" in text


def test_an_unknown_claim_is_a_sentence(client):
    assert "There is no claim 'x/y'" in ask(client, "/claims", "?claim=x/y")


def test_a_claim_has_the_words_of_its_source_above_the_statement(client):
    for name, said in (("lobo/mixing", "Source: “mixes leading"), ("giantstep/means", "Our own statement.")):
        text = ask(client, "/claims", f"?claim={name}")
        assert 0 < text.find(said) < text.find('"className": "statement"'), name


def test_the_page_loads_from_here_alone(client):
    page = client.get("/")
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "connect-src 'self'" in policy and "http" not in policy
    found = page.get_data(as_text=True)
    assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", found)
    for name in re.findall(r"(?:src|href)=\"(/[^\"]+)\"", found):
        answer = client.get(name)
        assert answer.status_code == 200
        answer.close()


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../state.py", "/assets/..%2fstate.py", "/assets/%2e%2e/state.py", "/assets//etc/passwd",
        "/_dash-component-suites/dash/../../../pyproject.toml", "/_dash-component-suites/os/path.py",
        "/_dash-component-suites/giantstep/explorer/state.py", "/claim/../../etc.svg", "/claim/moniri/..%2f..%2fetc%2fpasswd.svg",
        "/claim/moniri/spikes.png", "/figure/one-step/..%2ftest.svg", "/figure/one-step/test.pdf", "/figure/claims/test.svg",
        "/figure/one-step/__init__.py",
    ],
)  # fmt: skip
def test_no_path_is_reachable(client, path):
    answer = client.get(path)
    text = answer.get_data(as_text=True)
    assert (
        answer.status_code in (400, 404) or "react-entry-point" in text
    )  # Dash answers unknown pages with the page itself
    assert "frozen data" not in text and "root:" not in text and "Traceback" not in text


@pytest.mark.parametrize(
    "body",
    [
        b"", b"rubbish", b"[]", b"null", b"{}", b'{"output": 3}', b'{"output": ["x"]}', b'{"output": "nothing.children"}',
        b"\xff\xfe",
        b'{"output": "..main.children...views.children.."}',
        b'{"output": "..main.children...views.children..", "inputs": [1, 2], "outputs": []}',
        b'{"output": "..main.children...views.children..", "inputs": {"a": 1}}',
        b'{"output": "..main.children...views.children..", "inputs": [{"id": "url"}], "outputs": "x", "changedPropIds": [3]}',
        b"[" * 50_000,
    ],
)  # fmt: skip
def test_rubbish_is_refused_in_a_sentence(client, body, capsys):
    answer = client.post(UPDATE, data=body, content_type="application/json")
    assert 400 <= answer.status_code < 500
    assert answer.get_data(as_text=True) == "The page makes no such request.\n"
    assert "Traceback" not in capsys.readouterr().err


def test_requests_are_bounded(client):
    answer = client.post(UPDATE, data=b"x" * 400_000, content_type="application/json")
    assert answer.status_code == 413 or answer.status_code == 400


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8050", "127.0.0.1.evil.example", "10.0.0.1", "localhost.evil"]
)
def test_a_foreign_host_is_refused(client, host):
    answer = client.get("/", headers={"Host": host})
    assert answer.status_code == 403 and answer.get_data(as_text=True) == "This explorer answers on localhost only.\n"


def test_an_exception_in_a_view_is_an_error_of_ours():
    with pytest.raises(AttributeError) as problem:
        explain.snippet(None)  # type: ignore[arg-type]
    assert _ours(problem.value) and not _ours(ValueError())


@pytest.mark.parametrize("host", ["localhost", "localhost:8050", "127.0.0.1:1", "[::1]:8050"])
def test_the_names_of_this_machine_are_answered(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("query", ["alpha=nan", "d=1000000", "target=" + "x" * 400, "file=/etc/passwd"])
def test_a_figure_outside_the_bounds_is_refused(client, query):
    answer = client.get(f"/figure/one-step/test.svg?{query}")
    assert answer.status_code == 400 and answer.get_data(as_text=True).endswith(".\n")


def test_downloads_at_once_all_come(client):
    """Some of them wait in the queue, and none replaces another."""
    paths = [f"/figure/explain/staircase.{kind}?steps={steps}" for steps in range(1, 4) for kind in ("svg", "png")]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda path: client.application.test_client().get(path), paths))
    assert [answer.status_code for answer in answers] == [200] * 6
    assert {answer.mimetype for answer in answers} == {"image/svg+xml", "image/png"}
    assert all(b"gs.explain(" in answer.data for answer in answers)


def test_a_target_is_never_evaluated(client):
    answer = client.get(f"/figure/giant-steps/shares.svg?target={quote('__import__(1)')}")
    assert answer.status_code == 400 and "unknown name '__import__'" in answer.get_data(as_text=True)


def test_the_python_of_explain_is_what_it_shows(tmp_path):
    s = state.Explain(target="x1 + x1*x2", activation="relu", steps=2)
    code = explain.snippet(s).replace("print(x)", "print(x.to_dict())")
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert run.stdout.strip() == str(explain.explain(s).to_dict()) and (tmp_path / "staircase.svg").is_file()


@pytest.mark.parametrize("batches", ["fresh", "reuse"])
def test_recipes_and_their_python_build_the_same_settings(batches):
    one, many = state.OneStep(noise=0.3, penalty=-1.7, target="x1 + 2"), state.GiantSteps(batches=batches, d=3.25)
    for code, setting in (
        (settings.to_python(settings.one_step(one, settings.ALPHAS)), settings.one_step(one, settings.ALPHAS)),
        (settings.to_python(settings.giant_steps(many)), settings.giant_steps(many)),
    ):
        run = subprocess.run(
            [sys.executable, "-P", "-c", f"{code}\nprint(s.id)"], capture_output=True, text=True, check=True
        )
        assert run.stdout.strip() == setting.id


def test_a_reused_batch_has_no_theory_which_is_said_once():
    s = state.GiantSteps(batches="reuse")
    with pytest.raises(InputError, match="needs fresh batches") as refused:
        theory_of(s)
    waiting = KnownPaths(message="Simulating …", refusal=f"There is no theory here: {refused.value}.", busy=True)
    for paths in (waiting, replace(waiting, message="Stopped.", busy=False)):
        said = [paths.message, plane_words(s, paths), share_words(s, paths)]
        assert " ".join(said).count("no theory") == 1 and len({*said}) == 3


def test_the_plane_has_its_names_before_its_neurons():
    titles = [
        plane_chart(state.GiantSteps(target=each), KnownPaths())["layout"]["yaxis"]["title"] for each in ("x1", "x1*x2")
    ]
    assert "share of the rest" in str(titles[0]) and "cosine with w2" in str(titles[1])


def test_every_claim_is_in_the_matrix():
    from giantstep.claims import TEXTS

    text = json.dumps(_view.page(state.Claims(), []), default=lambda one: one.to_plotly_json())
    assert all(quote(claim.name, safe="") in text for claim in TEXTS)


@pytest.mark.parametrize(
    ("host", "loopback"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False)]
)
def test_which_addresses_are_loopback(host, loopback):
    assert Address(host, 80).loopback is loopback


def test_the_command_refuses_in_sentences(capsys, monkeypatch, tmp_path):
    assert cli.run(["explore", "--host", "0.0.0.0"]) == 2
    assert "--allow-network" in capsys.readouterr().err
    assert cli.run(["explore", "--port", "99999"]) == 2
    assert "from 0 to 65535" in capsys.readouterr().err
    monkeypatch.setattr("giantstep.cli._explorer.find_spec", lambda name: None)
    assert cli.run(["explore"]) == 2
    assert capsys.readouterr().err == "The explorer needs one more package: pip install 'giantstep[explore]'.\n"


def test_the_program_serves_and_leaves_quietly(tmp_path):
    with running(tmp_path, "--host", "0.0.0.0", "--allow-network") as (url, process):
        port = urlsplit(url).port
        connection = HTTPConnection("127.0.0.1", port, timeout=LIMIT)
        connection.request("GET", "/", headers={"Host": "somewhere.example"})
        assert connection.getresponse().status == 200  # others may ask, since they were allowed to
        taken = [sys.executable, "-P", "-m", "giantstep.cli", "explore", "--port", str(port), "--no-browser"]
        run = subprocess.run(taken, capture_output=True, text=True, timeout=LIMIT)
        assert run.returncode == 2 and "cannot be used" in run.stderr and "Traceback" not in run.stderr
    log = (tmp_path / "explorer.log").read_text()
    assert (
        process.returncode == 0
        and log.startswith("Warning: anyone who can reach 0.0.0.0")
        and len(log.splitlines()) == 1
    )


def test_the_page_and_the_report_have_the_same_colours():
    """Two style sheets, since a report is one file; what they both name is the same in light and in dark."""
    import giantstep

    root = Path(giantstep.__file__).parent
    ours, theirs = (
        re.sub(r"/\*.*?\*/", "", (root / name).read_text(), flags=re.DOTALL)
        for name in ("explorer/assets/explorer.css", "checks/report/report.css")
    )
    light, dark = (dict(re.findall(r"(--[\w-]+): ([^;]+);", part)) for part in ours.split("{")[1:3])
    for known, part in zip((light, dark), (theirs.split("{")[1], theirs.split("{")[3]), strict=True):
        other = dict(re.findall(r"(--[\w-]+): ([^;]+);", part))
        both = known.keys() & other.keys()
        assert len(both) > 12 and {name: known[name] for name in both} == {name: other[name] for name in both}


def test_exponents_of_texts_are_raised():
    from dash import html

    first, raised, rest = controls.formulas("η = n^0.30 = 7.43")
    assert (first, raised.children, rest) == ("η = n", "0.30", " = 7.43") and isinstance(raised, html.Sup)


def test_the_colours_of_the_charts_are_lighter_on_dark_paper():
    """The charts carry the colours of the figures; the style sheet replaces every one of them."""
    sheet = (files("giantstep.explorer") / "assets/explorer.css").read_text(encoding="utf-8")
    for colour, name in zip(COLOURS, ("first", "second", "third", "fourth"), strict=False):
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        for what in ("stroke", "fill"):
            rule = f'[data-theme="dark"] .js-plotly-plot [style*="{what}: rgb({red}, {green}, {blue})"]'
            assert f"{rule} {{ {what}: var(--{name}) !important; }}" in sheet
