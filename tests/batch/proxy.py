"""A network between a worker and its database that can be cut, or swallow everything."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class Proxy:
    """Passes bytes between ``port`` and a server on loopback."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.swallows = threading.Event()
        self._refuses = False
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._start(self._accept)

    def cut(self) -> None:
        """End every connection, and refuse new ones until :meth:`mend`."""
        self._refuses = True
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def swallow(self) -> None:
        """Pass nothing on, without a word, until :meth:`mend`."""
        self.swallows.set()

    def mend(self) -> None:
        """Pass everything on again; what was swallowed is lost, and so are the connections it belonged to."""
        if self.swallows.is_set():
            self.cut()
        self.swallows.clear()
        self._refuses = False

    def end(self) -> None:
        """Listen no more."""
        self.cut()
        self._listener.close()

    def _start(self, function: object, *arguments: object) -> None:
        threading.Thread(target=function, args=arguments, daemon=True).start()  # type: ignore[arg-type]  # a method

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if self._refuses:
                near.close()
                continue
            far = socket.create_connection(("127.0.0.1", self.target))
            self._open |= {near, far}
            self._start(self._pass, near, far)
            self._start(self._pass, far, near)

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if not self.swallows.is_set():
                    target.sendall(data)
        for connection in (source, target):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)  # closing alone says nothing while another thread receives
            connection.close()
            self._open.discard(connection)
