"""The command line, run as a program."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import toys

from giantstep import __version__, cli
from giantstep.checks.verdict import Verdict
from giantstep.citations import PAPERS
from giantstep.errors import InputError

LIMIT = 600  # seconds: ends a hang, and times nothing


def program(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "giantstep.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=LIMIT)


def called(capsys, *arguments: str) -> tuple[int, str, str]:
    code = cli.run(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def two_claims(replace_claims):
    holds = toys.claim("toy/holds", Verdict("holds", "1 = 1."), statement="One is one.")
    fails = toys.claim(
        "toy/fails",
        Verdict("contradicted", "1 < 2.", stated="fails"),
        "cui",
        statement="One is two.",
        where="Theorem 2",
    )
    replace_claims((holds, fails))


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["cite"], ["cite", "moniri"]])
def test_help_and_cite_import_nothing_heavy(arguments):
    code = (
        "import sys\nfrom giantstep.cli import run\nrun(sys.argv[1:])\n"
        "print({'jax', 'numpy', 'scipy', 'matplotlib', 'xarray'} & set(sys.modules), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-P", "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert run.stderr.strip() == "set()"


def test_help_as_a_program():  # benchmarks.start says how fast
    run = program("--help")
    assert run.returncode == 0 and "Usage: giantstep" in run.stdout


def test_version():
    run = program("--version")
    assert (run.returncode, run.stdout) == (0, f"giantstep {__version__}\n")


BAD = [
    ["chek"],
    ["check", "--size", "huge"],
    ["check", "no/such-claim"],
    ["check", "--nonsense"],
    ["cite", "nobody"],
    ["simulate"],
    ["simulate", "absent.toml"],
    ["simulate", "broken.toml"],
    ["simulate", "unknown.toml"],
    ["simulate", "."],
    ["simulate", "broken.toml", "--seeds", "9-0"],
    ["simulate", "broken.toml", "--seeds", "a"],
    ["simulate", "broken.toml", "--dtype", "int8"],
    ["simulate", "broken.toml", "--memory", "-1"],
    ["simulate", "broken.toml", "--memory", "much"],
    ["simulate", "broken.toml", "--test-samples", "0"],
    ["simulate", "broken.toml", "--devices", "0"],
    ["simulate", "broken.toml", "--devices", "all"],
    ["simulate", "broken.toml", "--solver", "lu"],
    ["simulate", "broken.toml", "--plot", "figure.doc"],
    ["simulate", "broken.toml", "--plot", "no/such/folder/figure.svg"],
]


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, tmp_path, monkeypatch, capsys):
    (tmp_path / "broken.toml").write_text("a = [1,", encoding="utf-8")
    (tmp_path / "unknown.toml").write_text("colour = 'blue'\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, out, err = called(capsys, *arguments)
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err and "Error:" not in err


def test_bad_input_as_a_program_has_no_traceback_and_no_panel(tmp_path):
    run = program("simulate", "absent.toml", "--memory", "much", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert len(run.stderr.strip().splitlines()) == 1 and run.stderr.isascii()


def test_cite_prints_all_papers_or_those_of_a_claim(two_claims, capsys):
    _, everything, _ = called(capsys, "cite")
    assert everything.count("@") == len(PAPERS)
    code, some, _ = called(capsys, "cite", "toy/fails")
    assert code == 0
    assert "cui2024" in some and "giantstep2026" in some and "moniri2024" not in some
    _, group, _ = called(capsys, "cite", "toy", "--json")
    assert [each["key"] for each in json.loads(group)["papers"]] == ["moniri", "cui", "giantstep"]


def test_check_writes_the_report_and_fails_when_a_claim_fails(two_claims, tmp_path, capsys):
    code, out, err = called(capsys, "check", "--out", str(tmp_path / "r"))
    assert code == 1
    assert "toy/holds" in out and "toy/fails" in out and str(tmp_path / "r" / "index.html") in out.replace("\n", "")
    assert [line.partition(" (")[0] for line in err.splitlines()] == [
        "[1/2] toy/holds: holds",
        "[2/2] toy/fails: contradicted",
    ]
    code, _, _ = called(capsys, "check", "toy/holds", "--out", str(tmp_path / "r"))
    assert code == 0


def test_check_json_is_one_object(two_claims, tmp_path, capsys):
    code, out, _ = called(capsys, "check", "--json", "--out", str(tmp_path))
    answer = json.loads(out)
    assert code == 1
    assert [each["outcome"] for each in answer["results"]] == ["holds", "contradicted"]
    assert Path(answer["report"]).exists()


def test_check_refuses_a_file_as_folder_before_running(two_claims, tmp_path, capsys):
    (tmp_path / "taken").write_text("", encoding="utf-8")
    code, _, err = called(capsys, "check", "--out", str(tmp_path / "taken"))
    assert code == 2
    assert len(err.splitlines()) == 1 and "taken" in err


def test_unknown_claim_names_the_nearest(two_claims, capsys):
    code, _, err = called(capsys, "check", "toy/hold")
    assert code == 2
    assert "Did you mean 'toy/holds'?" in err and "toy/fails" in err


def test_interruption_is_one_sentence(replace_claims, tmp_path, capsys):
    def interrupt(size, *data):
        raise KeyboardInterrupt

    replace_claims((toys.claim("toy/slow", Verdict("holds"), measure=interrupt),))
    code, _, err = called(capsys, "check", "--out", str(tmp_path))
    assert code == 130
    assert err.strip().splitlines()[-1] == "Interrupted."


SETTING = """
[data]
d = 20
[target]
formula = "x1 + H2(x2)/2"
noise = 0.1
[network]
width = 30
activation = "relu"
[protocol]
steps = [{ n = 40, eta = [0.0, 1.0] }]
readout = { n = 50, penalty = 0.01 }
"""


LONG = SETTING.replace("40", "200_000").replace("width = 30", "width = 2_000").replace("d = 20", "d = 500")


@pytest.fixture
def small(tmp_path) -> str:
    (tmp_path / "small.toml").write_text(SETTING, encoding="utf-8")
    return str(tmp_path / "small.toml")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_interrupting_a_running_simulation(tmp_path):
    (tmp_path / "long.toml").write_text(LONG, encoding="utf-8")
    command = [sys.executable, "-P", "-m", "giantstep.cli", "simulate", "long.toml", "--seeds", "0-99"]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        end = time.monotonic() + LIMIT
        while sum(psutil.Process(run.pid).cpu_times()[:2]) < 3 and time.monotonic() < end:
            time.sleep(0.05)  # until it is well under way: its own time, whatever else runs
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=LIMIT)
    finally:
        run.kill()
    assert (run.returncode, out) == (130, "")
    assert err.strip().splitlines()[-1] == "Interrupted." and "Traceback" not in err


def test_simulate_json_is_one_object_and_the_same_twice(small, capsys):
    code, out, _ = called(capsys, "simulate", small, "--seeds", "0-2", "--test-samples", "60", "--json")
    assert code == 0
    first = json.loads(out)
    _, again, _ = called(capsys, "simulate", small, "--seeds", "0,1,2", "--test-samples", "60", "--json")
    assert json.loads(again)["test_error"] == first["test_error"]


def test_simulate_prints_a_table_and_draws(small, tmp_path, capsys):
    figure = tmp_path / "outcome.svg"
    code, out, err = called(capsys, "simulate", small, "--plot", str(figure))
    assert code == 0
    assert "d = 20" in out and "test error" in out
    assert "<svg" in figure.read_text(encoding="utf-8") and str(figure) in err


def test_simulate_in_single_precision_is_close_to_double(small, capsys):
    errors = []
    for dtype in ("float64", "float32"):
        code, out, _ = called(capsys, "simulate", small, "--test-samples", "60", "--dtype", dtype, "--json")
        assert code == 0
        errors.append(json.loads(out)["test_error"])
    assert errors[0] != errors[1]
    assert errors[1] == pytest.approx(errors[0], rel=1e-3)


@pytest.mark.parametrize(
    ("text", "seeds"), [("3", 3), ("0-9", range(10)), ("5-5", range(5, 6)), ("0,2,5", (0, 2, 5)), ("1, 2", (1, 2))]
)
def test_seeds(text, seeds):
    assert cli.parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "-1", "a", "1-", "3-1", "1,1", "1.5", "1_0", "٣", "0-9-12", "1,,2", "9" * 30])
def test_bad_seeds(text):
    with pytest.raises(InputError, match="--seeds"):
        cli.parse_seeds(text)
