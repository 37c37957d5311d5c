"""The ids of a hundred settings and their files: who has saved a setting finds it again."""

import json

import pytest

import giantstep as gs
from tests.frozen import settings, written

FROZEN = written.read("settings")
HERE = settings.settings()


def test_there_are_a_hundred():
    assert list(FROZEN) == list(HERE) and len(FROZEN) == 100


@pytest.mark.parametrize("name", FROZEN)
def test_a_setting_keeps_its_id_and_its_file(name):
    setting, frozen = HERE[name], FROZEN[name]
    assert setting.id == frozen["id"]
    written.assert_same(frozen["json"], json.loads(setting.to_json()))


@pytest.mark.parametrize("name", FROZEN)
def test_a_file_is_read_as_the_setting_that_was_saved(name):
    saved = json.dumps(FROZEN[name]["json"])
    for setting in (gs.Setting.from_json(saved), gs.Setting.from_toml(HERE[name].to_toml())):
        assert setting == HERE[name] and setting.id == FROZEN[name]["id"]
        assert gs.Setting.from_json(setting.to_json()).id == setting.id
