"""Claims that are not run: for want of data, which is no failure, or because of an error of ours, which is one."""

import json
import os
from contextlib import closing
from pathlib import Path

import pytest
import toys

import giantstep.claims
from giantstep import cli
from giantstep.checks import cache
from giantstep.checks._check import check
from giantstep.checks.cache import Bench
from giantstep.checks.claim import Claim
from giantstep.checks.statistics import RATES
from giantstep.checks.verdict import Verdict
from giantstep.claims import _alone as alone
from giantstep.claims import _registry as registry
from giantstep.errors import InputError, MissingData
from giantstep.explorer.views.claims import _numbers as numbers
from giantstep.lab.store import Store
from giantstep.lab.work._call import Call, call
from giantstep.lab.work.executor import Here
from giantstep.lab.work.pool import Pool

WHY = "The images are not on this machine: download them first."
RUNS: list[str] = []


def toy(name: str, problem: Exception | None = None, *, predicting: bool = False) -> Claim:
    """A claim that holds, or that meets a problem when it measures or predicts."""

    def meet(size, *seeds) -> dict:
        RUNS.append(name)
        if problem is not None:
            raise problem
        return {}

    measure, predict = (toys.nothing, meet) if predicting else (meet, None)
    return toys.claim(name, Verdict("holds", "1 = 1."), measure=measure, predict=predict)


CLAIMS = (
    toy("toy/holds"),
    toy("toy/lacks", MissingData(WHY)),
    toy("toy/breaks", ZeroDivisionError("no number\nmore")),
    toy("toy/refuses", InputError("there is no such size")),
)


@pytest.fixture(autouse=True)
def claims(replace_claims):
    replace_claims(CLAIMS)
    RUNS.clear()


@pytest.mark.parametrize("predicting", [False, True])
def test_missing_data_is_no_failure_and_says_why(predicting):
    (result,) = check([toy("toy/lacks", MissingData(WHY), predicting=predicting)], "quick")
    assert (result.verdict.outcome, result.verdict.sentence, result.error) == ("not run", WHY, None)
    assert result.passed and result.to_dict()["outcome"] == "not run"


def test_a_home_folder_in_the_reason_stays_and_a_folder_of_the_machine_goes():
    (result,) = check([toy("toy/lacks", MissingData("No ~/.cache/images and no /home/me/images here."))], "quick")
    assert result.verdict.sentence == "No ~/.cache/images and no images here."


def test_once_the_data_are_there_it_runs(tmp_path):
    with Store.open(tmp_path / "store") as store:
        here = Bench(store, Here())
        (first,) = check([toy("toy/one", MissingData(WHY))], "quick", here)
        (second,) = check([toy("toy/one")], "quick", here)
    assert (first.verdict.outcome, second.verdict.outcome, second.stored) == ("not run", "holds", False)


def called(capsys, folder: Path, *names: str) -> tuple[int, str, str, dict]:
    code = cli.run(["check", *names, "--json", "--out", str(folder)])
    captured = capsys.readouterr()
    return code, captured.err, (folder / "index.html").read_text(encoding="utf-8"), json.loads(captured.out)


def test_exit_code_0_where_data_are_missing(tmp_path, capsys):
    code, err, page, answer = called(capsys, tmp_path, "toy/holds", "toy/lacks")
    assert code == 0 and [each["outcome"] for each in answer["results"]] == ["holds", "not run"]
    assert "[2/2] toy/lacks: not run" in err and "error" not in err
    assert WHY in page and 'class="badge not-run"' in page and "1 holds and 1 was not run." in page
    assert WHY in (tmp_path / "papers/moniri.html").read_text(encoding="utf-8")


def test_exit_code_1_and_a_sentence_where_a_claim_breaks(tmp_path, capsys):
    code, err, page, answer = called(capsys, tmp_path, "toy/holds", "toy/breaks")
    assert code == 1 and answer["results"][1]["error"] == "ZeroDivisionError: no number"
    sentence = "1 claim could not be run because of an error: toy/breaks (ZeroDivisionError: no number)."
    assert err.splitlines()[-1] == sentence
    assert "The claim could not be run: ZeroDivisionError: no number" in page and "(1 because of an error)" in page


def test_the_terminal_shows_what_was_not_run(tmp_path, capsys):
    assert cli.run(["check", "toy/lacks", "--out", str(tmp_path)]) == 0
    assert "not run" in capsys.readouterr().out


def test_the_terminal_tells_the_seeds_of_every_claim_and_the_rates_of_all_once(tmp_path, capsys):
    assert cli.run(["check", "toy/holds", "--out", str(tmp_path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.count(RATES) == 1 and "No randomness; would have noticed 1 in the number." in shown


# Workers


def in_worker(name: str, size: str, store: str, first_seed: int):
    """What a worker runs: it knows the claims of this file."""
    giantstep.claims.TEXTS = CLAIMS
    registry.loaded = {each.name: each for each in CLAIMS}.__getitem__
    return alone.alone(name, size, store, first_seed)  # type: ignore[arg-type]


def in_pool(tmp_path, monkeypatch, task, *names: str):
    monkeypatch.setenv(
        "PYTHONPATH",
        os.pathsep.join(
            [str(Path(__file__).parent), str(Path(toys.__file__).parent), os.environ.get("PYTHONPATH", "")]
        ),
    )

    with Store.open(tmp_path / "store") as store, closing(Pool(1)) as pool:
        return check(giantstep.claims.select(names), "quick", Bench(store, pool), task=task)


def test_a_worker_sends_why_and_nothing_runs_twice(tmp_path, monkeypatch):
    def task(*arguments) -> Call:
        return call(in_worker, arguments)

    held, lacks, broke = in_pool(tmp_path, monkeypatch, task, "toy/holds", "toy/lacks", "toy/breaks")
    assert (held.verdict.outcome, held.stored) == ("holds", False)
    assert (lacks.verdict.outcome, lacks.verdict.sentence, lacks.error) == ("not run", WHY, None)
    assert (broke.verdict.outcome, broke.error) == ("not run", "ZeroDivisionError: no number")
    assert RUNS == []  # in this process


def test_a_worker_that_dies_is_an_error_and_nothing_runs_twice(tmp_path, monkeypatch):
    (result,) = in_pool(tmp_path, monkeypatch, lambda *arguments: Call("os:_exit", (7,)), "toy/holds")
    assert result.verdict.outcome == "not run" and "ended 3 times (exit code 7)" in (result.error or "")
    assert RUNS == []


def test_bad_input_goes_through_from_a_worker(tmp_path):
    with Store.open(tmp_path / "store") as store, pytest.raises(InputError, match="no such size"):
        check(CLAIMS[-1:], "quick", Bench(store, Here()), task=alone.task)


def lacking(place: int) -> dict:
    """A measurement without its data."""
    RUNS.append(str(place))
    raise MissingData(WHY) if place else ZeroDivisionError("no number")


def test_measurements_on_a_bench_say_that_data_are_missing(tmp_path):
    with Store.open(tmp_path / "store") as store, cache.on(Bench(store, Here())):
        with pytest.raises(MissingData, match="download them"):
            cache.each(lacking, [(1,), (2,)])
        with pytest.raises(cache.Unmeasured, match="no number"):
            cache.each(lacking, [(0,)])
    assert RUNS == ["1", "2", "0"]  # an executor is not left before all is tried


# The explorer


@pytest.mark.parametrize(
    ("name", "sentence"), [("toy/lacks", WHY), ("toy/breaks", "could not be run: ZeroDivisionError")]
)
def test_the_explorer_refuses_in_a_sentence_and_so_stores_nothing(name, sentence):
    with pytest.raises(InputError, match=sentence):
        numbers.check_claim(name)


def test_the_explorer_shows_a_verdict_that_was_not_run(monkeypatch):
    from giantstep.explorer import _state as state
    from giantstep.explorer.views.claims import _view as view

    entry = {
        "claim": "toy/lacks",
        "outcome": "not run",
        "sentence": WHY,
        "power": "",
        "trend": "",
        "sizes": "",
        "seeds": "",
        "marks": {},
        "looseness": None,
    }
    monkeypatch.setattr(view, "TEXTS", CLAIMS)
    monkeypatch.setattr(
        view, "full", lambda: {"results": [entry | {"seconds": 0.0}], "device": "cpu", "date": "today", "size": "full"}
    )
    page = str(view.page(state.Claims(claim="toy/lacks"), []))
    assert "badge not-run" in page and "claim not-run" in page and "1 was not run" in page and "○" in page
