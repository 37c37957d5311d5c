"""What a panel shows, in words."""

from giantstep.checks.claim import Data, Size
from giantstep.claims.demir.effects import FINITE, NEAR, Effect, ModelGap, PanelEffects, gaps
from giantstep.claims.demir.panel import Panel, PanelCurve

WORDS = {"holds": "the statement holds", "reversed": "the statement is reversed", "not seen": "no difference is seen"}


def sentence(
    panel: Panel, curves: tuple[PanelCurve, ...], effects: PanelEffects, size: Size, expected: float, measured: Data
) -> str:
    return " ".join(
        part
        for part in (
            _aligned(panel, effects.hermite, NEAR[size], expected, "errors of the Hermite model are the network's"),
            _aligned(panel, effects.theory, FINITE[size], 0.0, "of the network's errors are the predicted ones"),
            *(_axis(panel, raw, over) for raw, over in zip(effects.raw, effects.normalised, strict=True)),
            _idle(panel, effects.idle, many=len(curves) > 1),
            *(_linear(panel, curve, measured[curve.name]) for curve in curves if curve.linear),
        )
        if part
    )


def _aligned(panel: Panel, some: list[ModelGap], granted: float, expected: float, what: str) -> str:
    if not some:
        return ""
    good = sum(not g.beyond(granted, expected) for g in some)
    worst = max(some, key=lambda g: abs(g.mean - expected))
    return (
        f"{good} of {len(some)} {what} within 3 s.e. or {granted:g}% (the furthest is {worst} off: {worst.curve}, "
        f"{panel.symbol} = {worst.x:g})."
    )


def _axis(panel: Panel, raw: Effect, over: Effect) -> str:
    return (
        f"{raw.curve}: the raw error at {panel.symbol} = {panel.better:g} is {_than(raw)} that at {panel.symbol} = "
        f"{panel.worse:g} ({WORDS[raw.verdict]}), over the variance of the labels {_than(over)} it ({WORDS[over.verdict]})."
    )


def _than(change: Effect) -> str:
    return f"{abs(change.mean):.1f} ± {change.error:.1f}% {'below' if change.mean < 0 else 'above'}"


def _idle(panel: Panel, idle: list[ModelGap], *, many: bool) -> str:
    most = max(idle, key=lambda g: abs(g.mean))
    still = sum(abs(g.mean) <= 2.0 for g in idle)
    return (
        f"Without the step (η = 0) {still} of {len(idle)} errors are the same within 2%; it changes most at {panel.symbol} = "
        f"{most.x:g}, {most}{f' ({most.curve})' if many else ''}."
    )


def _linear(panel: Panel, curve: PanelCurve, errors: Data) -> str:
    most = max(gaps(curve, errors, "linear"), key=lambda g: abs(g.mean))
    return f"{curve.name}: a Hermite model of degree one is {most} off at {panel.symbol} = {most.x:g}."


def caption(panel: Panel, curves: tuple[PanelCurve, ...], effects: PanelEffects, measured: Data) -> str:
    parts = []
    for curve in curves:
        errors = measured[curve.name]
        raw = errors["network"][:, 1].mean(axis=-1)
        over = (errors["network"][:, 1] / errors["variance"]).mean(axis=-1)
        parts.append(f"{curve.name}: {raw[0]:.3g} to {raw[-1]:.3g}, and {over[0]:.2f} to {over[-1]:.2f}")
    return (
        f"Half the test error (left) and the same over half the variance of the labels (right, with a line at one, what "
        f"predicting the mean gives) against {panel.symbol}, from {curves[0].x[0]:g} to {curves[0].x[-1]:g}: {'; '.join(parts)}. "
        "Dots are the network, hollow dots the network without its step, diamonds the Hermite and triangles the conditional "
        "model, with the errors of their differences from the network, black bars or lines theory."
    )
