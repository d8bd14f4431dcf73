"""Which directories are trusted, and how that is remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from react_run.config.trust import is_trusted, store_path, trust, trusted_directories, untrust
from react_run.errors import ConfigError


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "config" / "trusted.json"


def test_nothing_is_trusted_at_first(tmp_path: Path, store: Path) -> None:
    assert not is_trusted(tmp_path, store)
    assert trusted_directories(store) == []


def test_a_trusted_directory_covers_what_is_below_it_and_nothing_else(tmp_path: Path, store: Path) -> None:
    for name in ("a/b", "ab"):
        (tmp_path / name).mkdir(parents=True)
    assert trust(tmp_path / "a", store) == tmp_path / "a"
    assert is_trusted(tmp_path / "a", store)
    assert is_trusted(tmp_path / "a" / "b", store)
    assert not is_trusted(tmp_path, store)
    assert not is_trusted(tmp_path / "ab", store)
    assert not is_trusted(tmp_path / "a" / ".." / "ab", store)


def test_a_link_is_followed_before_it_is_judged(tmp_path: Path, store: Path) -> None:
    for name in ("good", "evil"):
        (tmp_path / name).mkdir()
    trust(tmp_path / "good", store)
    (tmp_path / "good" / "link").symlink_to(tmp_path / "evil")
    assert not is_trusted(tmp_path / "good" / "link", store)


def test_trust_can_be_taken_back(tmp_path: Path, store: Path) -> None:
    trust(tmp_path, store)
    assert untrust(tmp_path, store)
    assert not untrust(tmp_path, store)
    assert not is_trusted(tmp_path, store)


def test_what_is_no_directory_or_everything_is_refused(tmp_path: Path, store: Path) -> None:
    for path in (tmp_path / "none", Path(tmp_path.anchor)):
        with pytest.raises(ConfigError):
            trust(path, store)
    assert not store.exists()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"directories": 5}'])
def test_a_damaged_list_trusts_nothing_and_says_so(tmp_path: Path, store: Path, text: str) -> None:
    store.parent.mkdir()
    store.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"trusted\.json"):
        is_trusted(tmp_path, store)


def test_the_list_is_readable_by_its_owner_only(tmp_path: Path, store: Path) -> None:
    trust(tmp_path, store)
    assert store.stat().st_mode & 0o077 == 0


def test_the_list_lives_among_the_users_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REACT_RUN_HOME", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert store_path() == tmp_path / "react-run" / "trusted.json"
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    assert store_path() == tmp_path / "home" / "config" / "trusted.json"
