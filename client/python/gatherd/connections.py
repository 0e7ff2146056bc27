"""What a channel's connections have to say is read in time.

gRPC reads from connections only while somebody waits for something of it, and
by itself every 5 s. Between calls nobody does: servers that have left meanwhile
would be called, and of those that are back each step of a new connection would
wait for the next 5 s.
"""

import threading
import time
import weakref
from typing import Callable

import grpc

# After so long without a call something may be there to be read, which takes
# some turns of gRPC's.
_IDLE_S = 0.1
_READ_S = 0.005
_LONGEST_START_S = 0.05  # of gRPC's thread that reads


_OnState = Callable[[grpc.ChannelConnectivity], None]

# Those in which calls wait for what comes, or there is nothing to come.
_QUIET_STATES = (grpc.ChannelConnectivity.READY, grpc.ChannelConnectivity.IDLE)


def _subscribe(channel: grpc.Channel, on_state: _OnState) -> bool:
    """Whether somebody reads now. Takes a thread, which there may not be."""
    try:
        channel.subscribe(on_state)
    except RuntimeError:
        return False
    return True


class Reader:
    """Thread-safe."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel
        self._last_call_s = time.monotonic()
        self._lock = threading.Lock()
        self._is_watching = False

    def note_call(self) -> None:
        self._last_call_s = time.monotonic()

    def read_if_idle(self) -> None:
        """Before a call that is never repeated: it must not go to a server
        that said goodbye while nobody read it. Takes up to 55 ms."""
        if time.monotonic() - self._last_call_s < _IDLE_S:
            return
        is_reading = threading.Event()

        def on_state(_: grpc.ChannelConnectivity) -> None:
            is_reading.set()
        if not _subscribe(self._channel, on_state):
            return
        is_reading.wait(_LONGEST_START_S)
        time.sleep(_READ_S)
        self._channel.unsubscribe(on_state)

    def watch_until_ready(self) -> None:
        """After a call that no server took: it ended at once, and so may the
        next ones."""
        with self._lock:
            if self._is_watching:
                return
            self._is_watching = True
        # gRPC's thread shall not keep a client that nobody else keeps.
        reader = weakref.ref(self)

        def on_state(state: grpc.ChannelConnectivity) -> None:
            this = reader()
            if this is not None and state in _QUIET_STATES:
                this._end_watch(on_state)
        if not _subscribe(self._channel, on_state):
            self._is_watching = False

    def _end_watch(self, on_state: _OnState) -> None:
        self._channel.unsubscribe(on_state)
        with self._lock:
            self._is_watching = False
