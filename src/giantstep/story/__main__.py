"""python -m giantstep.story FOLDER writes the page and the notebooks; --measure [SCENE ...] computes its numbers again."""

import json
import sys
from pathlib import Path

from giantstep.story._page import NUMBERS, numbers, write
from giantstep.story._scene import scenes


def main(arguments: list[str]) -> int:
    """Write the page, or measure the scenes named, all of them by default."""
    if arguments[:1] == ["--measure"]:
        return _measure(arguments[1:])
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    print(write(Path(arguments[0])))
    return 0


def _measure(names: list[str]) -> int:
    from giantstep.story.numbers import measure

    path = Path(__file__).with_name(NUMBERS)
    known = numbers() if path.exists() else {}
    for scene in scenes():
        if not names or scene.name in names:
            known[scene.name] = measure(scene)
            print(scene.name, file=sys.stderr)
    ordered = {scene.name: known[scene.name] for scene in scenes() if scene.name in known}
    path.write_text(_compact(ordered), encoding="utf-8")
    return 0


def _compact(figures: dict[str, object]) -> str:
    """A line for every scene, so that a change of one shows as one."""
    lines = [
        f"{json.dumps(name)}: {json.dumps(each, ensure_ascii=False, separators=(',', ':'))}"
        for name, each in figures.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
