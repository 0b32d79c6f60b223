#!/usr/bin/env python3
"""Sets pet_mode up in .venv beside this file, then runs it. Needs Python 3.11 or later and nothing else.

    python3 pet.py [words…]        the command `pet` with these words (none: start it and open the browser)
    python3 pet.py test [words…]   the whole test suite; with words, pytest alone with these words

The first start takes about a minute. Later ones see by a stamp in .venv that nothing has changed and go
straight on. What set-up says goes to stderr; stdout is the program's own.
"""

# The standard library alone, in a syntax that Python 3.8 reads too: an old Python must get to its message.
from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

OLDEST = (3, 11)
NEWEST = (3, 14)
UV = "0.13.9"

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / ".pet-stamp"
LOCK = ROOT / ".venv.lock"
PAGE = ROOT / "server" / "page"
WINDOWS = os.name == "nt"
BIN = VENV / ("Scripts" if WINDOWS else "bin")
PYTHON = BIN / ("python.exe" if WINDOWS else "python")
INTERRUPTED = 130

# The caller's UV_ variables are about other projects, but for those that say how a package index is reached.
# fmt: off
UV_KEPT = (
    "UV_INDEX", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX", "UV_FIND_LINKS", "UV_CONFIG_FILE", "UV_CACHE",
    "UV_NO_CACHE", "UV_HTTP", "UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "UV_INSECURE_HOST", "UV_KEYRING",
    "UV_OFFLINE", "UV_LINK_MODE", "UV_CONCURRENT",
)
# These would lead Python, pip or uv to another environment than .venv.
MISLEADING_PYTHON = ("PYTHONHOME", "PYTHONPATH", "__PYVENV_LAUNCHER__")
MISLEADING_SETUP = (
    "VIRTUAL_ENV", "CONDA_PREFIX", "PIP_PYTHON", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_DRY_RUN",
    "PIP_NO_DEPS", "PIP_NO_BINARY", "PIP_CONSTRAINT", "PIP_REQUIREMENT", "PIP_REQUIRE_HASHES",
)
# fmt: on
# What the user told pip about reaching packages holds for uv too.
PIP_TO_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}


class SetUpError(Exception):
    """Set-up can't go on; the message says what to do."""


def main(words: Sequence[str]) -> int:
    if sys.version_info < OLDEST:
        say(too_old(sys.version_info[:2], sys.executable, newer_pythons()))
        return 1
    testing = list(words[:1]) == ["test"]
    try:
        if not is_ready(testing):
            set_up(testing)
    except SetUpError as error:
        say(f"\npet_mode could not be set up.\n{error}")
        return 1
    except KeyboardInterrupt:
        say("\nStopped. The next start goes on with the set-up.")
        return INTERRUPTED
    return run_tests(words[1:]) if testing else run_pet(words)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# --- an older Python


def newer_pythons() -> list[str]:
    """Commands on PATH that look like a Python that is new enough, newest first."""
    names = [f"python3.{minor}" for minor in range(NEWEST[1], OLDEST[1] - 1, -1)]
    return [name for name in names if shutil.which(name) and starts(name)]


def starts(python: str) -> bool:
    # A version manager's shim lies on PATH whether or not there is a Python behind it.
    return subprocess.run([python, "-c", ""], stderr=subprocess.DEVNULL, check=False).returncode == 0


def too_old(version: Sequence[int], executable: str, newer: Sequence[str]) -> str:
    wanted = ".".join(map(str, OLDEST))
    if newer:
        remedy = f"You have a newer one. Start it with:\n\n    {newer[0]} pet.py"
    elif sys.platform == "win32":
        remedy = f"Install Python {wanted} or later from python.org, then run:  py pet.py"
    elif sys.platform == "darwin":
        remedy = f"Install Python {wanted} or later from python.org, or with:  brew install python"
    else:
        remedy = f"Install Python {wanted} or later with your system's packages, or from python.org."
    here = ".".join(map(str, version))
    return (
        f"pet_mode needs Python {wanted} or later; this is Python {here} ({executable}).\n{remedy}\n"
        "With uv, `uv run pet` brings a Python of its own."
    )


# --- is everything there?


def is_ready(testing: bool) -> bool:
    """Whether .venv was set up from exactly what lies here now, with the test tools where they are needed."""
    stamp = read_stamp()
    return (
        stamp.get("state") == state_of_set_up()
        and (stamp.get("dev") is True or not testing)
        and PYTHON.exists()
        and (PAGE / "index.html").exists()
    )


def read_stamp() -> dict[str, object]:
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def state_of_set_up() -> str:
    """A digest of all that a set-up depends on and of what it made, without reading a file."""
    parts = [str(ROOT), UV, os.path.realpath(PYTHON)]
    parts += (f"{path} {info.st_size} {info.st_mtime_ns}" for path, info in inputs())
    # Whoever adds or removes a package in .venv by other means changes this list.
    for folder in site_packages():
        parts += sorted(path.name for path in folder.glob("*.dist-info"))
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def inputs() -> Iterator[tuple[str, os.stat_result]]:
    for name in ("pyproject.toml", "hatch_build.py", "pet.py"):
        with contextlib.suppress(OSError):
            yield name, (ROOT / name).stat()
    folders = [str(ROOT / "frontend")]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.startswith(".") or entry.name in ("node_modules", "tests", "__pycache__"):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    yield entry.path, entry.stat()


def site_packages() -> list[Path]:
    return [VENV / "Lib" / "site-packages"] if WINDOWS else sorted(VENV.glob("lib/python*/site-packages"))


# --- set-up


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
        install(dev)
        if not (PAGE / "index.html").exists():
            raise SetUpError(f"The build left no page in {PAGE}.")
        made = {"root": str(ROOT), "dev": dev, "state": state_of_set_up()}
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
        done = subprocess.run(
            [PYTHON, "-c", code], env=set_up_environment(), capture_output=True, check=False
        )
    except OSError:
        return False
    words = done.stdout.decode("utf-8", "replace").split()
    if done.returncode != 0 or len(words) != 3 or words[2] != "True":
        return False
    major, minor = int(words[0]), int(words[1])
    return (major, minor) >= OLDEST and (WINDOWS or (VENV / "lib" / f"python{major}.{minor}").is_dir())


def make_venv() -> None:
    # The Python below the one that runs this: `.venv` may be active, and it can't be cleared from within.
    base = getattr(sys, "_base_executable", None) or sys.executable
    made = step("making .venv", [base, "-m", "venv", "--clear", str(VENV)])
    if made.returncode != 0:
        # Debian leaves ensurepip to a package of its own; pip may be there all the same, outside of .venv.
        bare = step("making .venv without pip", [base, "-m", "venv", "--clear", "--without-pip", str(VENV)])
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
    done = subprocess.run([PYTHON, "-c", code], env=set_up_environment(), capture_output=True, check=False)
    return done.returncode == 0 and uv_program().exists()


def uv_program() -> Path:
    return BIN / ("uv.exe" if WINDOWS else "uv")


def bring_uv() -> None:
    base = getattr(sys, "_base_executable", None) or sys.executable
    wanted = ["install", "--quiet", "--only-binary", ":all:", f"uv=={UV}"]
    ways: list[list[str]] = [[str(PYTHON), "-m", "pip", *wanted]]
    if has_module(base, "pip"):
        ways.append([base, "-m", "pip", "--python", str(PYTHON), *wanted])
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
    return subprocess.run([python, "-c", code], env=set_up_environment(), check=False).returncode == 0


def install(dev: bool) -> None:
    # Always anew: uv doesn't see that one of the page's sources was deleted. A fresh page isn't built twice.
    words = ["sync", "--quiet", "--project", str(ROOT), "--python", str(PYTHON)]
    words += ["--reinstall-package", "pet-mode"]
    words += ["--group", "dev"] if dev else []
    environment = uv_environment()
    doing = "installing the packages and building the page"
    done = step(doing, [str(uv_program()), *words], environment)
    if done.returncode != 0 and b"xllamacpp" in done.stderr:
        say(
            "There is no ready-made xllamacpp for this system: going on without the built-in model.\n"
            "The companion will need Ollama, LM Studio or another provider (see README.md)."
        )
        done = step(doing, [str(uv_program()), *words, "--no-group", "builtin"], environment)
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
        env=dict(environment or set_up_environment()),
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


# --- environments


def cleared(environment: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    gone = {name.upper() for name in names}
    return {name: value for name, value in environment.items() if name.upper() not in gone}


def set_up_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The caller's environment without what would lead set-up to another place than .venv."""
    kept = cleared(environment, (*MISLEADING_PYTHON, *MISLEADING_SETUP))
    kept = {
        name: value for name, value in kept.items() if not name.startswith("UV_") or name.startswith(UV_KEPT)
    }
    kept["PIP_USER"] = "0"
    kept["UV_PYTHON_DOWNLOADS"] = "never"
    kept["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    return kept


def uv_environment() -> dict[str, str]:
    environment = set_up_environment()
    if (
        not any(path.is_file() for path in uv_configurations(environment))
        and "UV_CONFIG_FILE" not in environment
    ):
        done = subprocess.run(
            [PYTHON, "-m", "pip", "config", "list"], env=environment, capture_output=True, check=False
        )
        for name, value in pip_settings(done.stdout.decode("utf-8", "replace")).items():
            environment.setdefault(name, value)
    return environment


def uv_configurations(environment: Mapping[str, str]) -> list[Path]:
    """Where the user's own configuration of uv may lie; what it says comes before what pip was told."""
    if WINDOWS:
        homes = [environment.get("APPDATA"), environment.get("PROGRAMDATA")]
    else:
        homes = [environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config"), "/etc"]
    return [Path(home) / "uv" / "uv.toml" for home in homes if home]


def pip_settings(listing: str) -> dict[str, str]:
    """What `pip config list` says about reaching packages, as uv's environment variables."""
    found: dict[str, str] = {}
    for section in ("global.", "install.", ":env:."):  # the later beats the earlier, as with pip
        for line in listing.splitlines():
            name, _, value = line.partition("=")
            variable = PIP_TO_UV.get(name[len(section) :]) if name.startswith(section) else None
            if variable:
                with contextlib.suppress(ValueError, SyntaxError):
                    found[variable] = " ".join(str(ast.literal_eval(value)).split())
    return found


# --- running


def run_pet(words: Sequence[str]) -> int:
    environment = cleared(os.environ, MISLEADING_PYTHON)
    if WINDOWS:
        return wait_for([str(BIN / "pet.exe"), *words], environment)
    become([str(PYTHON), str(BIN / "pet"), *words], environment)


def become(command: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    os.execve(command[0], list(command), dict(environment))


def run_tests(words: Sequence[str]) -> int:
    """The page's unit tests, then pytest, so that pytest's summary comes last; with words, pytest alone."""
    environment = cleared(os.environ, MISLEADING_PYTHON)
    page = (
        0
        if words
        else wait_for([str(PYTHON), str(ROOT / "frontend" / "build.py"), "test"], environment, ROOT)
    )
    if page == INTERRUPTED:
        return page
    rest = wait_for([str(PYTHON), "-m", "pytest", *words], environment, ROOT)
    if page:
        say("The page's unit tests failed: see above, before pytest's output.")
    return rest or page


def wait_for(command: Sequence[str], environment: Mapping[str, str], cwd: Path | None = None) -> int:
    """Run a command in our place: Ctrl-C is its own affair, and its exit code becomes ours."""
    process = subprocess.Popen(command, env=dict(environment), cwd=cwd)
    # Handlers, not SIG_IGN, which a child would inherit; they are set after it has started.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    code = process.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
