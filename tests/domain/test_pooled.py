"""What differs between debates that are pooled, beyond motion and debaters."""

from debates import debate

from delibsim.domain.pooled import differing


def test_other_motions_debaters_and_replicates_are_no_other_condition(tmp_path):
    one = debate(tmp_path, "proposition=citizen_eloquent", "opposition=citizen_halting")
    other = debate(tmp_path, "proposition=citizen_plain", "opposition=citizen", motion="nuclear")
    alone = debate(tmp_path, "replicate=2")
    assert differing([one, other, alone]) == {}


def test_what_else_differs_is_named_with_its_values(tmp_path):
    one = debate(tmp_path, "temperature=0")
    other = debate(tmp_path, "temperature=0.7", "audience=2", "persona=values")
    found = differing([one, other])
    assert set(found) == {"temperature", "audience", "persona"}
    assert found["temperature"] == ("0", "0.7")
    assert found["audience"] == ("0", "2")


def test_values_of_one_name_are_told_apart(tmp_path):
    one = debate(tmp_path)
    other = debate(tmp_path, "treatment.instructions=Sing.")
    (told,) = differing([one, other]).values()
    assert len(set(told)) == 2
    assert all(value.startswith("oxford (") for value in told)
