"""What all pages share."""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING

from react_run.serve.errors import ApiError
from react_run.serve.page.parts import money
from react_run.serve.protection import PAGE_FIELD, PAGE_HEADER, Gate, body_of, check_page, form_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from react_run.serve.listing import Entry
    from react_run.serve.service import Service

_DAY = 86_400
_MOST_TODAY = 2_000
_FRESH = 2.0
"""Seconds for which the figures of the day are good."""


class Site:
    """The pages of a server.

    Args:
        service: The server.
        gate: Who is let in.
    """

    def __init__(self, service: Service, gate: Gate) -> None:
        self.service, self.gate = service, gate
        self.address = f"{service.options.host}:{service.options.port}"
        self._today: tuple[float, list[Entry]] = (0.0, [])

    async def form(self, request: Request) -> Mapping[str, str]:
        """The fields of a form that the page has sent.

        Raises:
            ApiError: It does not come from the page.
        """
        fields = form_of(await body_of(request, self.service.options.max_body))
        check_page(self.gate, request.headers.get(PAGE_HEADER) or fields.get(PAGE_FIELD))
        return fields

    def field(self) -> str:
        """The field that says that a form comes from the page, also without scripts."""
        return f'<input type="hidden" name="{PAGE_FIELD}" value="{self.gate.page_token}">'

    def who(self, request: Request) -> str:
        """Who answers or stops, for the journal."""
        return request.state.by or "somebody at this machine"

    def today(self) -> list[Entry]:
        """The runs of the last day."""
        made, found = self._today
        if time() - made > _FRESH:
            found = []
            since = time() - _DAY
            for entry in self.service.entries():
                if entry.started < since or len(found) >= _MOST_TODAY:
                    break
                found.append(entry)
            self._today = (time(), found)
        return found

    def cost_today(self) -> str:
        """What the runs of the last day cost, where it is known."""
        return money(sum(entry.cost for entry in self.today() if entry.cost is not None))

    def run_id(self, request: Request) -> str:
        """The run that an address names.

        Raises:
            ApiError: There is no such run.
        """
        name = request.path_params["id"]
        if not isinstance(name, str):
            raise ApiError(404, "there is no such run")
        return self.service.run_named(name)
