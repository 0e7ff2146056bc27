"""A server that vanishes without closing its connections, as a node does that
loses its power: clients of several servers leave it within half a minute, and
nobody leaves a server that is well."""

import time
import unittest

from tests.client.clients import CppClient, LookupLoop, PythonClient
from tests.integration.harness.bad_network import BadNetwork
from tests.integration.harness.process import (
    Server, config_of, free_port, table_of, wait_until)

# A ping after 12 s, 12 s for its answer, and some for a busy machine.
MAX_LEAVING_S = 35
WELL_S = 3
ESTABLISHED = "01"  # in /proc/net/tcp


def callers_of(server):
    """The ports of those that are connected to it."""
    port = int(server.address.rsplit(":", 1)[1])
    lines = []
    for name in ("tcp", "tcp6"):
        with open(f"/proc/net/{name}", encoding="ascii") as file:
            lines += file.readlines()[1:]
    ports = set()
    for line in lines:
        _, local, remote, state = line.split()[:4]
        if state == ESTABLISHED and int(local[-4:], 16) == port:
            ports.add(int(remote[-4:], 16))
    return ports


class SilentServerTest(unittest.TestCase):

    def setUp(self):
        self.servers = [Server(config_of([table_of("words", 2, 100, "dense")]))
                        for _ in range(3)]
        for server in self.servers:
            self.addCleanup(server.close)
        port = free_port()
        self.network = BadNetwork(["127.0.0.1"], port, self.servers[0])
        self.addCleanup(self.network.close)
        address = f"127.0.0.1:{port},{self.servers[1].address}"
        self.loops = {"python": LookupLoop(PythonClient(address)),
                      "cpp": LookupLoop(CppClient(address))}
        for loop in self.loops.values():
            self.addCleanup(loop.close)
            loop.wait_for_answer(since=0)
        idle = CppClient(",".join(s.address for s in self.servers[1:]))
        self.addCleanup(idle.close)
        self.assertEqual("ok", idle.lookup())
        time.sleep(1)  # until they are connected to all

    def test_clients_leave_it_and_no_other(self):
        idle_callers = callers_of(self.servers[2])
        self.assertEqual(1, len(idle_callers))
        self.network.fall_silent()
        began = time.monotonic()
        for name, loop in self.loops.items():
            with self.subTest(client=name):
                wait_until(lambda loop=loop: loop.failures(began), 10,
                           "a call to the one that vanished")
                wait_until(lambda loop=loop: loop.is_well(WELL_S),
                           MAX_LEAVING_S, f"{WELL_S} s without a failure")
                failures = loop.failures(began)
                print(f"{name}: left after {failures[-1][0] - began:.1f} s "
                      f"and {len(failures)} failed calls")
        # Its pings were answered, though no call read the answers.
        self.assertEqual(idle_callers, callers_of(self.servers[2]))
