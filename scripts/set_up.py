"""Makes .venv and brings it up to date: a virtual environment, uv in it, and uv installs the rest."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

from scripts.bootstrap import (
    BIN,
    PAGE,
    PYTHON,
    ROOT,
    STAMP,
    UV,
    VENV,
    WINDOWS,
    SetUpError,
    inputs,
    is_ready,
    read_stamp,
    say,
    state_of_set_up,
)
from scripts.environments import setting_up, with_settings_of_pip

LOCK = ROOT / ".venv.lock"
UV_PROGRAM = BIN / ("uv.exe" if WINDOWS else "uv")
OLDEST = (3, 11)
# The Python below the one that runs this: `.venv` may be active, and it can't be cleared from within.
BASE_PYTHON: str = getattr(sys, "_base_executable", None) or sys.executable


def set_up(testing: bool) -> None:
    """Make .venv, or bring it up to date. Raises SetUpError."""
    with only_one():
        if is_ready(testing):
            return
        stamp = read_stamp()
        started = time.monotonic()
        if stamp.get("root") == str(ROOT) and venv_works():
            say("Something has changed since the last start: bringing pet_mode up to date.")
        else:
            say("Setting pet_mode up in .venv. That happens once and takes about a minute.")
            make_venv()
        if not has_uv():
            bring_uv()
        # Test tools that are there stay there.
        dev = testing or stamp.get("dev") is True
        depends_on = inputs()  # as they are now: an edit while this runs must not count as set up
        install(dev)
        if not (PAGE / "index.html").exists():
            raise SetUpError(f"The build left no page in {PAGE}.")
        made = {"root": str(ROOT), "dev": dev, "state": state_of_set_up(depends_on)}
        temporary = STAMP.with_suffix(".new")
        temporary.write_text(json.dumps(made), encoding="utf-8")
        temporary.replace(STAMP)
        say(f"Ready after {time.monotonic() - started:.0f} s.\n")


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Hold the set-up lock; another start waits here. The system frees it however its holder ends."""
    with LOCK.open("a+b") as file:
        if not try_lock(file.fileno()):
            say("Another start is setting pet_mode up; waiting for it.")
            while not try_lock(file.fileno()):
                time.sleep(0.2)
        yield


def try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def venv_works() -> bool:
    """Whether .venv's Python starts, is new enough and still the version that the packages are there for."""
    code = "import sys; print(*sys.version_info[:2], sys.prefix != sys.base_prefix)"
    try:
        done = subprocess.run([PYTHON, "-c", code], env=setting_up(), capture_output=True, check=False)
    except OSError:
        return False
    words = done.stdout.decode("utf-8", "replace").split()
    if done.returncode != 0 or len(words) != 3 or words[2] != "True":
        return False
    major, minor = int(words[0]), int(words[1])
    return (major, minor) >= OLDEST and (WINDOWS or (VENV / "lib" / f"python{major}.{minor}").is_dir())


def make_venv() -> None:
    made = step("making .venv", [BASE_PYTHON, "-m", "venv", "--clear", str(VENV)])
    if made.returncode != 0:
        # Debian leaves ensurepip to a package of its own; pip may be there all the same, outside of .venv.
        bare = step(
            "making .venv without pip", [BASE_PYTHON, "-m", "venv", "--clear", "--without-pip", str(VENV)]
        )
        if bare.returncode != 0:
            raise SetUpError(f"{last_lines(bare)}\n{venv_remedy()}")


def venv_remedy() -> str:
    if shutil.which("apt-get"):
        version = ".".join(map(str, sys.version_info[:2]))
        return (
            f"Install what this Python lacks, then start again:\n\n    sudo apt install python{version}-venv"
        )
    return (
        "This Python lacks ensurepip and pip. Install its pip or venv package, or a Python from python.org."
    )


def has_uv() -> bool:
    code = f"import importlib.metadata, sys; sys.exit(importlib.metadata.version('uv') != '{UV}')"
    done = subprocess.run([PYTHON, "-c", code], env=setting_up(), capture_output=True, check=False)
    return done.returncode == 0 and UV_PROGRAM.exists()


def bring_uv() -> None:
    wanted = ["install", "--quiet", "--only-binary", ":all:", f"uv=={UV}"]
    ways: list[list[str]] = [[str(PYTHON), "-m", "pip", *wanted]]
    if has_module(BASE_PYTHON, "pip"):
        ways.append([BASE_PYTHON, "-m", "pip", "--python", str(PYTHON), *wanted])
    elsewhere = shutil.which("uv")
    if elsewhere:
        ways.append([elsewhere, "pip", "install", "--quiet", "--python", str(PYTHON), f"uv=={UV}"])
    if not has_module(str(PYTHON), "pip"):
        del ways[0]
    if not ways:
        raise SetUpError(venv_remedy())
    for way in ways:
        done = step("fetching uv, which installs the rest", way)
        if done.returncode == 0:
            return
    raise SetUpError(f"uv {UV} could not be installed. Is a package index within reach?\n{last_lines(done)}")


def has_module(python: str, name: str) -> bool:
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{name}') is None)"
    return subprocess.run([python, "-c", code], env=setting_up(), check=False).returncode == 0


def install(dev: bool) -> None:
    # Always anew: uv doesn't see that one of the page's sources was deleted. A fresh page isn't built twice.
    words = ["sync", "--quiet", "--project", str(ROOT), "--python", str(PYTHON)]
    words += ["--reinstall-package", "pet-mode"]
    words += ["--group", "dev"] if dev else []
    environment = with_settings_of_pip(setting_up(), PYTHON)
    doing = "installing the packages and building the page"
    done = step(doing, [str(UV_PROGRAM), *words], environment)
    if done.returncode != 0 and b"xllamacpp" in done.stderr:
        say(
            "There is no ready-made xllamacpp for this system: going on without the built-in model.\n"
            "The companion will need Ollama, LM Studio or another provider (see README.md)."
        )
        done = step(doing, [str(UV_PROGRAM), *words, "--no-group", "builtin"], environment)
    if done.returncode != 0:
        raise SetUpError(last_lines(done))


def step(
    what: str, command: Sequence[str], environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a command of the set-up, with the seconds that it has taken where somebody is watching."""
    watched = sys.stderr.isatty()
    if not watched:
        say(f"  {what}")
    started = time.monotonic()
    process = subprocess.Popen(
        command,
        env=dict(environment or setting_up()),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        while True:
            try:
                out, err = process.communicate(timeout=1 if watched else None)
            except subprocess.TimeoutExpired:
                print(f"\r  {what} … {time.monotonic() - started:.0f} s", end="", file=sys.stderr, flush=True)
            else:
                break
    except BaseException:
        process.kill()
        process.wait()
        raise
    if watched:
        print(f"\r  {what}: {time.monotonic() - started:.0f} s ", file=sys.stderr, flush=True)
    return subprocess.CompletedProcess(list(command), process.returncode, out, err)


def last_lines(done: subprocess.CompletedProcess[bytes], count: int = 60) -> str:
    text = (done.stderr.strip() or done.stdout.strip()).decode("utf-8", "replace")
    return "\n".join(text.splitlines()[-count:]) or f"{done.args[0]} ended with exit code {done.returncode}."
