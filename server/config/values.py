"""The kinds of values that lab.toml knows, each refused with its own message.

A refusal is a :class:`PydanticCustomError` whose type is ``pet.KIND``: ``KIND`` and ``KIND_fix`` are
texts of ``server/texts/config.toml`` (what is wrong, what would be right).
"""

from __future__ import annotations

import ipaddress
import re
from datetime import time
from typing import Annotated, Final, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

RESERVED_PREFIXES: Final = frozenset({"vision", "tool", "git", "tests", "lint", "page", "media", "site"})
TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
STORED: Final = "stored"
ENV_PREFIX: Final = "env:"

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HOST_NAME = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*\.?")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOURS = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-(?:([01]\d|2[0-3]):([0-5]\d)|(24):(00))")
_CLOCK = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d")
_HOST_AND_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:/]+):(\d{1,5})")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def wrong(kind: str, **params: str | int | float) -> PydanticCustomError:
    """The refusal of kind ``kind``; ``params`` are what its two texts name."""
    return PydanticCustomError(f"pet.{kind}", "{kind}", {"kind": kind, **params})


def split_url(value: str) -> SplitResult | None:
    """The parts of an absolute URL with a host and a possible port, else None."""
    if not value.isprintable() or " " in value or "\\" in value:
        return None
    try:
        parts = urlsplit(value)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not parts.scheme or not host or port == 0 or not is_host(host):
        return None
    return parts


def is_host(value: str) -> bool:
    """Whether ``value`` is a host name or an IP address (without brackets)."""
    return _HOST_NAME.fullmatch(value) is not None or is_address(value)


def is_address(value: str) -> bool:
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


def _text(value: str) -> str:
    """Refuses what no UTF-8 file can hold, or holds only as a trap for terminals and C code."""
    if any(0xD800 <= ord(char) <= 0xDFFF or (ord(char) < 32 and char not in "\t\r\n") for char in value):
        raise wrong("control_characters")
    return value


def _line(value: str) -> str:
    if not _text(value).isprintable():
        raise wrong("control_characters")
    return value


def _base_url(value: str) -> str:
    if not value:
        return value
    parts = split_url(value)
    if parts is None or parts.scheme not in ("http", "https") or parts.fragment:
        raise wrong("bad_url")
    if parts.username is not None or parts.password is not None:
        raise wrong("url_credentials")
    return value


def _api_key(value: str) -> str:
    if value.startswith(ENV_PREFIX):
        if not _ENV_NAME.fullmatch(value.removeprefix(ENV_PREFIX)):
            raise wrong("bad_env_name")
    elif not (value.isascii() and value.isprintable()) or " " in value:
        raise wrong("bad_api_key")
    return value


def _origin(value: str) -> str:
    parts = split_url(value)
    if parts is None:
        raise wrong("bad_origin")
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = "" if parts.port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f":{parts.port}"
    right = f"{parts.scheme}://{host}{port}"
    if value != right:
        raise wrong("origin_form", right=right)
    return value


def _web_origin(value: str) -> str:
    if not value.startswith(("http://", "https://")):
        raise wrong("bad_origin")
    return _origin(value)


def _host(value: str) -> str:
    if not is_host(value.removeprefix("[").removesuffix("]")):
        raise wrong("bad_host")
    return value


def _host_name(value: str) -> str:
    match = _HOST_AND_PORT.fullmatch(value)
    if match and not 0 < int(match[2]) < 65536:
        raise wrong("bad_host")
    return value if match and _host(match[1]) else _host(value)


def _host_and_port(value: str) -> str:
    match = _HOST_AND_PORT.fullmatch(value)
    if not match or not 0 < int(match[2]) < 65536 or not is_host(match[1].strip("[]")):
        raise wrong("bad_host_port")
    return value


def _proxy(value: str) -> str:
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        raise wrong("bad_address") from None
    return value


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise wrong("bad_name")
    return value


def _server_name(value: str) -> str:
    if not _NAME.fullmatch(value) or len(value) > 40 or "__" in value:
        raise wrong("bad_server_name")
    if value.lower() in RESERVED_PREFIXES:
        raise wrong("reserved_name", taken=", ".join(sorted(RESERVED_PREFIXES)))
    return value


def _env_name(value: str) -> str:
    if not _ENV_NAME.fullmatch(value):
        raise wrong("bad_env_name")
    return value


def _storage(value: str) -> str:
    if value == "memory":
        return value
    parts = split_url(value)
    if parts is None or parts.scheme not in ("redis", "rediss"):
        raise wrong("bad_storage")
    return value


def _file_name(value: str) -> str:
    """A name of something installed: never a path out of its folder."""
    if value and (
        value in (".", "..") or any(char in '/\\:*?"<>|' for char in value) or value != value.strip()
    ):
        raise wrong("bad_file_name")
    return _line(value)


def parse_hours(value: str) -> tuple[time, time]:
    """``"22:00-06:00"`` as its two ends; the second is before the first where it crosses midnight,
    and 00:00 where it ends at midnight (``24:00``).

    Raises:
        ValueError: not of that form, or both ends are the same.
    """
    match = _HOURS.fullmatch(value)
    if not match:
        raise ValueError(value)
    start = time(int(match[1]), int(match[2]))
    end = time(int(match[3]), int(match[4])) if match[3] else time(0, 0)
    if start == end and not match[5]:
        raise ValueError(value)
    return start, end


def _hours(value: str) -> str:
    try:
        parse_hours(value)
    except ValueError:
        raise wrong("bad_hours") from None
    return value


def _clock(value: str) -> str:
    if not _CLOCK.fullmatch(value):
        raise wrong("bad_clock")
    return value


def _ask(value: object) -> object:
    """A number equals a truth value in Python; here it is none."""
    if isinstance(value, bool) or value == "ask":
        return value
    raise wrong("not_ask")


Text = Annotated[str, Field(max_length=100_000), AfterValidator(_text)]
Line = Annotated[str, Field(max_length=1000), AfterValidator(_line)]
BaseUrl = Annotated[str, Field(max_length=2048), AfterValidator(_base_url)]
ApiKey = Annotated[str, Field(max_length=4096), AfterValidator(_api_key)]
Origin = Annotated[str, Field(max_length=300), AfterValidator(_origin)]
WebOrigin = Annotated[str, Field(max_length=300), AfterValidator(_web_origin)]
ListenHost = Annotated[str, Field(max_length=300), AfterValidator(_host)]
HostName = Annotated[str, Field(max_length=300), AfterValidator(_host_name)]
HostAndPort = Annotated[str, Field(max_length=300), AfterValidator(_host_and_port)]
ProxyAddress = Annotated[str, Field(max_length=100), AfterValidator(_proxy)]
ProviderName = Annotated[str, AfterValidator(_name)]
ServerName = Annotated[str, AfterValidator(_server_name)]
EnvName = Annotated[str, AfterValidator(_env_name)]
Storage = Annotated[str, Field(max_length=1000), AfterValidator(_storage)]
FileName = Annotated[str, Field(max_length=200), AfterValidator(_file_name)]
Hours = Annotated[str, AfterValidator(_hours)]
Clock = Annotated[str, AfterValidator(_clock)]

Port = Annotated[int, Field(ge=0, le=65535)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
Positive = Annotated[int, Field(ge=1, le=1_000_000_000)]
Minutes = Annotated[int, Field(ge=0, le=10_080)]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Ask = Annotated[Literal["ask", True, False], BeforeValidator(_ask)]
"""A permission: always, never, or after asking the owner."""
