"""How gatherd starts, or refuses to: exit codes, texts, addresses."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

import grpc

from tests.integration.harness.api import ApiTestCase
from tests.integration.harness.process import (
    NO_GPU, Server, config_of, find_program, gatherd, table_of)

TABLES = [table_of("words", 100, "10M", tier="gpu"),
          table_of("items", 32, "1M", "dense", data_type="float16")]


class CommandLineTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gatherd_test_")
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, config):
        path = os.path.join(self.folder, "gatherd.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(config if isinstance(config, str)
                       else json.dumps(config))
        return path

    def test_version(self):
        result = gatherd("--version")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"^gatherd \d+\.\d+\.\d+")

    def test_help(self):
        result = gatherd("--help")
        self.assertEqual(result.returncode, 0)
        for flag in ("--config", "--check", "--version", "--gpus"):
            self.assertIn(flag, result.stdout)

    def test_bad_flags(self):
        path = self.write(config_of([]))
        for args in ([], ["--nothing"], [f"--config={path}", "--nothing"],
                     [f"--config={path}", "word"], ["--config"],
                     [f"--config={path}", "--check", "--gpus=none"],
                     [f"--config={path}", "--check=maybe"]):
            with self.subTest(args=args):
                result = gatherd(*args)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertNotEqual(result.stderr.strip(), "")

    def test_missing_file(self):
        path = os.path.join(self.folder, "absent.yaml")
        for args in ([f"--config={path}"], [f"--config={path}", "--check"],
                     [f"--config={self.folder}"]):
            result = gatherd(*args)
            self.assertEqual(result.returncode, 2)
            self.assertIn(args[0][len("--config="):], result.stderr)

    def test_check_prints_configuration_and_memory(self):
        path = self.write(config_of(TABLES, devices="auto"))
        result = gatherd(f"--config={path}", "--check")
        self.assertEqual(result.returncode, 0, result.stderr)
        for text in ("words", "items", "10M", "1M", "max_message_bytes",
                     "default_row"):
            self.assertIn(text, result.stdout)
        numbers = [int(n.replace(",", "")) for n in
                   re.findall(r"\b\d[\d,]*\d\b", result.stdout)]
        self.assertTrue(
            any(4 * 10 ** 9 <= n <= 1.05 * 4e9 + 32e7 for n in numbers),
            result.stdout)
        self.assertNotIn("listening on", result.stdout + result.stderr)

    def test_check_never_asks_for_a_gpu(self):
        for devices in ("cuda", [0, 1]):
            path = self.write(config_of(TABLES, devices=devices))
            result = gatherd(f"--config={path}", "--check", "--gpus=8",
                             env=NO_GPU)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_check_refuses_what_a_start_refuses(self):
        path = self.write("tables: 7\n")
        result = gatherd(f"--config={path}", "--check")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"gatherd\.yaml:1:\d+: ")

    def test_a_signal_while_the_configuration_is_read_is_a_clean_stop(self):
        path = os.path.join(self.folder, "gatherd.yaml")
        os.mkfifo(path)
        for number in (signal.SIGTERM, signal.SIGINT):
            process = subprocess.Popen(
                [find_program("server/gatherd"), f"--config={path}"],
                env={**os.environ, **NO_GPU}, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True)
            self.addCleanup(process.kill)
            with open(path, "w", encoding="utf-8") as file:
                # Here gatherd has opened it.
                process.send_signal(number)
                json.dump(config_of([table_of("t", 2, 10, tier="host")],
                                    devices="cpu"), file)
            log = process.communicate(timeout=60)[0]
            self.assertEqual(process.returncode, 0, log)
            self.assertIn("stopped", log)

    def test_a_gpu_is_demanded_and_there_is_none(self):
        for devices in ("cuda", [0]):
            path = self.write(config_of([], devices=devices))
            result = gatherd(f"--config={path}", env=NO_GPU)
            self.assertEqual(result.returncode, 3, result.stderr)


class AddressTest(ApiTestCase):

    def refused(self, config, *texts, env=None, code=1):
        server = Server(config, env=env, start=False)
        self.addCleanup(server.close)
        self.assertEqual(server.wait_exit(), code, server.log())
        for text in texts:
            self.assertIn(text, server.log())

    def test_address_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            self.refused(config_of([], {"address": address}), address)
            self.refused(config_of([], {"metrics_address": address}), address)

    def test_address_of_another_gatherd(self):
        with Server(config_of([])) as server:
            for key, address in (("address", server.address),
                                 ("metrics_address",
                                  server.metrics_address)):
                self.refused(config_of([], {key: address}), address)
            self.assertEqual(server.http("/livez")[0], 200)

    def test_address_of_another_machine(self):
        self.refused(config_of([], {"address": "192.0.2.1:7400"}),
                     "192.0.2.1:7400")

    def test_unix_socket(self):
        folder = tempfile.mkdtemp(prefix="gatherd_test_")
        address = f"unix:{folder}/socket"
        with Server(config_of([table_of("t", 2, 10)], {"address": address}),
                    folder=folder) as server:
            self.assertEqual(server.address, address)
            client = self.connect(server)
            client.update("t", [1], [[1, 2]])
            self.assertRows(client.rows("t", [1]), [[1, 2]])
            self.assertEqual(server.stop(), 0)

    def test_unix_socket_left_behind_by_a_killed_server(self):
        folder = tempfile.mkdtemp(prefix="gatherd_test_")
        self.addCleanup(shutil.rmtree, folder)
        config = config_of([], {"address": f"unix:{folder}/socket"})
        with Server(config) as server:
            self.refused(config, f"{folder}/socket")  # it has an owner
            server.process.kill()
            server.wait_exit()
        with Server(config) as server:
            self.assertEqual(server.stop(), 0)

    def test_port_zero_picks_free_ports(self):
        with Server(config_of([])) as one, Server(config_of([])) as two:
            addresses = [a for server in (one, two)
                         for a in (server.address, server.metrics_address)]
            self.assertEqual(len(set(addresses)), 4)
            for address in addresses:
                self.assertRegex(address, r"^127\.0\.0\.1:[1-9]\d*$")
            for server in (one, two):
                lines = server.log().splitlines()
                for words in ("listening on", "metrics on"):
                    self.assertEqual(
                        sum(words in line for line in lines), 1)

    def test_environment_overrides(self):
        env = {"GATHERD_SERVER_MAX_KEYS_PER_REQUEST": "3",
               "GATHERD_SERVER_METRICS_ADDRESS": "127.0.0.1:0",
               "GATHERD_SERVER_MAX_MESSAGE_BYTES": "2MiB"}
        config = config_of([table_of("t", 2, 10)], {
            "metrics_address": "192.0.2.1:7401", "max_keys_per_request": 5})
        with Server(config, env=env) as server:
            client = self.connect(server)
            client.lookup("t", [1, 2, 3])
            with self.assertFails(grpc.StatusCode.INVALID_ARGUMENT, 4, 3):
                client.lookup("t", [1, 2, 3, 4])

    def test_environment_with_an_impossible_value(self):
        for name, value in (("GATHERD_SERVER_MAX_KEYS_PER_REQUEST", "many"),
                            ("GATHERD_SERVER_DRAIN_DELAY", "-1s"),
                            ("GATHERD_SERVER_DRAIN_DELAY", "5")):
            self.refused(config_of([]), name, env={name: value}, code=2)

    def test_no_tables(self):
        with Server(config_of([])) as server:
            client = self.connect(server)
            with self.assertFails(grpc.StatusCode.NOT_FOUND, "words"):
                client.lookup("words", [1])
            self.assertEqual(server.stop(), 0)

    def test_auto_without_a_gpu_warns_and_serves(self):
        with Server(config_of([table_of("t", 2, 10, tier="gpu")],
                              devices="auto"), env=NO_GPU) as server:
            info = self.connect(server).table_info("t")
            self.assertEqual([t.kind for t in info.tiers], ["gpu"])
            self.assertIn("warn", server.log().lower())
