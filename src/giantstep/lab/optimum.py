"""optimal(setting): the step sizes and the penalty with the least predicted test error, simulated on request."""

from collections.abc import Iterable
from dataclasses import replace

from giantstep._given.declared import a, given, texts
from giantstep._given.plain import flag
from giantstep._given.seeds import seeds
from giantstep.experiment.setting import Setting
from giantstep.simulate import simulate
from giantstep.theory.optimal import OVER, Optimum
from giantstep.theory.optimal import optimal as _optimal

SEEDS = range(8)


@given(setting=a(Setting), over=texts, verify=flag, seed=seeds)
def optimal(
    setting: Setting, over: str | Iterable[str] = OVER, *, verify: bool = False, seed: int | Iterable[int] = SEEDS
) -> Optimum:
    """Minimise the predicted test error over the step sizes, the penalty, or both.

    Args:
        setting: an experiment with giant steps that ``theory`` covers: one, or several at a width of the order of d.
        over: "eta", "penalty" or both.
        verify: simulate the optimum, and say how far the prediction was off.
        seed: of that simulation; its standard error is taken over them.

    Examples:
        >>> s = gs.presets.moniri(n=400, d=200, N=300, alpha=0.3, penalty=0.1, noise=0.5)
        >>> best = gs.optimal(s, over="penalty")
        >>> bool(best.test_error < gs.theory(s).test_error)
        True
    """
    best = _optimal(setting, over)
    if not verify:
        return best
    found = simulate(best.setting, seed, progress=False).mean()
    return replace(best, measured=float(found.test_error), measured_se=found.test_error_se)
