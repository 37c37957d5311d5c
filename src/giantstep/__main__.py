"""The program ``giantstep``, also ``python -m giantstep``: Ctrl-C ends it quietly from the first moment, also during imports."""

from giantstep._machine.interrupt import leave_on_interrupt
from giantstep._machine.search_path import leave_current_folder


def main() -> None:
    leave_on_interrupt()
    from giantstep.cli import main as program

    program()


if __name__ == "__main__":
    leave_current_folder()
    main()
