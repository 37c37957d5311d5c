"""What no change inside the code may change. ``python -m tests.frozen`` writes it anew.

Run it only after a change that is meant to be seen. Look at what ``git diff`` shows, and say in the
commit why it is meant. These files lie beside the tests:

- ``settings.json``: the ids of a hundred settings, and their files.
- ``store-1.sql`` to the present version: a store of every schema. A new schema gets a dump of its
  own, and no dump is ever written again.
- ``stores.json``: the rows, arrays and records that are read from them.
- ``commands.json``: what commands print with ``--json``.
- ``public.txt``: the public names with their parameters.
- ``evidence.json``: what is judged of every claim, and how.

``python -m tests.frozen commands public`` writes only those.
"""

import sys

from tests.frozen import commands, evidence, public, settings, stores

PARTS = {
    "settings": settings,
    "stores": stores,
    "commands": commands,
    "public": public,
    "evidence": evidence,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        PARTS[name].write()
        print(f"{name}: written")
