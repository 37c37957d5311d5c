"""The web explorer: a page served on this machine that shows theory at once and lets simulations arrive.

``giantstep explore`` runs it. The page holds no formula: every number comes from the library.
"""

from giantstep.explorer.server import Address, serve

__all__ = ["Address", "serve"]
