"""The directories whose agent files may start programs and load code next to them."""

from __future__ import annotations

import json
import os
from pathlib import Path

from react_run.errors import ConfigError
from react_run.support.user_dirs import HOME, config_directory


def store_path() -> Path:
    """The file that lists the trusted directories."""
    return config_directory() / "trusted.json"


def trusted_directories(store: Path | None = None) -> list[Path]:
    """The directories that were trusted, sorted.

    Raises:
        ConfigError: The store cannot be read: nothing is trusted by accident.
    """
    store = store or store_path()
    try:
        listed = json.loads(store.read_text(encoding="utf-8"))["directories"]
        return sorted(Path(entry) for entry in listed)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigError(
            f"cannot read the list of trusted directories ({store}): {error}. Delete or fix it."
        ) from error


def is_trusted(directory: Path, store: Path | None = None) -> bool:
    """Whether ``directory`` or one of its parents is trusted; symbolic links are followed first."""
    directory = directory.resolve()
    return any(directory.is_relative_to(trusted) for trusted in trusted_directories(store))


def is_in_trusted(file: Path) -> bool:
    """Whether ``file`` is in a trusted directory, and so is its target if it is a symbolic link."""
    return is_trusted(file.parent) and is_trusted(file.resolve().parent)


def trust(directory: Path, store: Path | None = None) -> Path:
    """Trust ``directory`` and everything below it; returns its real path.

    Raises:
        ConfigError: It is not a directory, is the whole file system, or the list cannot be written.
    """
    real = directory.resolve()
    if not real.is_dir():
        above = f"; to trust the one that it is in: react-run trust {real.parent}" if real.is_file() else ""
        raise ConfigError(f"{directory} is not a directory{above}")
    if real == Path(real.anchor):
        raise ConfigError(f"{real} is the whole file system; trust the directory of your agent files instead")
    _write({*trusted_directories(store), real}, store or store_path())
    return real


def untrust(directory: Path, store: Path | None = None) -> bool:
    """Stop trusting ``directory``, and return whether it was listed."""
    real = directory.resolve()
    listed = set(trusted_directories(store))
    if real not in listed:
        return False
    _write(listed - {real}, store or store_path())
    return True


def _write(directories: set[Path], store: Path) -> None:
    text = json.dumps({"directories": sorted(str(directory) for directory in directories)}, indent=2) + "\n"
    part = store.with_name(f".{store.name}.{os.getpid()}")
    try:
        store.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part.write_text(text, encoding="utf-8")
        part.chmod(0o600)
        part.replace(store)
    except OSError as error:
        way_out = f"make it writable, set {HOME} to a directory that is, or use --trust for one run"
        raise ConfigError(
            f"cannot write the list of trusted directories ({store}): {error.strerror}; {way_out}"
        ) from error
