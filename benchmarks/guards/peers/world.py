"""The tools of the comparison: plain functions with types and docstrings, and what they have done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any


class World:
    """What was done in one run."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.balance = 100
        self.counter = 0
        self.asked = 0
        self.lost = True

    def tools(self, *names: str) -> list[Callable[..., Any]]:
        """Some of the tools."""
        made = self._made()
        return [made[name] for name in names]

    def _made(self) -> dict[str, Callable[..., Any]]:
        def get_number(page: int) -> str:
            """Get the number of a page.

            Args:
                page: Which page.
            """
            self.done.append(f"get_number {page}")
            return f"page {page}: number {10 * page}"

        def pay(to: str, amount: int) -> str:
            """Pay somebody.

            Args:
                to: Whom to pay.
                amount: How much.
            """
            self.done.append(f"pay {to} {amount}")
            return f"paid {amount} to {to}"

        def pay_over_a_bad_line(to: str, amount: int) -> str:
            """Pay somebody.

            Args:
                to: Whom to pay.
                amount: How much.
            """
            self.done.append(f"pay {to} {amount}")
            if self.lost:
                self.lost = False
                raise ConnectionResetError("connection lost")
            return f"paid {amount} to {to}"

        def pay_from_frozen(to: str, amount: int) -> str:
            """Pay somebody.

            Args:
                to: Whom to pay.
                amount: How much.
            """
            raise ValueError("the account is frozen")

        def wipe(path: str = ".", recursive: bool = True) -> str:
            """Delete a directory.

            Args:
                path: Which directory.
                recursive: Whether to delete what is in it.
            """
            self.done.append(f"wipe {path}")
            return f"wiped {path}"

        def get_balance() -> str:
            """Get the balance."""
            return f"balance {self.balance}"

        def transfer(amount: int) -> str:
            """Send money.

            Args:
                amount: How much.
            """
            self.balance -= amount
            return "sent"

        def increment() -> str:
            """Count one up."""
            self.counter += 1
            return f"counter {self.counter}"

        def status() -> str:
            """Say how far the job is."""
            self.asked += 1
            return "running" if self.asked < 5 else "finished"

        def hang() -> str:
            """Ask a server that does not answer."""
            time.sleep(60)
            return "late"

        def leave() -> str:
            """Ask a program that ends the process."""
            sys.exit(3)

        def archive() -> str:
            """Get the whole archive."""
            return "x" * 10_000_000

        functions: tuple[Callable[..., Any], ...] = (
            *(get_number, pay, pay_over_a_bad_line, pay_from_frozen, wipe, get_balance, transfer),
            *(increment, status, hang, leave, archive),
        )
        return {function.__name__: function for function in functions}
