"""``python -m giantstep.cli``."""

from giantstep.cli import main

if __name__ == "__main__":
    main()
