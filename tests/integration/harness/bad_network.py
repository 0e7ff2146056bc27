"""A network between callers and a server that does not do its duty."""

import asyncio
import random
import threading

_BYTES_A_READ = 1 << 16


class BadNetwork:
    """Listens at one port of several hosts and passes on what comes to
    `server`.

    With `lifetime_s`, a pair, each connection is cut in both directions after
    a random time between them, wherever its calls are. After fall_silent()
    nothing passes any more, and no connection is cut: as if the server's node
    had lost its power.
    """

    def __init__(self, hosts, port, server, lifetime_s=None):
        self.num_cut = 0
        self._hosts, self._port, self._server = hosts, port, server
        self._lifetime_s = lifetime_s
        self._random = random.Random(1)
        self._is_silent = False
        self._loop = asyncio.new_event_loop()
        self._listening = threading.Event()
        self._thread = threading.Thread(
            target=lambda: self._loop.run_until_complete(self._run()))
        self._thread.start()
        self._listening.wait()

    def fall_silent(self):
        self._is_silent = True

    def close(self):
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()
        self._loop.close()

    async def _run(self):
        self._ended = asyncio.Event()
        server = await asyncio.start_server(self._pass_on, self._hosts,
                                            self._port)
        self._listening.set()
        async with server:
            await self._ended.wait()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    async def _pass_on(self, reader, writer):
        behind_reader, behind_writer = await asyncio.open_connection(
            *self._server.address.rsplit(":", 1))
        copies = asyncio.gather(self._copy(reader, behind_writer),
                                self._copy(behind_reader, writer))
        try:
            await asyncio.wait_for(
                copies, self._lifetime_s and
                self._random.uniform(*self._lifetime_s))
        except (asyncio.TimeoutError, ConnectionError):
            self.num_cut += 1
        finally:
            writer.transport.abort()
            behind_writer.transport.abort()

    async def _copy(self, reader, writer):
        while data := await reader.read(_BYTES_A_READ):
            if self._is_silent:
                await self._ended.wait()
            writer.write(data)
            await writer.drain()
