"""A real X display for tests, and a client of it that paints rectangles.

The client speaks just enough of the X protocol, so that no toolkit is needed.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import pytest

Rectangle = tuple[int, int, int, int]  # left, top, width, height


class Display:
    """A running Xvfb.

    Attributes:
        name: for the variable ``DISPLAY``.
    """

    def __init__(self, process: subprocess.Popen[bytes], number: int) -> None:
        self.process = process
        self.number = number
        self.name = f":{number}"

    def painter(self) -> Painter:
        return Painter(self.number)

    def freeze(self) -> None:
        """It answers nobody until ``thaw``."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)


@contextmanager
def x_display(width: int = 1600, height: int = 900) -> Iterator[Display]:
    """An Xvfb on a number of its own choice; skips the test where there is none."""
    if sys.platform == "win32" or (program := shutil.which("Xvfb")) is None:
        pytest.skip("Xvfb is not installed")
    read_end, write_end = os.pipe()
    how = ["-displayfd", str(write_end), "-screen", "0", f"{width}x{height}x24"]
    process = subprocess.Popen(
        [program, *how, "-nolisten", "tcp", "-ac", "-noreset"],
        pass_fds=[write_end],
        stderr=subprocess.DEVNULL,
    )
    try:
        os.close(write_end)
        with open(read_end, "rb") as told:  # noqa: PTH123  # a pipe has no path
            number = int(told.readline())
        yield Display(process, number)
    finally:
        process.kill()
        process.wait()


class Painter:
    """A client with one borderless window, wherever it is asked to paint."""

    def __init__(self, number: int) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(f"/tmp/.X11-unix/X{number}")
        self._socket.sendall(struct.pack("<BxHHHHxx", ord("l"), 11, 0, 0, 0))
        status, length = struct.unpack("<B5xH", self._receive(8))
        setup = self._receive(length * 4)
        assert status == 1, setup
        self._id_base, _mask = struct.unpack_from("<II", setup, 4)
        vendor_length, formats = struct.unpack_from("<H2xxB", setup, 16)[0], setup[21]
        screen = 32 + (vendor_length + 3) // 4 * 4 + 8 * formats
        self.root: int = struct.unpack_from("<I", setup, screen)[0]
        self._next_id = self._id_base

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def window(self, where: Rectangle) -> int:
        """A window without a border or a window manager's attention."""
        window = self._id()
        left, top, width, height = where
        override_redirect = 0x200
        self._request(
            1,
            0,
            struct.pack(
                "<IIhhHHHHIII", window, self.root, left, top, width, height, 0, 1, 0, override_redirect, 1
            ),
        )
        self._request(8, 0, struct.pack("<I", window))
        return window

    def fill(self, window: int, colour: int, rectangles: Sequence[Rectangle]) -> None:
        """Paints ``rectangles`` of ``window`` in ``colour`` (0xRRGGBB) and waits until that is done."""
        context = self._id()
        foreground = 0x4
        self._request(55, 0, struct.pack("<IIII", context, window, foreground, colour))
        packed = b"".join(struct.pack("<hhHH", *rectangle) for rectangle in rectangles)
        self._request(70, 0, struct.pack("<II", window, context) + packed)
        self.wait()

    def add_monitor(self, name: str, where: Rectangle) -> None:
        """Defines a monitor (RandR 1.5); the first takes the place of the only one that there was."""
        opcode = self._extension("RANDR")
        left, top, width, height = where
        monitor = struct.pack(
            "<IBBHhhHHII", self._atom(name), 0, 0, 0, left, top, width, height, width // 4, height // 4
        )
        self._request(opcode, 43, struct.pack("<I", self.root) + monitor)
        self.wait()

    def wait(self) -> None:
        """Until the display has done all that was asked."""
        self._request(43, 0, b"")
        self._reply()

    def _extension(self, name: str) -> int:
        self._request(98, 0, struct.pack("<Hxx", len(name)) + _padded(name.encode()))
        reply = self._reply()
        assert reply[8], f"the display knows no {name}"
        return int(reply[9])

    def _atom(self, name: str) -> int:
        self._request(16, 0, struct.pack("<Hxx", len(name)) + _padded(name.encode()))
        return int(struct.unpack_from("<I", self._reply(), 8)[0])

    def _id(self) -> int:
        self._next_id += 1
        return self._next_id

    def _request(self, opcode: int, detail: int, body: bytes) -> None:
        self._socket.sendall(struct.pack("<BBH", opcode, detail, 1 + len(body) // 4) + body)

    def _reply(self) -> bytes:
        while True:
            head = self._receive(32)
            assert head[0] != 0, f"the display refused request {head[10]}: error {head[1]}"
            if head[0] == 1:
                (more,) = struct.unpack_from("<I", head, 4)
                return head + self._receive(more * 4)

    def _receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._socket.recv(size - len(data))
            assert more, "the display has gone"
            data += more
        return data


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
