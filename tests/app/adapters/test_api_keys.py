import pytest

from app.adapters.identity import ApiKeys, Scope
from chains.errors import ConfigurationError
from tests.access import key_entry


async def test_a_key_is_known_by_its_hash_and_brings_name_and_scopes():
    keys = ApiKeys(f"{key_entry('desk', 'k1', 'ask+feedback')}, {key_entry('staff', 'k2', 'ask:internal')}")

    desk, staff = await keys.find("k1"), await keys.find("k2")
    assert desk is not None
    assert (desk.user_id, sorted(desk.scopes), desk.audience) == ("desk", ["ask", "feedback"], "public")
    assert staff is not None
    assert (staff.audience, staff.may(Scope.ASK), staff.may(Scope.METRICS)) == ("internal", True, False)
    assert await keys.find("k3") is None
    assert await keys.find("") is None


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ("", "entry 1 is not of the form"),
        ("desk:abc:ask", "entry 1 is not of the form"),
        (f"{key_entry('a', 'k', 'ask')},", "entry 2 is not of the form"),
        (key_entry("a", "k", "everything"), "allowed are ask, ask:internal, feedback, metrics"),
        (f"{key_entry('a', 'k1', 'ask')},{key_entry('a', 'k2', 'ask')}", "twice"),
    ],
)
def test_keys_of_another_form_stop_the_start(entries, told):
    with pytest.raises(ConfigurationError, match=told):
        ApiKeys(entries)
