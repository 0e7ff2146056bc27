"""A server that vanishes without closing its connections, as a node does that
loses its power: clients of several servers leave it within half a minute."""

import time
import unittest

from tests.client.lookup_loops import CppLoop, PythonLoop
from tests.integration.harness.bad_network import BadNetwork
from tests.integration.harness.process import (
    Server, config_of, free_port, table_of, wait_until)

# A ping after 15 s of silence, 5 s for its answer, and some for our load.
MAX_LEAVING_S = 30
WELL_S = 3


class SilentServerTest(unittest.TestCase):

    def test_clients_leave_it(self):
        servers = []
        for _ in range(2):
            servers.append(Server(config_of(
                [table_of("words", 2, 100, "dense")])))
            self.addCleanup(servers[-1].close)
        port = free_port()
        network = BadNetwork(["127.0.0.1"], port,
                             int(servers[0].address.rsplit(":", 1)[1]))
        self.addCleanup(network.close)
        address = f"127.0.0.1:{port},{servers[1].address}"
        loops = {"python": PythonLoop(address, 5),
                 "cpp": CppLoop(address, "blocking", 5)}
        for loop in loops.values():
            self.addCleanup(loop.close)
            loop.wait_for_answer(since=0)
        time.sleep(1)  # until they are connected to both
        network.fall_silent()
        began = time.monotonic()
        for name, loop in loops.items():
            with self.subTest(client=name):
                wait_until(lambda loop=loop: loop.failures(began), 10,
                           "a call to the one that vanished")
                wait_until(lambda loop=loop: loop.is_well(WELL_S),
                           MAX_LEAVING_S, f"{WELL_S} s without a failure")
                failures = loop.failures(began)
                seconds = failures[-1][0] - began
                print(f"{name}: left after {seconds:.1f} s and "
                      f"{len(failures)} failed calls")
