"""A user's own callables reach JAX only where they have weak references, in processes that may end."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.special

import giantstep as gs

KINDS = """
import functools, math, operator
import numpy as np, scipy.special
import giantstep as gs
from giantstep._machine.backend import jax, jnp

class Slots:
    __slots__ = ()
    def __call__(self, x): return jnp.tanh(x)

class Unhashable:
    __hash__ = None
    def __call__(self, x): return jnp.tanh(x)

class Methods:
    def own(self, x): return jnp.tanh(x)

class OnNumPy:
    __slots__ = ()
    def __call__(self, x): return np.tanh(x)

class OnRows:
    __slots__ = ()
    def __call__(self, z): return z[0] * z[1]

def said(call):
    try:
        return repr(call())
    except gs.InputError as problem:
        return "refused: " + str(problem)

def three_times(call):
    found = {said(call) for _ in range(3)}
    assert len(found) == 1, found
    return found.pop()
"""

ACTIVATIONS = """
accepted = [Slots(), Unhashable(), Methods().own, jnp.tanh, jax.jit(jnp.tanh), operator.neg, functools.partial(jnp.power, jnp.e)]
for function in accepted:
    sigma = lambda: gs.activation(function)
    assert not three_times(lambda: sigma().hermite(3).tolist()).startswith("refused"), function
    assert float(sigma().slope(np.zeros(2))[0]) in (1.0, -1.0)
refused = [np.tanh, scipy.special.erf, np.add, np.frompyfunc(math.sin, 1, 1), np.vectorize(math.sin), OnNumPy(),
           functools.partial(np.power, 2), len, float, math.sin, (1.0).__add__, str.upper]
for function in refused:
    assert three_times(lambda: gs.activation(function)).startswith("refused"), function
    assert three_times(lambda: gs.Network(width=10, activation=function)).startswith("refused"), function
print("done")
"""

ELSEWHERE = """
from giantstep.estimator import GiantStepRegressor

X, y = np.random.default_rng(0).standard_normal((2, 60, 3))
entries = [
    lambda: gs.Layers(np.ones((2, 3)), np.ones(2), activation=np.tanh),
    lambda: gs.explain("x1", activation=np.tanh),
    lambda: GiantStepRegressor(activation=np.tanh).fit(X, y[:, 0]),
    lambda: gs.Bounds(2, activation=np.tanh),
]
for entry in entries:
    assert "give the formula 'tanh' or jax.numpy.tanh" in three_times(entry)
made = gs.target(OnRows(), rank=2)
assert made.gradient(np.ones((2, 1))).tolist() == [[1.0], [1.0]] == made.gradient(np.ones((2, 1))).tolist()
data, steps = gs.Gaussian(8), gs.Protocol((gs.GiantStep(40, 1.0),), gs.Ridge(40, 0.1))
for random in ("host", "device"):
    network = gs.Network(width=10, activation=Slots())
    setting = gs.Setting(data=data, target=made, network=network, protocol=steps)
    assert np.isfinite(gs.simulate(setting, seed=[0, 1], n_test=50, random=random).test_error).all()
print("done")
"""


@pytest.mark.parametrize("code", [ACTIVATIONS, ELSEWHERE])
def test_every_kind_of_callable_is_answered_again_and_again(code):
    done = subprocess.run([sys.executable, "-P", "-c", KINDS + code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]


@pytest.mark.parametrize(
    ("function", "cure"),
    [
        (np.tanh, "give the formula 'tanh' or jax.numpy.tanh"),
        (np.absolute, "give the formula 'abs' or jax.numpy.absolute"),
        (np.exp, "give jax.numpy.exp"),
        (scipy.special.expit, "give the formula 'sigmoid' or jax.scipy.special.expit"),
        (scipy.special.j0, "write it with jax.numpy, or as a formula"),
        (np.add, "takes one number and gives one, and add does not"),
    ],
)
def test_what_to_give_instead_of_a_ufunc(function, cure):
    with pytest.raises(gs.InputError, match=cure):
        gs.activation(function)
