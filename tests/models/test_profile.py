import json
from pathlib import Path

from server.models.profile import Profiles


def test_what_was_learned_is_known_after_a_restart(tmp_path: Path) -> None:
    first = Profiles(tmp_path / "data")
    first.refuse("http://a/v1", "m", "stream_options")
    first.learn("http://a/v1", "m", vision=True, tools=None, context_tokens=4096, reasoning_field="thinking")
    profile = Profiles(tmp_path / "data").get("http://a/v1", "m")
    told = profile.capabilities()
    assert profile.refused == ["stream_options"]
    assert (profile.context_tokens, told.vision, told.tools) == (4096, True, None)
    assert (told.streaming_usage, told.reasoning_field, told.system_role) == (False, "thinking", None)


def test_models_and_addresses_are_apart(tmp_path: Path) -> None:
    profiles = Profiles(tmp_path)
    profiles.learn("http://a/v1", "m", vision=True)
    assert profiles.get("http://a/v1", "n").vision is None
    assert profiles.get("http://b/v1", "m").vision is None


def test_the_owners_word_beats_what_was_probed(tmp_path: Path) -> None:
    profiles = Profiles(tmp_path)
    profiles.learn("http://a/v1", "m", vision=True)
    assert profiles.get("http://a/v1", "m").capabilities(vision=False).vision is False


def test_a_file_that_cannot_be_read_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "capabilities.json").write_bytes(b"\xff{")
    assert Profiles(tmp_path).get("http://a/v1", "m").refused == []
    assert (tmp_path / "capabilities.json.broken").read_bytes() == b"\xff{"


def test_what_was_learned_long_ago_is_learned_again(tmp_path: Path) -> None:
    Profiles(tmp_path, clock=lambda: 0.0).refuse("http://a/v1", "m", "system")
    assert Profiles(tmp_path, clock=lambda: 31 * 86_400.0).get("http://a/v1", "m").refused == []


def test_a_folder_that_cannot_be_written_costs_only_the_memory(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    profiles = Profiles(tmp_path / "data")
    profiles.refuse("http://a/v1", "m", "system")
    assert profiles.get("http://a/v1", "m").refused == ["system"]


def test_nothing_is_written_when_nothing_is_new(tmp_path: Path) -> None:
    profiles = Profiles(tmp_path)
    profiles.learn("http://a/v1", "m", vision=True)
    path = tmp_path / "capabilities.json"
    path.unlink()
    profiles.learn("http://a/v1", "m", vision=True, tools=None)
    assert not path.exists()


def test_unknown_options_of_a_newer_version_are_ignored(tmp_path: Path) -> None:
    profiles = Profiles(tmp_path)
    profiles.refuse("http://a/v1", "m", "system")
    path = tmp_path / "capabilities.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data["profiles"][0]["profile"]["refused"].append("telepathy")
    path.write_text(json.dumps(data), encoding="utf-8")
    assert Profiles(tmp_path).get("http://a/v1", "m").refused == ["system"]
