"""The benchmark of the estimators: a tiny run, cut and gone on with, and its tables."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.estimator import page, synthetic, tables
from benchmarks.estimator.__main__ import TASKS, main
from benchmarks.estimator.contender import CONTENDERS, OURS
from benchmarks.estimator.race import Line, keep, plan, race, read
from benchmarks.estimator.task import CLASSES, REGRESSION, Split, Task, error
from giantstep.errors import InputError

ROOT = Path(__file__).parents[2]
TINY = replace(synthetic.task("tiny", "staircase", "x1 + x1*x2", 0.1, True, 6, 300), splits=2)
RIDGE = next(each for each in CONTENDERS if each.name == "ridge")


def run(file: Path, *tasks: Task) -> list[Line]:
    """What is missing, measured and kept."""
    heats = plan(tasks, [OURS, RIDGE], {line.key for line in read(file)})
    return list(keep(file, race(heats, print)))


def test_a_run_that_was_cut_goes_on(tmp_path: Path):
    file = tmp_path / "results.jsonl"
    first = run(file, TINY)
    assert [line.key for line in first] == [
        ("tiny-6", split, name) for split in (0, 1) for name in ("giantstep", "ridge")
    ]
    assert all(line.error is not None and 0 < line.error < 1 for line in first)
    assert [line.times for line in first[::2]] == [1, 1]
    assert first[1].times == first[1].fit_s / first[0].fit_s  # type: ignore[operator]
    whole = file.read_text()
    file.write_text(whole[:-20])  # a kill in the middle of the last line
    assert [line.key for line in read(file)] == [line.key for line in first[:-1]]
    again = run(file, TINY)
    assert [line.key for line in again] == [line.key for line in first[2:]]  # our time is the unit of what is missing
    assert [line.error for line in again] == [line.error for line in first[2:]]
    assert {line.key for line in read(file)} == {line.key for line in first}
    assert run(file, TINY) == []


def test_a_failure_is_a_line_and_missing_data_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def load(split: int) -> Split:
        X = np.full((20, 2), np.nan)
        return Split(X, X[:, 0], X, X[:, 0])

    def absent(split: int) -> Split:
        raise InputError("no such file")

    broken = Task("broken", "tables", REGRESSION, "no numbers", 20, 1, load)
    lines = run(tmp_path / "results.jsonl", broken, replace(broken, name="elsewhere", load=absent))
    assert [line.contender for line in lines if line.failed and "NaN" in line.failed] == ["giantstep", "ridge"]
    assert "elsewhere is left out: no such file" in capsys.readouterr().out
    assert "- ridge, `broken`: Input" in page.text([broken], lines)


def test_the_tables_say_who_is_better(tmp_path: Path):
    def lines(task: str, name: str, errors: list[float], times: float) -> list[Line]:
        return [Line(task, split, name, e, 1.0, 1.0, times) for split, e in enumerate(errors)]

    results = [
        *lines("tiny-6", "giantstep", [0.1, 0.12, 0.11], 1.0),
        *lines("tiny-6", "xRFM", [0.3, 0.31, 0.32], 6.0),
        *lines("tiny-6", "ridge", [0.1, 0.13, 0.1], 0.1),
        *lines("tiny-6", "SVM", [0.05, 0.07, 0.06], 2.0),
    ]
    text = page.text([TINY], results)
    assert "at most a fifth" not in text  # of so few rows, times say nothing
    other = replace(TINY, name="other-6", rows=3000)
    both = page.text([TINY, other], [*results, *(replace(line, task="other-6") for line in results)])
    assert "On 0 of 2 tasks, the error is the least of all or within a tenth of it." in both
    assert "On the 1 tasks with fewer rows, it is at most twice the least." in both
    assert "takes at most a fifth of xRFM's time on 1 of 1 tasks with at least 2000 rows (`other-6`)" in both
    assert "Tasks on which another method is better: `tiny-6` (SVM 0.06, we 0.11)." in text
    assert "| `tiny-6` | 0.11 ± 0.006 | 0.31 ± 0.006, 6× | 0.11 ± 0.01, 0.1× | **0.06** ± 0.006, 2× |" in text
    assert "| xRFM | 1 / 0 / 0 | 6× |" in text and "| ridge | 0 / 1 / 0 | 0.1× |" in text
    place = tmp_path / "page.md"
    page.write(place, text)
    place.write_text(f"{place.read_text()}\nThe end.\n")
    page.write(place, "Other tables.\n")
    assert place.read_text().startswith("# Estimators\n") and place.read_text().endswith("\nThe end.\n")
    assert "Other tables." in place.read_text() and "tiny-6" not in place.read_text()


def test_errors_are_in_units_of_the_variance():
    y = np.array([[1.0, 10.0], [3.0, 30.0]])
    assert error(REGRESSION, y, y.mean(axis=0) + 0 * y) == 1
    assert error(REGRESSION, y[:, 0], y[:, 0] + 2) == 4
    assert error(CLASSES, np.array([0, 1, 2, 2]), np.array([0, 1, 1, 2])) == 0.25
    assert error(CLASSES, np.array([0, 1, 2, 2]), np.array([[0], [1], [1], [2]])) == 0.25


def test_laws_have_their_noise_on_the_training_labels_alone():
    data = synthetic.drawn("(x1 + x1*x2)/sqrt(2)", 0.0, False, 5, 40, 1)
    assert np.allclose(data.y, data.X[:, 0] * (1 + data.X[:, 1]) / np.sqrt(2))
    noisy = synthetic.drawn("x1", 0.5, True, 5, 4000, 1)
    rest = np.linalg.lstsq(noisy.X, noisy.y, rcond=None)
    assert np.isclose(np.linalg.norm(rest[0]), 1, atol=0.05) and np.isclose(rest[1][0] / 4000, 0.25, rtol=0.1)
    assert np.linalg.lstsq(noisy.X_test, noisy.y_test, rcond=None)[1][0] < 1e-9


def test_folds_are_apart_and_labels_scaled():
    diabetes = next(task for task in tables.TASKS if task.name == "diabetes")
    folds = [diabetes.load(split) for split in range(diabetes.splits)]
    assert sum(len(fold.y_test) for fold in folds) == 442
    assert all(len(fold.y) + len(fold.y_test) == 442 for fold in folds)
    assert all(np.isclose(fold.y.mean(), 0) and np.isclose(fold.y.std(), 1) for fold in folds)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "results.jsonl"
    assert main(["--quick", "--tasks", "iris", "--contenders", "logistic", "--out", str(file), "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["task"], line["contender"]) for line in found] == [("iris", "giantstep"), ("iris", "logistic")]
    assert main(["--write", str(tmp_path / "page.md"), "--out", str(file)]) == 0
    assert "| `iris` | **" in (tmp_path / "page.md").read_text()
    file.write_text("{}\n")
    for wrong, said in [
        (["--tasks", "moon"], "there is no task 'moon'"),
        (["--contenders", "moon"], "there is no contender 'moon'"),
        (["--write", str(tmp_path / "page.md")], "--write needs --out"),
        (["--out", str(file)], "line 1 of"),
    ]:
        assert main(wrong) == 2
        assert said in capsys.readouterr().err


def test_tasks_know_their_rows():
    for task in TASKS:
        if task.group not in ("tables", "classes") or task.name in ("diabetes", "wine"):
            assert abs(len(task.load(0).y) - task.rows) <= 1


def test_names_are_different():
    assert len({task.name for task in TASKS}) == len(TASKS)
    assert {task.group for task in TASKS} == set(page.TITLES)


def test_the_page_shows_the_results_that_are_kept():
    inside = (ROOT / "docs/estimator.md").read_text(encoding="utf-8").partition(page.BEGIN)[2].partition(page.END)[0]
    assert inside.strip() == page.text(TASKS, read(ROOT / "docs/estimator.jsonl")).strip()
