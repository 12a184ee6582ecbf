"""A fake provider of models in a thread of its own: tests that wait do not hold it up."""

import asyncio
import threading
from contextlib import contextmanager

from fake_provider import FakeProvider


@contextmanager
def provider_in_a_thread(script=()):
    """A provider that answers until the block ends; its script may be changed meanwhile."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    made = FakeProvider(script)
    asyncio.run_coroutine_threadsafe(made.__aenter__(), loop).result(10)
    try:
        yield made
    finally:
        asyncio.run_coroutine_threadsafe(made.__aexit__(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
