"""Who draws the random numbers of a run, the host or the device."""

from giantstep._given.plain import choice
from giantstep._machine.backend import jax, jnp
from giantstep.errors import InputError
from giantstep.experiment.data.gaussian import Gaussian
from giantstep.experiment.data.mixture import Mixture
from giantstep.experiment.setting import Setting

RANDOM = ("auto", "host", "device")
MOST = 2**32  # rows of a batch that the counter of the device's numbers tells apart


def resolved(random: str, setting: Setting) -> str:
    """ "host" or "device"; "auto" is the host on a CPU, and the device on an accelerator if it can draw this setting."""
    if choice(random, RANDOM, "random") == "host" or (random == "auto" and jax.default_backend() == "cpu"):
        return "host"
    obstacle = _obstacle(setting)
    if obstacle is None:
        return "device"
    if random == "device":
        raise InputError(f"random='device' {obstacle}: use random='host'")
    return "host"


def _obstacle(setting: Setting) -> str | None:
    """The reason why the device cannot draw a setting, or None."""
    if not isinstance(setting.data, Gaussian | Mixture):
        return f"draws Gaussian data and mixtures, not a {type(setting.data).__name__}"
    readout = () if setting.protocol.readout is None else (setting.protocol.readout_size,)
    if max((*setting.protocol.sizes(), *readout), default=0) > MOST:
        return f"draws batches of at most {MOST} samples"
    if setting.target.function is not None:
        try:
            jax.eval_shape(setting.target, jax.ShapeDtypeStruct((setting.target.rank, 3), jnp.float64))
        except Exception:  # whatever the user's function raises
            return "needs a target that JAX can trace (jax.numpy, not numpy)"
    return None
