"""Tables spread over real servers that end and start again, by both clients."""

import signal
import subprocess
import threading
import unittest

import numpy as np

import gatherd
from gatherd import rendezvous
from tests.integration.harness.process import (
    Server, config_of, find_program, free_port, table_of, wait_until)

NUM_SERVERS = 3
DIM = 4


def config_at(port):
    return config_of(
        [table_of("words", DIM, 10_000),
         table_of("small", DIM, 10_000, data_type="int8")],
        server={"address": f"127.0.0.1:{port}"})


class Servers:
    """Three servers at addresses that last."""

    def __init__(self, test):
        self._test = test
        self._ports = [free_port() for _ in range(NUM_SERVERS)]
        self.addresses = [f"127.0.0.1:{port}" for port in self._ports]
        self._servers = [None] * NUM_SERVERS
        for i in range(NUM_SERVERS):
            self.start(i)

    def start(self, i):
        self._servers[i] = Server(config_at(self._ports[i]))
        self._test.addCleanup(self._servers[i].close)

    def kill(self, i):
        self._servers[i].signal(signal.SIGKILL)
        self._servers[i].wait_exit()


class Traffic:
    """The program sharded_traffic, and the counts that it shows."""

    def __init__(self, test, lost_keys, addresses):
        self._process = subprocess.Popen(
            [find_program("tests/client/sharded_traffic"), lost_keys,
             *addresses],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        test.addCleanup(self._process.stdout.close)
        test.addCleanup(self._process.stdin.close)
        test.addCleanup(self._process.kill)
        self._counts = None
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        wait_until(lambda: self._counts, 30, "the first counts")

    def _read(self):
        for line in self._process.stdout:
            numbers, _, error = line.rstrip("\n").partition(" first_error=")
            pairs = (pair.split("=") for pair in numbers.split())
            self._counts = {**{name: int(value) for name, value in pairs},
                            "first_error": error}

    def counts(self):
        assert self._process.poll() is None, self._process.returncode
        return self._counts

    def wait_for_more(self, name, more):
        goal = self.counts()[name] + more
        wait_until(lambda: self.counts()[name] >= goal, 60,
                   f"{more} more {name}")

    def wait_until_well(self):
        """500 calls on end of which none fails, is partial or misses a key."""
        def is_well():
            before = self.counts()
            wait_until(lambda: self.counts()["calls"] >= before["calls"] + 500,
                       60, "more calls")
            after = self.counts()
            return all(after[name] == before[name]
                       for name in ("failed", "partial", "missing"))
        wait_until(is_well, 60, "calls that are well")

    def end(self):
        self._process.stdin.close()
        assert self._process.wait(60) == 0
        self._reader.join()
        return self._counts


class CppTest(unittest.TestCase):

    def outlast_a_kill(self, lost_keys, name):
        """What is counted when a server is killed and started again."""
        servers = Servers(self)
        traffic = Traffic(self, lost_keys, servers.addresses)
        traffic.wait_until_well()
        servers.kill(1)
        traffic.wait_for_more(name, 20)
        servers.start(1)
        traffic.wait_until_well()
        counts = traffic.end()
        self.assertEqual(0, counts["wrong"], counts)
        self.assertGreater(counts["missing"], 0, counts)  # and written again
        return counts, servers

    def test_calls_fail_until_the_server_returns(self):
        counts, servers = self.outlast_a_kill("fail", "failed")
        self.assertEqual(0, counts["partial"], counts)
        self.assertIn(f"server {servers.addresses[1]}", counts["first_error"])

    def test_keys_are_missing_until_the_server_returns(self):
        counts, _ = self.outlast_a_kill("missing", "partial")
        self.assertEqual(0, counts["failed"], counts)


class PythonTest(unittest.TestCase):

    def setUp(self):
        self.servers = Servers(self)
        self.keys = np.arange(-500, 500)
        self.rows = np.random.default_rng(1).integers(
            -8, 9, (self.keys.size, DIM)).astype(np.float32)

    def connect(self, **options):
        client = gatherd.ShardedClient(self.servers.addresses, timeout=30,
                                       **options)
        self.addCleanup(client.close)
        return client

    def test_as_of_one_server(self):
        whole = Server(config_at(0))
        self.addCleanup(whole.close)
        one = gatherd.Client(whole.address)
        self.addCleanup(one.close)
        several = self.connect()
        results = [client.update_many([
            gatherd.Update(table, self.keys, self.rows)
            for table in ("words", "small")]) for client in (one, several)]
        for expected, found in zip(*results):
            self.assertEqual((expected.num_inserted, 0),
                             (found.num_inserted, found.revision))
        rng = np.random.default_rng(2)
        keys = rng.integers(-600, 600, 300)
        bags = {"offsets": np.sort(np.append(rng.integers(0, 300, 40), 0)),
                "weights": rng.integers(-2, 3, 300)}
        for request in (
                {"keys": keys}, {"keys": []},
                {"keys": np.abs(keys).astype(np.uint32)},
                {"keys": keys, "output_type": "float16"},
                {"keys": keys, "pooling": "sum", "offsets": bags["offsets"]},
                {"keys": keys, "pooling": "mean", "offsets": bags["offsets"]},
                {"keys": keys, "pooling": "sum", **bags},
                {"keys": keys, "pooling": "mean", **bags},
                {"keys": [], "pooling": "sum", "offsets": [0, 0]}):
            for table in ("words", "small"):
                lookup = {"table": table, **request}
                if "pooling" in request:
                    lookup["output_type"] = "float32"
                with self.subTest(lookup=lookup):
                    self.assert_same(one.lookup(**lookup),
                                     several.lookup(**lookup))
        pairs = [client.erase("words", keys) for client in (one, several)]
        self.assertEqual(pairs[0].num_erased, pairs[1].num_erased)

    def assert_same(self, expected, found):
        self.assertEqual(expected.data_type, found.data_type)
        self.assertEqual(expected.num_missing, found.num_missing)
        np.testing.assert_array_equal(expected.missing, found.missing)
        np.testing.assert_allclose(found.floats(), expected.floats(),
                                   rtol=1e-5, atol=1e-5)

    def test_a_killed_server(self):
        owners = rendezvous.owners(self.keys, self.servers.addresses)
        strict = self.connect(max_attempts=2)
        lenient = self.connect(max_attempts=2, lost_keys="missing")
        strict.update("words", self.keys, self.rows)
        self.assertEqual((), lenient.lookup("words", self.keys).lost_servers)
        self.servers.kill(2)
        with self.assertRaises(gatherd.GatherdError) as caught:
            strict.lookup("words", self.keys)
        self.assertIn(f"server {self.servers.addresses[2]}",
                      caught.exception.message)
        answer = lenient.lookup("words", self.keys)
        self.assertEqual((self.servers.addresses[2],), answer.lost_servers)
        np.testing.assert_array_equal(owners == 2, answer.missing)
        np.testing.assert_array_equal(
            np.where(answer.missing[:, None], 0, self.rows), answer.rows)
        alone = lenient.lookup("words", self.keys[owners == 2])
        self.assertEqual((int((owners == 2).sum()), DIM), alone.rows.shape)
        self.servers.start(2)
        strict.update("words", self.keys, self.rows, max_attempts=1000)
        for client in (strict, lenient):
            answer = client.lookup("words", self.keys, max_attempts=1000)
            self.assertEqual((), answer.lost_servers)
            np.testing.assert_array_equal(self.rows, answer.rows)
