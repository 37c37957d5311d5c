"""Settings that several tests share."""

import giantstep as gs


def base(**changed) -> gs.Setting:
    """One step of a small network; step size and penalty can be changed."""
    values = {"eta": gs.power(0.3), "penalty": 0.1, **changed}
    protocol = gs.Protocol((gs.GiantStep(40, values["eta"]),), gs.Ridge(40, values["penalty"]))
    return gs.Setting(gs.Gaussian(20), gs.target("x1 + H2(x1)/2", noise=0.1), gs.Network(30, "relu"), protocol)
