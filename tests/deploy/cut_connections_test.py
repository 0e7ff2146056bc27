"""Callers with examples/service_config.json lose no call while their
connections break all the time."""

import tempfile
import unittest

from tests.deploy.example_programs import (
    HAS_JAVA, WITHOUT_JAVA, ExamplePrograms, assert_lost_nothing)
from tests.integration.harness.bad_network import BadNetwork
from tests.integration.harness.process import (
    Server, config_of, free_port, table_of)

HOSTS = tuple(f"127.0.0.{number}" for number in range(1, 5))
PROGRAMS_S = 6
MIN_CALLS = 50


class CutConnectionsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        server = Server(config_of([table_of("words", 4, 100, "dense")]))
        cls.addClassCleanup(server.close)
        port = free_port()
        network = BadNetwork(HOSTS, port, server, lifetime_s=(0.1, 0.5))
        cls.addClassCleanup(network.close)
        programs = ExamplePrograms(folder.name, HOSTS, port, PROGRAMS_S)
        cls.addClassCleanup(programs.close)
        cls.printed = programs.wait()
        print(f"{network.num_cut} connections were cut")
        assert network.num_cut > 50, network.num_cut

    def test_python_example(self):
        assert_lost_nothing("follow.py", self.printed["follow.py"], MIN_CALLS)

    def test_cpp_example(self):
        assert_lost_nothing("follow.cc", self.printed["follow.cc"], MIN_CALLS)

    @unittest.skipUnless(HAS_JAVA, WITHOUT_JAVA)
    def test_java_example(self):
        # It has UNKNOWN for calls that meet a connection just closed.
        assert_lost_nothing("Follow.java", self.printed["Follow.java"],
                            MIN_CALLS)
