"""explain, predict, simulate and compare: the results of one target or one setting."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from giantstep.cli._options import (
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
    formula: Annotated[str, typer.Argument(metavar="EXPR", help="Target, such as 'x1 + H2(x1)*x2'.")],
    batch: Annotated[str, typer.Option(metavar="POWER", help="Size of a batch: d, d^2, d^1.5, ...")] = "d",
    width: Annotated[str, typer.Option(metavar="POWER", help="Width of the network: 1, d, d^2, ...")] = "d",
    steps: Annotated[
        int | None, typer.Option(metavar="T", help="Number of steps; by default until no more is found.")
    ] = None,
    reuse: Annotated[bool, typer.Option("--reuse", help="Use the same batch in all steps.")] = False,
    activation: Annotated[
        str | None, typer.Option(metavar="NAME", help="Also explain what this activation learns.")
    ] = None,
    plot: PlotFile = None,
    as_json: AsJson = False,
) -> None:
    """Explain what giant steps can learn of a target.

    Prints the directions that each step finds and why, the terms that can then be fitted, and the remaining error.
    """
    from giantstep.explain import explain as explain_target

    check_options(plot)
    result = explain_target(formula, batch, width, steps, reuse, activation)
    draw(plot, result)
    show(result.to_dict() if as_json else str(result))


def predict(
    setting: SettingFile,
    regime: Annotated[
        Literal["finite", "limit"],
        typer.Option(
            help="finite predicts at the setting's own sizes; limit takes the published limit of its step size."
        ),
    ] = "finite",
    optimal: Annotated[
        bool, typer.Option("--optimal", help="Find the step size and the penalty with the least test error instead.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="With --optimal: simulate the optimum and print how far the prediction was off."),
    ] = False,
    spectrum: Annotated[
        bool,
        typer.Option(
            "--spectrum", help="Also predict the spectrum of the features: the edge of its bulk and the outliers."
        ),
    ] = False,
    plot: PlotFile = None,
    as_json: AsJson = False,
) -> None:
    """Predict a setting by theory, without a simulation.

    The theory covers any number of giant steps on fresh batches and targets of up to six directions. For two steps at a width of
    the order of d, --spectrum predicts the spectrum of the first layer, as does a setting without a readout.
    """
    check_options(plot)
    if optimal and (spectrum or plot is not None or regime != "finite"):
        raise InputError(
            "--optimal finds two numbers. It works with --json, but not with --regime, --spectrum or --plot."
        )
    if verify and not optimal:
        raise InputError("--verify simulates the optimum: give it with --optimal, or use giantstep compare.")
    read = read_setting(setting)
    from giantstep.cli import _systems as systems

    if isinstance(read, systems.System):
        systems.need_none(read, regime=regime != "finite", optimal=optimal, spectrum=spectrum)
        return systems.predict(read, plot, as_json)
    if optimal:
        from giantstep.lab.optimum import (
            optimal as minimise,  # after reading: bad input is reported before JAX is imported
        )

        best = minimise(read, verify=verify)
        status = {"ok": best.status.ok, "notes": list(best.status.notes)}
        numbers = {k: getattr(best, k) for k in ("eta", "penalty", "test_error", "test_error_band", "random_features")}
        if verify:
            numbers |= {k: getattr(best, k) for k in ("measured", "measured_se")}
        show({**numbers, "status": status, "setting": best.setting.to_plain()} if as_json else str(best))
        return trust(best.status)
    if len(read.protocol.steps) == 2:
        from giantstep.theory.two_steps.predict import covers

        if covers(read) and (spectrum or regime != "finite" or read.protocol.readout is None):
            return _second_step(read, regime, plot, as_json)
    from giantstep.lab.compare import predict as predict_setting

    result = predict_setting(read, regime, spectrum=spectrum)
    draw(plot, result, spectrum)
    show(result.theory.to_dict() if as_json else str(result))
    trust(result.theory.status)


def _second_step(setting: "Setting", regime: str, plot: Path | None, as_json: bool) -> None:
    """Predict the spectrum of the first layer after two steps, beside the published limit."""
    from giantstep.theory import SecondStep, second_step

    if regime != "finite":
        raise InputError(
            "Two steps at a width of the order of d have only the finite regime, which includes the limit's count: omit --regime."
        )
    spectra = second_step(setting)
    spectra = (spectra,) if isinstance(spectra, SecondStep) else spectra
    if plot is not None:
        from giantstep.plot import style

        with style.figure(len(spectra), width=4.2 if len(spectra) == 1 else 3.2) as (fig, axes):
            for ax, one in zip([axes] if len(spectra) == 1 else axes, spectra, strict=True):
                style.layer_panel(ax, one.layer)
                ax.set_title(f"eta = {one.eta[0]:.4g}, {one.eta[1]:.4g}", loc="left")
            save(fig, plot)
        typer.echo(f"Wrote {plot}.", err=True)
    show({"predictions": [one.to_dict() for one in spectra]} if as_json else "\n\n".join(str(one) for one in spectra))


def simulate(
    setting: SettingFile,
    seeds: Annotated[str, typer.Option(metavar="LIST", help="Seeds: 3, 0-9 or 0,2,5.")] = "0",
    plot: PlotFile = None,
    method: Annotated[
        Literal["auto", "dense", "overlap"],
        typer.Option(help="dense simulates in d dimensions, overlap only the overlaps."),
    ] = "auto",
    dtype: Precision = "float64",
    memory: Memory = None,
    spectrum: Annotated[
        bool, typer.Option("--spectrum", help="Also compute the singular values of the features.")
    ] = False,
    solver: Annotated[
        Literal["auto", "direct", "cg"],
        typer.Option(help="direct solves ridge regression by a factorisation, cg by conjugate gradients."),
    ] = "auto",
    devices: Annotated[
        int | None, typer.Option(metavar="K", help="Divide the samples among the first K devices.")
    ] = None,
    random: Annotated[
        Literal["auto", "host", "device"],
        typer.Option(
            help="host draws random numbers on the CPU, device where the data are; auto uses a GPU if there is one."
        ),
    ] = "auto",
    test_samples: TestSamples = 10_000,
    as_json: AsJson = False,
) -> None:
    """Simulate a setting and measure.

    Runs the giant steps and the ridge readout on every seed, and prints the errors and the learned directions.
    """
    chosen = parse_seeds(seeds)
    check_options(plot, memory, test_samples)
    if devices is not None and devices < 1:
        raise InputError(f"--devices needs a whole number of at least 1, not {devices}.")
    read = read_setting(setting)
    from giantstep.cli import _systems as systems

    if isinstance(read, systems.System):
        systems.need_none(
            read, method=method != "auto", dtype=dtype != "float64", memory=memory is not None, spectrum=spectrum,
            solver=solver != "auto", devices=devices is not None, random=random != "auto", test_samples=test_samples != 10_000,
        )  # fmt: skip
        return systems.simulate(read, chosen, plot, as_json)
    from giantstep.simulate import simulate as measure  # after reading: bad input is reported before JAX is imported

    work: Any = {"method": method, "n_test": test_samples, "dtype": dtype, "memory": memory, "spectrum": spectrum}
    outcome = measure(read, seed=chosen, solver=solver, devices=devices, random=random, **work)
    draw(plot, outcome, spectrum)
    show(outcome.to_dict() if as_json else str(outcome))
    trust(outcome.status)


def compare(
    setting: SettingFile,
    seeds: Annotated[str, typer.Option(metavar="LIST", help="Seeds of the simulation: 3, 0-9 or 0,2,5.")] = "0-9",
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw measured dots over the predicted line into a .svg, .png or .pdf file."),
    ] = None,
    equivalent: Annotated[
        Literal["gaussian", "spiked", "conditional", "hermite"] | None,
        typer.Option(help="Also run this equivalent model of the features on the same draws."),
    ] = None,
    spectrum: Annotated[
        bool, typer.Option("--spectrum", help="Also compare the spectra of the features, which --plot then draws.")
    ] = False,
    dtype: Precision = "float64",
    memory: Memory = None,
    test_samples: TestSamples = 10_000,
    as_json: AsJson = False,
) -> None:
    """Compare theory and simulation.

    Prints the measured value, the predicted value, and their difference in percent and in standard errors for every step size
    and penalty. The prediction runs first: a setting that the theory does not cover is refused before the simulation.
    """
    chosen = parse_seeds(seeds)
    check_options(plot, memory, test_samples)
    read = read_setting(setting)
    from giantstep.cli import _systems as systems

    if isinstance(read, systems.System):
        systems.need_none(
            read, equivalent=equivalent is not None, dtype=dtype != "float64", memory=memory is not None, spectrum=spectrum,
            test_samples=test_samples != 10_000,
        )  # fmt: skip
        return systems.compare(read, chosen, plot, as_json)
    from giantstep.lab.compare import compare as compare_setting

    result = compare_setting(
        read, chosen, equivalent=equivalent, spectrum=spectrum, n_test=test_samples, dtype=dtype, memory=memory
    )
    draw(plot, result, spectrum)
    show(result.to_dict() if as_json else str(result))
    for outcome in (result.theory, result.simulation, result.equivalent):
        if outcome is not None:
            trust(outcome.status)
