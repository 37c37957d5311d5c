"""The story: scenes that lead from random features to where the theory stops.

``scenes()`` reads them from one file. The static page (``make story``), a notebook for each scene and the presets of the
explorer are made from it.
"""

from giantstep.story._scene import Control, Scene, scenes

__all__ = ["Control", "Scene", "scenes"]
