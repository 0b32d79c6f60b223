"""Keys entered in the page: private, bound to their address, never lost silently."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from server.config.keys import KeyStore, address_of, resolve_key
from server.config.schema import Provider
from server.errors import PetError

URL = "https://api.example/v1"


@pytest.fixture
def keys(data_dir: Path) -> KeyStore:
    return KeyStore(data_dir)


def test_a_key_is_given_out_for_its_address_only(keys: KeyStore) -> None:
    keys.set("own", URL, "sk-1")
    assert keys.get("own", URL) == "sk-1"
    assert keys.get("own", "https://evil.example/v1") is None
    assert keys.get("own", "http://api.example/v1") is None
    assert keys.get("own", "https://api.example:8443/v1") is None
    assert keys.get("other", URL) is None


@pytest.mark.parametrize(
    "same",
    ["https://api.example", "https://api.example/", "https://API.example:443/v1/", " https://api.example/v1"],
)
def test_the_same_address_may_be_written_differently(keys: KeyStore, same: str) -> None:
    keys.set("own", URL, "sk-1")
    assert keys.get("own", same) == "sk-1"


def test_another_path_is_another_address() -> None:
    assert address_of("https://gate.example/a/v1") != address_of("https://gate.example/b/v1")


def test_a_new_key_replaces_the_old_one_and_others_stay(keys: KeyStore) -> None:
    keys.set("own", URL, "sk-1")
    keys.set("two", "http://two.example", 'sk-"\\2')
    keys.set("own", "https://new.example", "sk-3")
    assert keys.get("own", URL) is None
    assert keys.get("own", "https://new.example") == "sk-3"
    assert keys.get("two", "http://two.example") == 'sk-"\\2'


def test_a_dropped_key_is_gone_from_the_file(keys: KeyStore) -> None:
    keys.set("own", URL, "sk-secret")
    keys.drop("own")
    assert keys.get("own", URL) is None
    assert "sk-secret" not in keys.path.read_text(encoding="utf-8")


def test_dropping_what_is_not_there_makes_no_file(keys: KeyStore) -> None:
    keys.drop("own")
    assert not keys.path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="permission bits are those of POSIX")
def test_file_and_folder_are_the_users_alone(keys: KeyStore) -> None:
    keys.set("own", URL, "sk-1")
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(keys.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[own\n", b"own = 3\n", b"[own]\nkey = 1\naddress = 2\n"])
def test_a_damaged_file_gives_no_key_and_is_never_overwritten(keys: KeyStore, content: bytes) -> None:
    keys.path.parent.mkdir()
    keys.path.write_bytes(content)
    with pytest.raises(PetError) as caught:
        keys.get("own", URL)
    assert caught.value.code == "provider_auth"
    assert keys.path.read_bytes() == content
    keys.set("own", URL, "sk-1")
    assert keys.get("own", URL) == "sk-1"
    assert (keys.path.parent / "keys.toml.unreadable-1").read_bytes() == content


def test_a_file_that_may_not_be_read_is_set_aside(plain_user: Path) -> None:
    keys = KeyStore(plain_user)
    keys.set("own", URL, "sk-1")
    keys.path.chmod(0)
    with pytest.raises(PetError):
        keys.get("own", URL)
    keys.set("two", URL, "sk-2")
    assert keys.get("two", URL) == "sk-2"
    aside = plain_user / "keys.toml.unreadable-1"
    aside.chmod(0o600)
    assert "sk-1" in aside.read_text(encoding="utf-8")


def test_a_key_comes_from_where_lab_toml_says(keys: KeyStore) -> None:
    environ = {"KEY": " sk-env\n"}
    assert resolve_key("own", Provider(base_url=URL), keys, environ) is None
    assert resolve_key("own", Provider(base_url=URL, api_key="sk-plain"), keys, environ) == "sk-plain"
    assert resolve_key("own", Provider(base_url=URL, api_key="env:KEY"), keys, environ) == "sk-env"
    keys.set("own", URL, "sk-stored")
    assert resolve_key("own", Provider(base_url=URL, api_key="stored"), keys, environ) == "sk-stored"


def test_a_missing_variable_is_named(keys: KeyStore) -> None:
    with pytest.raises(PetError) as caught:
        resolve_key("own", Provider(base_url=URL, api_key="env:OWN_KEY"), keys, {"OWN_KEY": ""})
    assert caught.value.code == "provider_auth"
    assert "OWN_KEY" in caught.value.message("en")
    assert "OWN_KEY" in caught.value.message("zh-CN")


def test_a_hand_edited_address_doesnt_get_the_stored_key(keys: KeyStore) -> None:
    keys.set("own", URL, "sk-stored")
    with pytest.raises(PetError) as caught:
        resolve_key("own", Provider(base_url="https://evil.example", api_key="stored"), keys, {})
    assert caught.value.code == "provider_auth"
    assert "sk-stored" not in str(caught.value)
