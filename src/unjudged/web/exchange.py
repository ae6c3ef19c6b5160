"""JSON in and out of the page: small, safe inside HTML, any bytes of ids survive."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from unjudged.errors import UsageError
from unjudged.reporting import page
from unjudged.web.uploads import TooLarge, pass_over

MOST_JSON = 1_000_000


async def read_object(request: Request, what: str) -> dict[str, Any]:
    """The body as an object; `what` it is called in complaints."""
    held, parts = bytearray(), request.stream()
    async for part in parts:
        held += part
        if len(held) > MOST_JSON:
            await pass_over(parts)
            raise TooLarge
    try:
        given = json.loads(bytes(held) or b"{}")
    except (ValueError, RecursionError):
        raise UsageError(f"{what} is not JSON") from None
    if not isinstance(given, dict):
        raise UsageError(f"{what} is no object")
    return given


def as_json(data: Any) -> Response:
    """An answer."""
    return Response(page.printable(page.as_script(data)), media_type="application/json")
