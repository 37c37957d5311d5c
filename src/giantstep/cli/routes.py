"""explain, predict, simulate, compare: one setting or target, and what is known of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from giantstep.cli.options import (
    AsJson,
    Memory,
    PlotFile,
    Precision,
    SettingFile,
    TestSamples,
    check_options,
    draw,
    parse_seeds,
    read_setting,
    save,
    show,
    trust,
)
from giantstep.errors import InputError

if TYPE_CHECKING:
    from giantstep.experiment.setting import Setting


def explain(
    formula: Annotated[str, typer.Argument(metavar="EXPR", help="The target, such as 'x1 + H2(x1)*x2'.")],
    batch: Annotated[str, typer.Option(metavar="POWER", help="Size of a batch: d, d^2, d^1.5, ...")] = "d",
    width: Annotated[str, typer.Option(metavar="POWER", help="Width of the network: 1, d, d^2, ...")] = "d",
    steps: Annotated[int | None, typer.Option(metavar="T", help="Number of steps; by default until it stops.")] = None,
    reuse: Annotated[bool, typer.Option("--reuse", help="All steps go over one batch.")] = False,
    activation: Annotated[str | None, typer.Option(metavar="NAME", help="Also what this activation climbs.")] = None,
    plot: PlotFile = None,
    as_json: AsJson = False,
) -> None:
    """Explain what giant steps can learn of a target.

    Prints the directions found step by step, why, which terms can then be fitted, and the error that stays.
    """
    from giantstep.explain import explain as explained

    check_options(plot)
    found = explained(formula, batch, width, steps, reuse, activation)
    draw(plot, found)
    show(found.to_dict() if as_json else str(found))


def predict(
    setting: SettingFile,
    regime: Annotated[
        Literal["finite", "limit"],
        typer.Option(help="At the setting's own sizes, or the published limit of its step size's regime."),
    ] = "finite",
    optimal: Annotated[
        bool, typer.Option("--optimal", help="The step size and the penalty with the least test error instead.")
    ] = False,
    spectrum: Annotated[
        bool, typer.Option("--spectrum", help="Also the spectrum of the features: its bulk's edge and the outliers.")
    ] = False,
    plot: PlotFile = None,
    as_json: AsJson = False,
) -> None:
    """Predict a setting by theory, without simulating.

    Covers one giant step or none on a target of one direction, and any steps on fresh batches where the width is far below d. Of
    two steps at a width of the order of d the spectrum of the first layer is predicted.
    """
    check_options(plot)
    if optimal and (spectrum or plot is not None or regime != "finite"):
        raise InputError(
            "--optimal finds two numbers: it goes with --json alone, not with --regime, --spectrum or --plot."
        )
    read = read_setting(setting)
    from giantstep.cli import systems

    if isinstance(read, systems.System):
        systems.need_none(read, regime=regime != "finite", optimal=optimal, spectrum=spectrum)
        return systems.predict(read, plot, as_json)
    if optimal:
        from giantstep.theory import optimal as minimise  # after reading: bad input is told before JAX is imported

        best = minimise(read)
        status = {"ok": best.status.ok, "notes": list(best.status.notes)}
        found = {k: getattr(best, k) for k in ("eta", "penalty", "test_error", "random_features")}
        show({**found, "status": status, "setting": best.setting.to_plain()} if as_json else str(best))
        return trust(best.status)
    if len(read.protocol.steps) == 2:
        from giantstep.theory.two_steps.predict import covers

        if covers(read):
            return _second_step(read, regime, plot, as_json)
    from giantstep.lab.compare import predict as predicted

    found = predicted(read, regime, spectrum=spectrum, fine=plot is not None and not spectrum)
    draw(plot, found, spectrum)
    show(found.theory.to_dict() if as_json else str(found))
    trust(found.theory.status)


def _second_step(setting: "Setting", regime: str, plot: Path | None, as_json: bool) -> None:
    """The spectrum of the first layer after two steps; the published limit is beside the prediction."""
    from giantstep.theory import SecondStep, second_step

    if regime != "finite":
        raise InputError(
            "Two steps at a width of the order of d are predicted at finite size, with the limit's count: leave --regime."
        )
    found = second_step(setting)
    found = (found,) if isinstance(found, SecondStep) else found
    if plot is not None:
        from giantstep.plot import style

        with style.figure(len(found), width=4.2 if len(found) == 1 else 3.2) as (fig, axes):
            for ax, one in zip([axes] if len(found) == 1 else axes, found, strict=True):
                style.layer_panel(ax, one.layer)
                ax.set_title(f"eta = {one.eta[0]:.4g}, {one.eta[1]:.4g}", loc="left")
            save(fig, plot)
        typer.echo(f"Wrote {plot}.", err=True)
    show({"predictions": [one.to_dict() for one in found]} if as_json else "\n\n".join(str(one) for one in found))


def simulate(
    setting: SettingFile,
    seeds: Annotated[str, typer.Option(metavar="LIST", help="Seeds: 3, 0-9 or 0,2,5.")] = "0",
    plot: PlotFile = None,
    method: Annotated[
        Literal["auto", "dense", "overlap"], typer.Option(help="In d dimensions, or by overlaps.")
    ] = "auto",
    dtype: Precision = "float64",
    memory: Memory = None,
    spectrum: Annotated[bool, typer.Option("--spectrum", help="Also the singular values of the features.")] = False,
    solver: Annotated[
        Literal["auto", "direct", "cg"], typer.Option(help="Ridge by a factorisation, or by conjugate gradients.")
    ] = "auto",
    devices: Annotated[
        int | None, typer.Option(metavar="K", help="Share the samples between the first K devices.")
    ] = None,
    test_samples: TestSamples = 10_000,
    as_json: AsJson = False,
) -> None:
    """Simulate a setting and measure.

    Runs its giant steps and its ridge readout on every seed, and prints the errors and what was learned.
    """
    chosen = parse_seeds(seeds)
    check_options(plot, memory, test_samples)
    if devices is not None and devices < 1:
        raise InputError(f"--devices needs a whole number of at least 1, not {devices}.")
    read = read_setting(setting)
    from giantstep.cli import systems

    if isinstance(read, systems.System):
        systems.need_none(
            read, method=method != "auto", dtype=dtype != "float64", memory=memory is not None, spectrum=spectrum,
            solver=solver != "auto", devices=devices is not None, test_samples=test_samples != 10_000,
        )  # fmt: skip
        return systems.simulate(read, chosen, plot, as_json)
    from giantstep.simulate import simulate as measure  # after reading: bad input is told before JAX is imported

    work: Any = {"method": method, "n_test": test_samples, "dtype": dtype, "memory": memory, "spectrum": spectrum}
    outcome = measure(read, seed=chosen, solver=solver, devices=devices, **work)
    draw(plot, outcome, spectrum)
    show(outcome.to_dict() if as_json else str(outcome))
    trust(outcome.status)


def compare(
    setting: SettingFile,
    seeds: Annotated[str, typer.Option(metavar="LIST", help="Seeds of the simulation: 3, 0-9 or 0,2,5.")] = "0-9",
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw dots over the theory's line: .svg, .png or .pdf.")
    ] = None,
    equivalent: Annotated[
        Literal["gaussian", "spiked", "conditional", "hermite"] | None,
        typer.Option(help="Also run an equivalent model of the features on the same draws."),
    ] = None,
    spectrum: Annotated[
        bool, typer.Option("--spectrum", help="Also the spectrum of the features, which is then what --plot draws.")
    ] = False,
    dtype: Precision = "float64",
    memory: Memory = None,
    test_samples: TestSamples = 10_000,
    as_json: AsJson = False,
) -> None:
    """Lay theory and simulation side by side.

    Prints, for every step size and penalty, what was measured, what is predicted, and the gap in percent and in standard
    errors. The prediction comes first: a setting that the theory does not cover is refused before anything is simulated.
    """
    chosen = parse_seeds(seeds)
    check_options(plot, memory, test_samples)
    read = read_setting(setting)
    from giantstep.cli import systems

    if isinstance(read, systems.System):
        systems.need_none(
            read, equivalent=equivalent is not None, dtype=dtype != "float64", memory=memory is not None, spectrum=spectrum,
            test_samples=test_samples != 10_000,
        )  # fmt: skip
        return systems.compare(read, chosen, plot, as_json)
    from giantstep.lab.compare import compare as lay_side_by_side

    found = lay_side_by_side(
        read, chosen, equivalent=equivalent, spectrum=spectrum, n_test=test_samples, dtype=dtype, memory=memory
    )
    draw(plot, found, spectrum)
    show(found.to_dict() if as_json else str(found))
    for outcome in (found.theory, found.simulation, found.equivalent):
        if outcome is not None:
            trust(outcome.status)
