"""Larger steps on images: the network learns features, the conditional model follows it, and the polynomial does not."""

from typing import NamedTuple

import giantstep as gs
from giantstep.checks import power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.demir.conditional import difference, ticks
from giantstep.claims.demir.fashion import GIVEN, HERMITE, N_TEST, NAMES, ORDER, errors, experiment, read
from giantstep.claims.margins import Margins
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style as _style

ETAS = {"quick": (0.0, 148.0), "full": (0.0, 4.4, 28.0, 148.0, 784.0)}  # up to d
FAR = 148.0  # where the step should have done its work
SIZES = {"quick": (400, 6), "full": (500, 12)}  # m = k, and seeds
MARGINS = Margins(level=3.0, granted=5.0, needed=15.0)  # % of an error


def sweep(size: Size, m: int, etas: tuple[float, ...]) -> Setting:
    return experiment(size, m, (0, 1), "relu", 1.0, list(etas))


def measure(size: Size) -> Data:
    """Test errors of the network (step sizes, seeds) and of the models (without the first, seeds), and the labels' variance."""
    (m, seeds), etas = SIZES[size], ETAS[size]
    whole, steps = read(sweep(size, m, etas)), sweep(size, m, etas[1:])
    models = {model: errors(steps, seeds, model) for model in (GIVEN, HERMITE)}
    return {"network": errors(whole, seeds), "variance": gs.labels(whole).total, **models}


def predict(size: Size) -> Data:
    """The difference of the conditional model from the network in %; by which factors the step at least lowers the network's
    error, and the polynomial at least misses it, at the step size FAR."""
    return {"difference": 0.0, "gain": 2.0, "miss": 2.0}


class FashionStepRow(NamedTuple):
    eta: float
    model: str
    none: float
    network: float
    mean: float
    error: float

    @property
    def wording(self) -> str:
        """The difference, as a factor where it is large."""
        return f"{self.mean:+.1f} ± {self.error:.1f}%" if self.mean < 100 else f"a factor {1 + self.mean / 100:.3g}"


def rows_of(etas: tuple[float, ...], measured: Data) -> list[FashionStepRow]:
    rows, network = [], measured["network"]
    share = network.mean(axis=-1) / measured["variance"]
    for model in (GIVEN, HERMITE):
        for i, eta in enumerate(etas[1:], 1):
            off = difference(network[i], measured[model][i - 1])
            rows.append(FashionStepRow(eta, model, float(share[0]), float(share[i]), *off))
    return rows


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (m, seeds), etas, expected = SIZES[size], ETAS[size], predicted["difference"]
    rows = rows_of(etas, measured)
    given, short = ([r for r in rows if r.model == model] for model in (GIVEN, HERMITE))
    missed = [r for r in given if abs(r.mean - expected) > max(MARGINS.level * r.error, MARGINS.granted)]
    worst, far, last = max(given, key=lambda r: abs(r.mean)), next(r for r in short if r.eta == FAR), given[-1]
    least = measured["network"][0] - predicted["gain"] * measured["network"][etas.index(FAR)]
    gain, error = map(float, mean_and_error(least))  # positive: the step lowers the error by more than the factor
    apart = far.mean - 100 * (predicted["miss"] - 1)  # positive: the polynomial is off by more than the factor
    wrong = missed or gain < -MARGINS.level * error or apart < -MARGINS.level * far.error
    sure = gain > MARGINS.level * error and apart > MARGINS.level * far.error
    sure = sure and all(power.detectable(r.error, MARGINS.level, MARGINS.granted) < MARGINS.needed for r in given)
    return Verdict(
        outcome="fails" if wrong else ("holds" if sure else "inconclusive"),
        sentence=f"A step on the images lowers the test error from {far.none:.3f} to {far.network:.3f} of the labels' variance "
        f"at η = {FAR:g}{f' ({last.network:.3f} at {last.eta:g})' * (last.eta > FAR)}. {len(given) - len(missed)} of "
        f"{len(given)} errors of the conditional "
        f"model are the network's within 3 s.e. or {MARGINS.granted:g}% ({worst.wording} at most, η = {worst.eta:g}); "
        f"the polynomial of order "
        f"{ORDER} is off by " + ", ".join(f"{r.wording} at η = {r.eta:g}" for r in short) + ".",
        header=("η", "model", "no step, of Var y", "network, of Var y", "difference in %", "s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"m = k = {m}, d = 784; λ = 1e-4; relu; classes 0 and 1 of {NAMES[size]}, {N_TEST} images for the test",
        figure=_figure(etas, measured, rows),
        caption=f"Left, test error over the labels' variance against the step size: the network falls from {far.none:.2f} to "
        f"{far.network:.2f} with the conditional model on it, while the polynomial rises to {1 + short[-1].mean / 100:.2g} "
        "times the network's error. Right, the conditional model's differences from the network in %, at most "
        f"{worst.mean:+.1f}%.",
        power=power.stated(
            [r.error for r in given], MARGINS.level, MARGINS.granted, "% of the network's error", seeds=seeds
        ),
        settings=(sweep(size, m, etas).id,),
    )


def _figure(etas: tuple[float, ...], measured: Data, rows: list[FashionStepRow]) -> str:
    """Errors by step size, none first, and the conditional model's differences."""
    x = range(len(etas))
    with _style.figure(2, width=3.7, height=2.9) as (fig, (left, right)):
        values = mean_and_error(measured["network"] / measured["variance"])
        left.axhline(values[0][0], color=_style.INK, linestyle=":", linewidth=1.0, label="network, no step")
        _style.dots(left, x, *values, color=_style.COLOURS[0], linestyle="-", markersize=7, label="network")
        for model, name, mark, colour in (
            (GIVEN, "conditional model", "x", _style.COLOURS[1]),
            (HERMITE, f"polynomial of order {ORDER}", "^", _style.COLOURS[4]),
        ):
            values = mean_and_error(measured[model] / measured["variance"])
            _style.dots(left, x[1:], *values, color=colour, marker=mark, zorder=3, markersize=6, label=name)
        left.set(yscale="log", ylabel="test error / Var y")
        ticks(left)
        right.axhspan(-MARGINS.granted, MARGINS.granted, color=_style.INK, alpha=0.07, linewidth=0)
        right.axhline(0, color=_style.INK, linewidth=0.8)
        given = [r for r in rows if r.model == GIVEN]
        style = {"color": _style.COLOURS[1], "marker": "x", "markersize": 6}
        _style.dots(right, x[1:], [r.mean for r in given], [r.error for r in given], **style)
        right.set(ylabel="conditional − network in %")  # noqa: RUF001
        for ax in (left, right):
            ax.set_xlabel("step size η")
            ax.set_xlim(-0.3, len(etas) - 0.7)
            ax.set_xticks(x, ["none", *(f"{eta:g}" for eta in etas[1:])])
        fig.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return _style.svg(fig)


CLAIM = claim("demir/fashion-step", measure=measure, predict=predict, judge=judge)
