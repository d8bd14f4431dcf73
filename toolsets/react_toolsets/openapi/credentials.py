"""Places credentials where the document's security schemes say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from react_toolsets.openapi.document import SpecProblem
from react_toolsets.openapi.requests import Credentials

if TYPE_CHECKING:
    from react_toolsets.openapi.document import Document
    from react_toolsets.openapi.options import Auth


def credentials(document: Document, auth: Auth) -> Credentials:
    """The headers, query parameters and cookies for ``auth``.

    Raises:
        SpecProblem: The document does not have the scheme of a key; the pointer is the scheme's name.
    """
    places: dict[str, dict[str, str]] = {"header": {}, "query": {}, "cookie": {}}
    if auth.bearer is not None:
        places["header"]["Authorization"] = f"Bearer {auth.bearer.get_secret_value()}"
    if auth.basic is not None:
        password = auth.basic.password.get_secret_value()
        places["header"]["Authorization"] = Credentials.basic(auth.basic.user, password)
    schemes = _schemes(document)
    for name, secret in auth.api_key.items():
        if name not in schemes:
            known = ", ".join(schemes) or "none; send it with headers:"
            raise SpecProblem(name, f"the document has no scheme {name!r} for a key. It has: {known}")
        place, parameter = schemes[name]
        places[place][parameter] = secret.get_secret_value()
    return Credentials(headers=places["header"], query=places["query"], cookies=places["cookie"])


def _schemes(document: Document) -> dict[str, tuple[str, str]]:
    """For each scheme for a key, its location and parameter name."""
    components = document.data.get("components")
    listed = components.get("securitySchemes") if isinstance(components, Mapping) else None
    found: dict[str, tuple[str, str]] = {}
    for name, scheme in (listed if isinstance(listed, Mapping) else {}).items():
        try:
            node, _ = document.followed(scheme, f"#/components/securitySchemes/{name}")
        except SpecProblem:
            continue
        place, parameter = node.get("in"), node.get("name")
        if node.get("type") == "apiKey" and place in ("header", "query", "cookie") and isinstance(parameter, str):
            found[name] = (str(place), parameter)
    return found
