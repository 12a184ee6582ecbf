"""A file of `conf/` gives the same settings, whether it is read alone or composed by Hydra."""

import pytest
from cases import cases_of

from delibsim.planning.presets import GROUPS, Presets, composed, plain_option
from delibsim.store.instruments.library import package_data

CASES = cases_of(__file__)
OPTIONS = [
    (group, path.stem)
    for group in GROUPS
    for path in sorted((package_data("conf") / group).glob("*.yaml"))
]


@pytest.mark.parametrize(("group", "name"), OPTIONS)
def test_an_option_of_the_package_is_read_as_hydra_composes_it(group, name):
    whole = composed([f"{group}={name}"])
    assert plain_option(package_data("conf") / group / f"{name}.yaml") == whole[group]


@pytest.mark.parametrize(
    ("text", "expected"), CASES["what_reaches_beyond_its_group_or_is_no_mapping_is_left_to_hydra"]
)
def test_what_reaches_beyond_its_group_or_is_no_mapping_is_left_to_hydra(tmp_path, text, expected):
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    assert plain_option(path) == expected


def test_a_file_beside_the_user_replaces_that_of_the_package(tmp_path):
    folder = tmp_path / "conf" / "treatment"
    folder.mkdir(parents=True)
    (folder / "basic.yaml").write_text("name: basic\ninstructions: Sing.\n", encoding="utf-8")
    config = Presets(tmp_path).config({"treatment": "basic"})
    assert config["treatment"] == {"name": "basic", "instructions": "Sing."}
