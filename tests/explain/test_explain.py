"""explain: the talk's cases and tables, identities of the staircase and the floors, independent quadrature, the command."""

import json
import subprocess
import sys
from typing import cast

import numpy as np
import pytest
from matplotlib.patches import Rectangle

import giantstep as gs
from giantstep import cli
from giantstep._shown import html
from giantstep.functions._parser import MAX_RANK

TALK = "x1 + H2(x2) + H2(x1)*x2 + H4(x1)*H2(x2)*x3 + H2(x2)*H2(x3)"
EX1, EX2 = "x1 + x2 + x1^2 - x2^2", "x1 + x2 + x1^2 + x2^2 - 2"
ROOT = 2**-0.5


def spans(basis, *vectors) -> bool:
    """Whether the basis is orthonormal and spans exactly these vectors."""
    rows, wanted = np.array(basis), np.array(vectors, dtype=float)
    if not len(basis) or not len(vectors):
        return len(basis) == len(vectors)
    inside = np.allclose(wanted @ rows.T @ rows, wanted, atol=1e-9)
    return inside and len(rows) == np.linalg.matrix_rank(wanted) and np.allclose(rows @ rows.T, np.eye(len(rows)))


# The talk.


@pytest.mark.parametrize(
    ("formula", "batch", "learned"),
    [
        ("x1 + 2*x2 + x3^2", "d^0.9", []),  # n below d: nothing
        ("x1 + 2*x2 + x3^2", "d", [[1, 2, 0]]),  # order 1: one direction, sum of mu_k1 w_k
        ("H2(x1) - H2(x2) + H3(x3)", "d", []),  # n below d^l
        ("H2(x1) - H2(x2) + H3(x3)", "d^1.9", []),
        ("H2(x1) - H2(x2) + H3(x3)", "d^2", [[1, 0, 0], [0, 1, 0]]),  # order 2: all w_k with mu_k2 not zero
        ("x1*x2*x3", "d^3", np.eye(3)),
    ],
)
def test_one_step(formula, batch, learned):
    assert spans(gs.explain(formula, batch=batch, steps=1).staircase[1], *learned)


@pytest.mark.parametrize(
    ("formula", "first", "second", "third"),
    [
        (EX1, [[1, 1]], np.eye(2), np.eye(2)),
        (EX2, [[1, 1]], [[1, 1]], [[1, 1]]),
        ("x1 + x1*x2 + x1*x3", [[1, 0, 0]], [[1, 0, 0], [0, 1, 1]], [[1, 0, 0], [0, 1, 1]]),
        ("x1 + x1*x2 + H3(x1)*x3", [[1, 0, 0]], np.eye(3), np.eye(3)),
        (TALK, [[1, 0, 0]], [[1, 0, 0], [0, 1, 0]], np.eye(3)),
        ("(4*x1 + x1^2 + x2)/2", [[4, 1]], np.eye(2), np.eye(2)),
    ],
)
def test_the_examples_of_several_steps(formula, first, second, third):
    found = gs.explain(formula, steps=3)
    assert len(found.staircase) == 4 and found.staircase[0] == []
    for basis, wanted in zip(found.staircase[1:], (first, second, third), strict=True):
        assert spans(basis, *wanted)
    assert gs.explain(formula).staircase[-1] == found.staircase[-1]


@pytest.mark.parametrize(
    ("batch", "width", "residual", "random_features", "fitted"),
    [
        ("d", "1", 56, 57, ["x1"]),
        ("d", "d", 54, 56, ["x1", "H2(x1)*x2"]),
        ("d^2", "1", 52, 57, ["x1", "H2(x2)", "H2(x1)*x2"]),
        ("d^2", "d", 4, 56, ["x1", "H2(x2)", "H2(x1)*x2", "H4(x1)*H2(x2)*x3"]),
        ("d^2", "d^2", 0, 54, ["x1", "H2(x2)", "H2(x1)*x2", "H2(x2)*H2(x3)", "H4(x1)*H2(x2)*x3"]),
    ],
)
def test_the_five_regimes(batch, width, residual, random_features, fitted):
    found = gs.explain(TALK, batch=batch, width=width, steps=1)
    assert found.floor["network"] == residual and found.floor["random_features"] == random_features
    assert [t["term"] for t in found.terms if t["fate"] == "fitted"] == fitted
    assert {t["term"]: t["mass"] for t in found.terms} == {
        "x1": 1, "H2(x2)": 2, "H2(x1)*x2": 2, "H2(x2)*H2(x3)": 4, "H4(x1)*H2(x2)*x3": 48
    }  # fmt: skip


def bump(z):
    return z[0] ** 2 * np.exp(-(z[0] ** 2))


@pytest.mark.parametrize(
    ("source", "information", "generative"),
    [
        ("H2(x1)", [2], [2]),
        ("H3(x1)", [3], [1]),
        ("H4(x1)", [4], [2]),
        (bump, [4], [4]),
        ("x1*x2", [2], [2]),
        ("x1*x2*x3", [3], [2]),
        ("sign(x1*x2)", [2], [2]),
        ("sign(x1*x2*x3)", [3], [3]),
        ("x1 + H3(x2)", [1, 3], [1]),
        (EX2, [1, 2], [1, 2]),
    ],
)
def test_information_and_generative_exponents(source, information, generative):
    target = gs.target(source, rank=1) if callable(source) else gs.target(source)
    found = gs.explain(target)
    assert (found.leaps, found.generative_leaps) == (information, generative)
    assert (found.information_exponent, found.leap) == (information[0], max(information))
    assert found.generative_exponent == generative[0] and target.leap == max(information)


def test_reuse_finds_in_the_second_step_what_fresh_batches_never_find():
    assert spans(gs.explain("x1 + H3(x2)").staircase[-1], [1, 0])
    found = gs.explain("x1 + H3(x2)", reuse=True)
    assert spans(found.staircase[1], [1, 0]) and spans(found.staircase[2], *np.eye(2))
    cubic = gs.explain("H3(x1)", reuse=True)
    assert cubic.staircase == [[], [], [[1.0]]] and "E[x1 | y]" in " ".join(cubic.reasons)
    even = gs.explain("H2(x1)", reuse=True)
    assert even.staircase == [[]] and "about log d steps" in even.reasons[-1]


@pytest.mark.parametrize(
    ("formula", "options", "ending"),
    [
        (
            "x1*x2*x3",
            {},
            "up to order 1 there is nothing left to see; w1, w2, w3 would be seen at order 3, which needs a batch of d^3.",
        ),
        (
            "x1*x2*x3",
            {"reuse": True},
            "up to order 1 no function of y shows more. At order 2 a function of y shows w1, w2, w3: that takes a few steps on "
            "a reused batch of d^2, or about log d steps on one of d. Fresh batches would need d^3 samples.",
        ),
        (
            "sign(x1*x2*x3)",
            {"reuse": True, "batch": "d^2"},
            "up to order 2 no function of y shows more. At order 3 a function of y shows w1, w2, w3: that takes a few steps on "
            "a reused batch of d^3. Fresh batches would need d^3 samples.",
        ),
    ],
)
def test_the_end_of_the_staircase_names_the_batches_it_speaks_of(formula, options, ending):
    found = gs.explain(formula, **options)
    assert found.reasons == [f"The steps do not find 3 of 3 directions: {ending}"]
    assert not any("batch" in note or "log d" in note for note in found.warnings)  # it is said once
    assert ending in str(found) and html.line(found.reasons[0]) in found._repr_html_()


# What an activation sees.


@pytest.mark.parametrize(
    ("formula", "activation", "climbed"),
    [
        ("x1 + H2(x1)*x2", "tanh", True),
        ("x1 + H2(x1)*x2", "elu", True),
        ("x1 + H2(x1)*x2", "relu", False),
        (EX1, "relu", True),
        (EX1, "elu", True),
        (EX1, "tanh", False),
        (TALK, "relu", False),
    ],
)
def test_the_staircase_an_activation_climbs(formula, activation, climbed):
    found = gs.explain(formula, activation=activation)
    rank = len(found.staircase[-1][0])
    assert len(found.staircase[-1]) == rank  # the conjecture's is complete in all of them
    assert found.realised is not None
    assert len(found.realised.staircase[-1]) == (rank if climbed else 1)
    assert climbed or any("does not find" in sentence for sentence in found.realised.reasons)
    assert found.realised.floor["narrow"] >= found.floor["narrow"]


@pytest.mark.parametrize(
    ("name", "orders"),
    [("relu", {1, 2, 4, 6}), ("gelu", {1, 2, 4, 6}), ("softplus", {1, 2, 4, 6}), ("tanh", {1, 3, 5, 7}),
     ("erf", {1, 3, 5, 7}), ("elu", {1, 2, 3, 4, 5, 6, 7}), ("relu(x-0.5)", {1, 2, 3, 4, 5, 6, 7})],
)  # fmt: skip
def test_visible_orders(name, orders):
    from giantstep.explain._visible import visible_orders

    assert visible_orders(gs.activation(name), 7)[1] - {0} == orders


def test_an_odd_polynomial_activation_needs_a_second_step_for_the_linear_part():
    found = gs.explain("x1", activation="H3").realised
    assert found is not None
    assert found.staircase == [[], [], [[1.0]]]  # E H3' = 0 on the sphere, not at another norm


@pytest.mark.parametrize(("activation", "climbed"), [("relu", True), ("tanh", False)])
def test_a_simulation_climbs_what_is_predicted(activation, climbed):
    """Second moment of the neurons' overlaps with (w1 - w2)/sqrt2 after two steps, in units of an unlearned direction's.

    At this size it is 50 for ReLU and 1.1 for tanh."""
    from giantstep.simulate import train

    d, p = 400, 100
    step = gs.GiantStep(n=8 * d, eta=2.0 * p)
    setting = gs.Setting(
        gs.Gaussian(d), gs.target(EX1), gs.Network(p, activation, scale="1/p"), gs.Protocol((step, step), None)
    )
    shares = []
    for seed in range(3):
        rows = np.asarray(train(setting, seed=seed).final).reshape(-1, p, d)[-1]
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        null = (1 - np.mean(np.sum(rows[:, :2] ** 2, axis=1))) / (d - 2)
        shares.append(np.mean((rows[:, 0] - rows[:, 1]) ** 2 / 2) / null)
    assert (np.mean(shares) > 5) == climbed
    realised = gs.explain(EX1, steps=2, activation=activation).realised
    assert realised is not None and (len(realised.staircase[-1]) == 2) == climbed


# Other targets, notes, refusals.


def test_targets_by_quadrature():
    found = gs.explain("relu(x1)")
    assert found.staircase[-1] == [[1.0]] and found.terms[-1]["term"].startswith("orders above")
    assert sum(t["mass"] for t in found.terms) == pytest.approx(0.5, rel=1e-6)
    assert found.floor["random_features"] == pytest.approx(0.25 - 1 / (2 * np.pi), rel=1e-6)
    lost = gs.explain("abs(x1)")
    assert lost.staircase == [[]] and lost.floor["narrow"] == pytest.approx(1 - 2 / np.pi, rel=1e-6)
    callable_ = gs.explain(gs.target(lambda z: z[0] + np.tanh(z[0]) * z[1] * z[2] + z[3] ** 2, rank=4), steps=1)
    assert spans(callable_.staircase[1], [1, 0, 0, 0])


@pytest.mark.parametrize("formula", ["relu(x1+x2)", "sign(x1-2*x2)", "relu(x1-2*x2+x3)"])
def test_the_error_of_quadrature_is_no_direction(formula):
    found = gs.explain(formula)
    assert found.leaps == [1] and found.generative_leaps == [1] and len(found.staircase[-1]) == 1
    assert found.floor["narrow"] == 0 and all(t["fate"] == "fitted" for t in found.terms)
    assert any("Quadrature" in note for note in found.warnings)


@pytest.mark.parametrize("formula", ["sin(2*x1 + 2*x2 - 3*x3 + 1)", "H2(x3)*H3(x1) + tanh(x2*x4)*H5(x1) + x4*x1"])
def test_the_generative_exponent_is_at_most_the_information_exponent(formula):
    found = gs.explain(formula)
    assert found.generative_exponent is not None and found.information_exponent is not None
    assert found.generative_exponent <= found.information_exponent


def test_notes():
    both = gs.explain(TALK, batch="d^2", steps=1).warnings
    assert len(both) == 1 and "deflate=2" in both[0] and "Then w1 needs a step of its own." in both[0]
    assert gs.explain("H2(x1)", batch="d^2").warnings == []
    assert "needs a step" not in gs.explain("x1 + x1*x2", batch="d^2", steps=1).warnings[0]
    (laws,) = gs.explain("x1 + x1*x2 + H3(x1)*x3").warnings
    assert "rademacher" in laws
    mixed = gs.explain(gs.target("x1*x2", directions=[[1, 0, 0], [1, 1, 0]]))
    assert any("orthonormal" in note for note in mixed.warnings) and mixed.terms[-1]["term"] == "q1*q2"


def test_reasons_name_the_derivative_and_the_condition():
    told = gs.explain("x1 + H2(x1)*x2").reasons
    assert told[0] == "Step 1 finds w1: E[grad f] = w1 is not zero."
    assert told[1] == "Step 2 finds w2: E[df/dx2 | x1] = H2(x1) is not zero."
    assert "(w1 - w2)/sqrt2" in gs.explain(EX1).reasons[1]
    stuck = gs.explain(EX2).reasons[-1]
    assert "1 of 2" in stuck and "order 2" in stuck and "d^2" in stuck
    assert "smaller than d" in gs.explain("x1", batch="d^0.5").reasons[-1]
    assert "Another step would find w2" in gs.explain("x1 + x1*x2", steps=1).reasons[-1]


def test_reasons_of_weak_couplings_and_narrow_activations():
    weak = gs.explain("x1 + 9e-11*(x1*x2 + H2(x1)*x2/sqrt(2) + H3(x1)*x2/sqrt(6))")
    assert len(weak.staircase[-1]) == 2 and "9e-11*x1" in weak.reasons[1]
    linear = gs.explain("x1 + x1*x2", activation="x").realised
    none = gs.explain("x1", activation="1").realised
    assert linear is not None and none is not None
    assert len(linear.staircase[-1]) == 1 and "order 2, and x sees only orders 1" in linear.reasons[-2]
    assert "sees none" in none.reasons[-2]


@pytest.mark.parametrize("constant", ["3", "0", "x1 - x1", "2*sign(x1*x1)"])
def test_a_constant_has_nothing_to_find(constant):
    found = gs.explain(constant)
    assert (found.information_exponent, found.leap, found.staircase) == (None, None, [[]])
    assert found.floor == {"narrow": 0, "network": 0, "random_features": 0} and "constant" in str(found)


REFUSED = [
    (["x1 +"], "formula"),
    (["x1", "--batch", "n"], "batch"),
    (["x1", "--batch", "d^-1"], "batch"),
    (["x1", "--batch", "d^99"], "batch"),
    (["x1", "--width", "d^^2"], "width"),
    (["x1", "--steps", "-1"], "steps"),
    (["x1", "--steps", "101"], "steps"),
    (["x1", "--activation", "swish"], "swish"),
    (["x1", "--activation", "sign"], "jumps"),
    (["x1", "--activation", "relu", "--reuse"], "reuse"),
    (["tanh(x1*x2*x3*x4*x5)"], "4 directions"),
    (["x1*x2*x3*x4*x5*x6*x7*H10(x8)"], "Hermite terms"),
]


def called(capsys, *arguments: str) -> tuple[int, str, str]:
    code = cli.run(["explain", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(("arguments", "word"), REFUSED, ids=[" ".join(a) for a, _ in REFUSED])
def test_what_is_refused_is_one_sentence_and_exit_code_2(arguments, word, capsys):
    code, out, err = called(capsys, *arguments)
    assert (code, out) == (2, "") and word in err and "Traceback" not in err
    assert len([line for line in err.strip().splitlines() if not line.startswith("  ")]) == 1  # a caret may follow


def test_the_command_prints_a_table_or_one_json_object(capsys):
    arguments = [TALK, "--batch", "d^2", "--width", "d", "--steps", "1"]
    code, out, err = called(capsys, *arguments)
    assert (code, err) == (0, "") and "U1    w1, w2" in out and "4 with width d" in out
    code, out, err = called(capsys, *arguments, "--json", "--activation", "relu")
    answer = json.loads(out)
    fixed = {"information_exponent", "leap", "generative_exponent", "staircase", "terms", "floor"}
    assert code == 0 and fixed <= set(answer) and answer["floor"]["network"] == 4
    assert answer["staircase"] == [[], [[1, 0, 0], [0, 1, 0]]] and set(answer["realised"]["floor"]) == set(
        answer["floor"]
    )


def test_explain_does_not_import_jax():
    code = (
        "import sys, giantstep as gs; gs.explain('x1 + x1*x2', activation='tanh'); gs.explain('relu(x1)*x2', reuse=True); "
        "assert 'jax' not in sys.modules; gs.explain('x1').to_dict()"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_polynomial_of_many_scales_keeps_its_smallest_part():
    target = gs.target("x1 + H20(x1)")
    assert target.information_exponent == 1 and gs.explain(target).staircase[-1] == [[1.0]]
    assert target.rank <= MAX_RANK


def test_its_picture_has_the_staircase_and_the_part_of_every_term_that_is_fitted():
    x = gs.explain("x1 + x2 + x1^2 + x2^2 - 2", activation="relu")
    stairs, masses = gs.plot(x).axes
    assert x.realised is not None
    climbs = (x, x.realised)
    for line, climb in zip(stairs.lines[1::2], climbs, strict=True):  # a line of steps, then its dots
        found = np.round(np.asarray(line.get_ydata(), dtype=float))
        assert found[: len(climb.staircase)].tolist() == [len(basis) for basis in climb.staircase]
    share = {"fitted": lambda term: 1.0, "lost": lambda term: 0.0, "partial": lambda term: term["share"]}
    widths = iter([cast(Rectangle, bar).get_width() for bar in masses.patches])
    for climb in climbs:
        drawn = [next(widths) for _ in climb.terms], [next(widths) for _ in climb.terms]
        assert drawn[0] == pytest.approx([t["mass"] * share[t["fate"]](t) for t in climb.terms])
        assert drawn[1] == pytest.approx([t["mass"] for t in climb.terms])
        assert sum(drawn[1]) - sum(drawn[0]) == pytest.approx(climb.floor["network"])  # what is not filled is the error


def test_a_term_below_the_rounding_of_the_target_is_not_listed():
    found = gs.explain(gs.target(lambda z: z[0] + 2e-9 * (z[0] ** 3 - 3 * z[0]), rank=1))
    assert [each["term"] for each in found.terms] == ["x1"]
