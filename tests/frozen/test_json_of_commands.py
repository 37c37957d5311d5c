"""What commands print with ``--json``: the same keys, types, texts and numbers."""

import pytest

from tests.frozen import commands, written

FROZEN = written.read("commands")


def test_there_are_thirty_and_all_answer():
    assert list(FROZEN) == list(commands.COMMANDS) and len(FROZEN) >= 30
    assert all(each["answer"] is not None for each in FROZEN.values())


@pytest.mark.parametrize("command", FROZEN)
def test_a_command_prints_what_it_printed(command, tmp_path):
    commands.write_files(tmp_path)
    found = commands.answer(command, tmp_path)
    relative = commands.LOOSE.get(command, commands.RELATIVE)
    written.assert_same(FROZEN[command], found, relative)
