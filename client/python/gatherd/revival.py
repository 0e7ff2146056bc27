"""Servers that are back are found soon, whatever calls do meanwhile."""

import threading

import grpc


class Revival:
    """Watches a channel from a failed call on until it has a server again.

    gRPC reads from connections only while somebody waits for something of it,
    and by itself every 5 s. A call that finds all servers failing ends at
    once, so calls and sleeps alone would leave each step of a new connection
    to that.
    """

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel
        self._lock = threading.Lock()
        self._is_watching = False

    def start(self) -> None:
        """After a call that ended with UNAVAILABLE. Thread-safe."""
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
