"""One client of two servers while they end and start again."""

import signal
import threading
import time
import unittest

import numpy as np

import gatherd
from tests.integration.harness.exposition import num_lookups
from tests.integration.harness.process import (
    Server, config_of, free_port, table_of, wait_until)


def config_at(port):
    # Dense: a server that starts anew has its rows.
    return config_of(
        [table_of("words", 2, 100, "dense", default_row={"constant": 0.5})],
        server={"address": f"127.0.0.1:{port}", "drain_delay": "500ms"})


class Traffic:
    """Threads that look up and add without a pause; keeps what fails."""

    def __init__(self, client):
        self.failures, self.num_done = [], 0
        self._client, self._stopping = client, threading.Event()
        self._threads = [threading.Thread(target=self._call, args=(i,))
                         for i in range(4)]
        for thread in self._threads:
            thread.start()

    def _call(self, index):
        while not self._stopping.is_set():
            try:
                rows, missing = self._client.lookup("words", [1, 2, 100])
                np.testing.assert_array_equal(rows, np.full((3, 2), 0.5))
                np.testing.assert_array_equal(missing, [False, False, True])
                # Never repeated, so it must not meet a server that refuses.
                self._client.update("words", [50 + index], [[1.0, 1.0]],
                                    mode="add")
                self.num_done += 1
            except (gatherd.GatherdError, AssertionError) as error:
                self.failures.append(error)

    def run_on(self):
        """Until every thread has surely made a few more calls."""
        goal = self.num_done + 100
        wait_until(lambda: self.num_done > goal or self.failures, 30,
                   "more calls")

    def stop(self):
        self._stopping.set()
        for thread in self._threads:
            thread.join()


class SeveralServersTest(unittest.TestCase):

    def start(self, port):
        server = Server(config_at(port))
        self.addCleanup(server.close)
        return server

    def connect(self, ports, **options):
        client = gatherd.Client(
            ",".join(f"127.0.0.1:{port}" for port in ports), **options)
        self.addCleanup(client.close)
        return client

    def test_nothing_is_lost_when_one_takes_over_from_the_other(self):
        ports = free_port(), free_port()
        first = self.start(ports[0])
        client = self.connect(ports)
        traffic = Traffic(client)
        self.addCleanup(traffic.stop)
        traffic.run_on()
        second = self.start(ports[1])
        wait_until(lambda: num_lookups(second) > 100, 30,
                   "the second is asked, too")
        self.assertEqual(0, first.stop())
        traffic.run_on()
        third = self.start(ports[0])
        wait_until(lambda: num_lookups(third) > 100, 30,
                   "the third is asked, too")
        self.assertEqual(0, second.stop())
        traffic.run_on()
        traffic.stop()
        self.assertEqual([], traffic.failures)

    def test_lookups_outlast_a_kill(self):
        ports = free_port(), free_port()
        servers = [self.start(port) for port in ports]
        client = self.connect(ports)
        for server in servers:
            wait_until(lambda server=server: client.lookup("words", [1])
                       and num_lookups(server) > 0, 30, "both are asked")
        failures, ended = [], threading.Event()

        def look_up():
            while not ended.is_set():
                try:
                    client.lookup("words", [1])
                except gatherd.GatherdError as error:
                    failures.append(error)
        threads = [threading.Thread(target=look_up) for _ in range(4)]
        for thread in threads:
            thread.start()
        servers[0].signal(signal.SIGKILL)
        servers[0].wait_exit()
        time.sleep(0.5)  # of lookups
        again = self.start(ports[0])
        wait_until(lambda: num_lookups(again) > 100, 30,
                   "the one that returns is asked")
        ended.set()
        for thread in threads:
            thread.join()
        self.assertEqual([], failures)
