"""A notebook for a scene, in the format of Jupyter (nbformat 4.5): text, setting, and cells to run."""

import json
from typing import Any

from giantstep.story._scene import Scene

CELL = "\n# %%\n"


def code(scene: Scene) -> str:
    """The Python of a scene in one piece, with its setting."""
    return "\n\n".join(_cells(scene))


def notebook(scene: Scene) -> str:
    """The notebook as text; it has no outputs until someone runs it."""
    text = [f"# {scene.title}", *scene.text, scene.look, "This notebook needs `pip install giantstep`."]
    cells = [_cell("markdown", "\n\n".join(text), 0)]
    cells += [_cell("code", each, i) for i, each in enumerate(_cells(scene), 1)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return (
        json.dumps(
            {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}, ensure_ascii=False, indent=1
        )
        + "\n"
    )


def _cells(scene: Scene) -> list[str]:
    begin = f'import giantstep as gs\n\ns = gs.Setting.from_toml("""\n{scene.setting.to_toml().strip()}\n""")'
    return [begin, *(each.strip() for each in scene.code.split(CELL))]


def _cell(kind: str, source: str, number: int) -> dict[str, Any]:
    own = {"execution_count": None, "outputs": []} if kind == "code" else {}
    lines = source.splitlines(keepends=True)
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines, **own}
