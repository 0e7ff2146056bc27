"""examples/service_config.json: what it repeats and what not, and what
docs/scaling.md quotes of it and of the programs that take it."""

import collections
import concurrent.futures
import json
import re
import subprocess
import sys
import textwrap
import threading
import unittest

import grpc

from tests.integration.harness.process import find_program

FILE = "examples/service_config.json"
DOC = "docs/scaling.md"
EXAMPLES = "examples/several_servers"
SERVICES = "gatherd.v1."
SERVING = b"\x08\x01"  # HealthCheckResponse{status: SERVING}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class FailingServer(grpc.GenericRpcHandler):
    """Of each method every second call fails, with UNAVAILABLE or `code`."""

    def __init__(self):
        self.code = grpc.StatusCode.UNAVAILABLE
        self.num_calls = collections.Counter()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
        self._server.add_generic_rpc_handlers([self])
        port = self._server.add_insecure_port("127.0.0.1:0")
        self.target = f"ipv4:127.0.0.1:{port}"
        self._server.start()

    def service(self, details):
        if details.method == "/grpc.health.v1.Health/Watch":
            return grpc.unary_stream_rpc_method_handler(self._watch)
        return grpc.unary_unary_rpc_method_handler(
            lambda request, context: self._answer(details.method, context))

    def _watch(self, _, context):
        yield SERVING
        context.add_callback(self._ended.set)
        self._ended.wait()

    def _answer(self, method, context):
        with self._lock:
            self.num_calls[method] += 1
            fails = self.num_calls[method] % 2 == 1
        if fails:
            context.abort(self.code, "the test says so")
        return b""

    def close(self):
        self._ended.set()
        self._server.stop(0).wait()


class ServiceConfigTest(unittest.TestCase):

    def setUp(self):
        self.server = FailingServer()
        self.addCleanup(self.server.close)
        self.channel = grpc.insecure_channel(self.server.target, [
            ("grpc.service_config", read(FILE)),
            ("grpc.enable_http_proxy", 0)])
        self.addCleanup(self.channel.close)

    def call(self, method):
        self.channel.unary_unary("/" + SERVICES + method)(b"", timeout=30)

    def num_calls(self, method):
        return self.server.num_calls["/" + SERVICES + method]

    def test_what_may_be_repeated_is(self):
        for code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN):
            self.server.code = code
            self.server.num_calls.clear()
            for method in ("EmbeddingService/Lookup", "EmbeddingService/Erase",
                           "TableService/ListTables",
                           "TableService/GetServerInfo"):
                self.call(method)
                self.assertEqual(2, self.num_calls(method), (code, method))

    def test_updates_are_not_repeated(self):
        with self.assertRaises(grpc.RpcError) as caught:
            self.call("EmbeddingService/Update")
        self.assertEqual(grpc.StatusCode.UNAVAILABLE, caught.exception.code())
        self.assertEqual(1, self.num_calls("EmbeddingService/Update"))

    def test_no_other_code_is_repeated(self):
        for code in (grpc.StatusCode.RESOURCE_EXHAUSTED,
                     grpc.StatusCode.INTERNAL):
            self.server.code = code
            self.server.num_calls.clear()
            with self.assertRaises(grpc.RpcError):
                self.call("EmbeddingService/Lookup")
            self.assertEqual(1, self.num_calls("EmbeddingService/Lookup"))

    def test_examples_lose_no_call(self):
        for command in ([find_program(f"{EXAMPLES}/follow")],
                        [sys.executable, f"{EXAMPLES}/follow.py"]):
            self.server.num_calls.clear()
            result = subprocess.run(
                [*command, self.server.target, FILE, "1"], timeout=60,
                capture_output=True, text=True, check=False)
            printed = re.fullmatch(r"(\d+) calls, 0 failed\n", result.stdout)
            self.assertTrue(printed, result.stdout + result.stderr)
            self.assertEqual(2 * int(printed.group(1)),
                             self.num_calls("EmbeddingService/Lookup"))


class DocumentTest(unittest.TestCase):

    def quote(self, language):
        """The only block of a language there, without its indentation."""
        section = read(DOC).split("\n## Callers of several servers\n")[1]
        block, = re.findall(rf"^ *```{re.escape(language)}\n(.*?)^ *```$",
                            section.split("\n## ")[0],
                            re.DOTALL | re.MULTILINE)
        return textwrap.dedent(block)

    def test_quotes_the_file(self):
        self.assertEqual(json.loads(read(FILE)),
                         json.loads(self.quote("json")))

    def test_quotes_the_programs(self):
        for language, name in (("python", "follow.py"), ("c++", "follow.cc"),
                               ("java", "Follow.java"), ("go", "follow.go")):
            wanted = self.quote(language).splitlines()
            lines = read(f"{EXAMPLES}/{name}").expandtabs(4).splitlines()
            self.assertTrue(any(
                textwrap.dedent("\n".join(lines[i:i + len(wanted)]))
                .splitlines() == wanted for i in range(len(lines))), language)
