"""State and helpers shared by all pages."""

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
"""Seconds for which the day's figures are cached."""


class Site:
    """The pages of a server.

    Args:
        service: The server.
        gate: Authenticates requests.
    """

    def __init__(self, service: Service, gate: Gate) -> None:
        self.service, self.gate = service, gate
        self.address = f"{service.options.host}:{service.options.port}"
        self._today: tuple[float, list[Entry]] = (0.0, [])

    async def form(self, request: Request) -> Mapping[str, str]:
        """The fields of a submitted form.

        Raises:
            ApiError: The form does not come from our page.
        """
        fields = form_of(await body_of(request, self.service.options.max_body))
        check_page(self.gate, request.headers.get(PAGE_HEADER) or fields.get(PAGE_FIELD))
        return fields

    def field(self) -> str:
        """A hidden field that proves that a form comes from our page, for browsers without scripts."""
        return f'<input type="hidden" name="{PAGE_FIELD}" value="{self.gate.page_token}">'

    def who(self, request: Request) -> str:
        """The user's name for the journal."""
        return request.state.by or "someone at this machine"

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
        """The known cost of the last day's runs."""
        return money(sum(entry.cost for entry in self.today() if entry.cost is not None))

    def run_id(self, request: Request) -> str:
        """The id of the run in the request's path.

        Raises:
            ApiError: There is no such run.
        """
        name = request.path_params["id"]
        if not isinstance(name, str):
            raise ApiError(404, "there is no such run")
        return self.service.run_named(name)
