"""Servers replaced under load, one by one: no call is lost or answered wrongly.

Of two addresses one serves at any time: once the other server is up, the old
one is told to end. All kinds of callers follow meanwhile; docs/scaling.md
says how each is set up, and has the numbers that this test prints.
"""

import json
import subprocess
import tempfile
import time
import unittest

import gatherd
import grpc
import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from proto.gatherd.v1 import gatherd_pb2_grpc as pb_grpc
from tests.deploy.example_programs import (
    HAS_JAVA, WITHOUT_JAVA, ExamplePrograms, assert_lost_nothing)
from tests.integration.harness.api import float32_rows, table_lookup
from tests.integration.harness.callers import Callers
from tests.integration.harness.exposition import scrape
from tests.integration.harness.name_server import NameServer
from tests.integration.harness.npy_files import save
from tests.integration.harness.process import (
    Server, config_of, find_program, free_port, table_of, wait_until)

NUM_HAND_OVERS = 4  # two in each direction
ROWS = np.arange(400, dtype=np.float32).reshape(100, 4)
KEYS = list(range(0, 100, 7))
HOSTS = ("127.0.0.1", "127.0.0.2")  # pods have a port in common
CALL_TIMEOUT_S = 10
FOLLOW_TIMEOUT_S = 30
# A caller that found an address dead comes back to it within the first. A new
# server is there for the second before an old one ends, so that all know it.
MAX_RECONNECT_WAIT_MS = 2000
MIN_READY_S = 2.5
# Of programs that call; less than all hand-overs take.
PROGRAMS_S = 3 * NUM_HAND_OVERS


def service_config(without=()):
    """examples/service_config.json, some of its top-level keys left out."""
    with open("examples/service_config.json", encoding="utf-8") as file:
        config = json.load(file)
    return json.dumps({key: value for key, value in config.items()
                       if key not in without})


def check(rows):
    np.testing.assert_array_equal(rows, ROWS[KEYS])


def lookup_through(channel):
    stub = pb_grpc.EmbeddingServiceStub(channel)
    request = pb.LookupRequest(lookups=[table_lookup("words", KEYS)])

    def lookup():
        result, = stub.Lookup(request, timeout=CALL_TIMEOUT_S).results
        check(float32_rows(result))
    return lookup


class HandOverTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.source = f"{folder.name}/{save(folder.name, 'rows.npy', ROWS)}"
        cls.port = free_port()
        cls.listed = ",".join(f"{host}:{cls.port}" for host in HOSTS)
        cls.servers = [cls.start_server(HOSTS[0]), None]
        cls.names = NameServer(HOSTS[:1])
        cls.addClassCleanup(cls.names.close)
        cls.callers = {}
        cls.addClassCleanup(cls.stop_callers)
        cls.start_callers()
        bench = cls.start_bench(f"{folder.name}/bench.json")
        programs = ExamplePrograms(folder.name, HOSTS, cls.port, PROGRAMS_S)
        cls.addClassCleanup(programs.close)
        for number in range(NUM_HAND_OVERS):
            cls.hand_over(old=number % 2)
        cls.stop_callers()
        assert bench.wait(FOLLOW_TIMEOUT_S) == 0
        cls.printed = programs.wait()

    @classmethod
    def start_server(cls, host):
        server = Server(config_of(
            [table_of("words", 4, 100, "dense", source={"rows": cls.source}),
             table_of("sums", 4, 100, "dense")],
            {"address": f"{host}:{cls.port}", "drain_delay": "1s"}))
        cls.addClassCleanup(server.close)
        return server

    @classmethod
    def hand_over(cls, old):
        """The other server starts, and the old one ends once it answers."""
        new = 1 - old
        cls.servers[new] = cls.start_server(HOSTS[new])
        cls.names.addresses = list(HOSTS)
        time.sleep(MIN_READY_S)
        assert cls.num_lookups(new) > 0
        cls.names.addresses = [HOSTS[new]]
        began = time.monotonic()
        code = cls.servers[old].stop()
        seconds = time.monotonic() - began
        assert code == 0 and seconds < 11, (
            f"{code} after {seconds} s\n{cls.servers[old].log()}")
        for name, callers in cls.callers.items():
            before = callers.num_calls
            wait_until(lambda: callers.num_calls > before, FOLLOW_TIMEOUT_S,
                       f"a call of `{name}` after the hand-over")

    @classmethod
    def num_lookups(cls, number):
        metrics = scrape(cls.servers[number])
        return metrics["gatherd_lookup_keys_total"].sum(outcome="found")

    @classmethod
    def start_callers(cls):
        listed = f"ipv4:{cls.listed}"
        named = f"dns://127.0.0.1:{cls.names.port}/words.svc.:{cls.port}"
        cls.call("all", listed, service_config())
        cls.call("by name", named, service_config())
        cls.call("no retries", listed, service_config(["methodConfig"]))
        cls.call("no health", listed, service_config(["healthCheckConfig"]))
        cls.call("one at a time", listed, service_config(
            ["healthCheckConfig", "loadBalancingConfig"]))
        client = gatherd.Client(cls.listed, timeout=CALL_TIMEOUT_S)
        cls.addClassCleanup(client.close)
        cls.callers["python"] = Callers(
            lambda: check(client.lookup("words", KEYS).rows))
        cls.callers["python, add"] = Callers(
            lambda: client.update("sums", [1], np.ones((1, 4)), mode="add"))

    @classmethod
    def start_bench(cls, report):
        """gatherbench, which repeats no call; it ends by itself."""
        cls.report = report
        bench = subprocess.Popen(
            [find_program("client/gatherbench"), f"--address={cls.listed}",
             "--tables=sums", "--read-fraction=0.5", "--update-mode=add",
             "--keys-per-call=16", "--rate=200",
             f"--duration={PROGRAMS_S}s", f"--json={report}"])
        cls.addClassCleanup(bench.wait)
        cls.addClassCleanup(bench.kill)
        return bench

    @classmethod
    def call(cls, name, target, config):
        channel = grpc.insecure_channel(target, [
            ("grpc.service_config", config),
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.enable_http_proxy", 0),
            ("grpc.max_reconnect_backoff_ms", MAX_RECONNECT_WAIT_MS),
            # For names that change every other second; 30 s otherwise.
            ("grpc.dns_min_time_between_resolutions_ms", 100),
        ])
        cls.addClassCleanup(channel.close)
        cls.callers[name] = Callers(lookup_through(channel))

    @classmethod
    def stop_callers(cls):
        for callers in cls.callers.values():
            callers.stop()

    def assert_lost_nothing(self, name):
        callers = self.callers[name]
        print(f"{name}: {callers.num_calls} calls over {NUM_HAND_OVERS} "
              f"hand-overs, {len(callers.failures)} failed, the longest took "
              f"{callers.longest_s * 1e3:.0f} ms")
        self.assertEqual([], [str(failure) for failure in callers.failures])
        self.assertGreater(callers.num_calls, 25 * NUM_HAND_OVERS)

    def test_python_client(self):
        self.assert_lost_nothing("python")

    def test_python_client_with_calls_that_it_never_repeats(self):
        self.assert_lost_nothing("python, add")

    def test_cpp_client_without_repeating_a_call(self):
        with open(self.report, encoding="utf-8") as file:
            run, = json.load(file)["runs"]
        print(f"gatherbench: {run['lookup']['calls']} lookups, "
              f"{run['update']['calls']} updates")
        self.assertEqual({}, run["errors"])
        for kind in ("lookup", "update"):
            self.assertGreater(run[kind]["calls"], 100)

    def assert_program_lost_nothing(self, name):
        assert_lost_nothing(name, self.printed[name], min_calls=100)

    def test_python_example(self):
        self.assert_program_lost_nothing("follow.py")

    def test_cpp_example(self):
        self.assert_program_lost_nothing("follow.cc")

    @unittest.skipUnless(HAS_JAVA, WITHOUT_JAVA)
    def test_java_example(self):
        self.assert_program_lost_nothing("Follow.java")

    def test_with_the_whole_service_configuration(self):
        self.assert_lost_nothing("all")

    def test_by_a_name_whose_addresses_change(self):
        self.assert_lost_nothing("by name")
        self.assertGreaterEqual(self.names.num_questions, NUM_HAND_OVERS)

    def test_health_alone_is_enough_without_retries(self):
        # For a server with a drain_delay: callers go before it refuses any.
        self.assert_lost_nothing("no retries")

    def test_retries_alone_are_enough_without_health(self):
        self.assert_lost_nothing("no health")

    def test_retries_alone_are_enough_over_one_connection(self):
        self.assert_lost_nothing("one at a time")
