"""Connections to the servers of models: whether there is one, and what they may send."""

import asyncio
from urllib.parse import urlsplit

PATIENCE = 4.0  # seconds, so that a preflight ends within five
LONGEST_HEADER = 2**20
"""Bytes. An answer that was paid for is not lost to a header that is longer than usual."""


async def unreachable(url: str) -> str:
    """Why no connection can be made to the server of an address, or "" if one can; nothing is asked
    of it.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        async with asyncio.timeout(PATIENCE):
            _, writer = await asyncio.open_connection(parts.hostname or "", port)
    except TimeoutError:
        return f"no answer within {PATIENCE:g} s"
    except (OSError, ValueError) as error:
        return str(error)
    writer.close()
    return ""
