"""What a channel's connections have to say is read in time.

gRPC reads from connections only while somebody waits for something of it, and
by itself every 5 s. Between calls nobody does: servers that have left meanwhile
would be called, and of those that are back each step of a new connection would
wait for the next 5 s.
"""

import threading
import time

import grpc

# After so long without a call something may be there to be read, which takes
# some turns of gRPC's.
_IDLE_S = 0.1
_READ_S = 0.005
_LONGEST_START_S = 0.05  # of gRPC's thread that reads


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
        that said goodbye while nobody read it."""
        if time.monotonic() - self._last_call_s < _IDLE_S:
            return
        is_reading = threading.Event()

        def on_state(_: grpc.ChannelConnectivity) -> None:
            is_reading.set()
        self._channel.subscribe(on_state)
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
        self._channel.subscribe(self._on_state)

    def _on_state(self, state: grpc.ChannelConnectivity) -> None:
        if state is grpc.ChannelConnectivity.READY:
            self._channel.unsubscribe(self._on_state)
            with self._lock:
                self._is_watching = False
