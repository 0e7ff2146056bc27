"""Bearer tokens: who may call what, and that tokens show nowhere."""

import os
import queue
import shutil
import tempfile

import grpc

from tests.integration.harness import (
    health, reflection_pb2, reflection_pb2_grpc)
from tests.integration.harness.api import (
    CALL_TIMEOUT_S, ApiTestCase, open_channel, pb, table_lookup)
from tests.integration.harness.exposition import scrape
from tests.integration.harness.process import (
    Server, config_of, gatherctl, gatherd, table_of, wait_until)
from tests.integration.harness.tokens import with_authorization, with_token

READER = "read-3f9a1c77e2"
WRITER = "write-b04d5e6612"
BOTH = "both-77c0ffee1d"
SECRETS = (READER, WRITER, BOTH)

UNAUTHENTICATED = grpc.StatusCode.UNAUTHENTICATED
PERMISSION_DENIED = grpc.StatusCode.PERMISSION_DENIED

READS = (("EmbeddingService", "Lookup"), ("EmbeddingService", "LookupStream"),
         ("TableService", "ListTables"), ("TableService", "GetServerInfo"))
WRITES = (("EmbeddingService", "Update"), ("EmbeddingService", "UpdateStream"),
          ("EmbeddingService", "Erase"))
# Whatever it is, it needs the right to write.
UNKNOWN = (("TableService", "DropEverything"), ("EmbeddingService", "lookup"))

# A file that changed is read after about a second.
ROTATION_TIMEOUT_S = 20


def write_file(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class TokenTestCase(ApiTestCase):

    def start(self, auth, log=None, **files):
        """A server with `auth`, and `files` beside its configuration."""
        folder = tempfile.mkdtemp(prefix="gatherd_test_")
        for name, text in files.items():
            write_file(os.path.join(folder, name), text)
        server = Server(
            config_of([table_of("words", 2, 100)], {"auth": auth},
                      log=log or {"level": "debug"}), folder=folder)
        self.addCleanup(server.close)
        return server

    def client_of(self, server, *authorization):
        channel = open_channel(server.address)
        if authorization:
            channel = with_authorization(channel, *authorization)
        return self.connect(server, channel)

    def code_of(self, client, method, request=b""):
        """How an empty call of (service, method) ends."""
        service, name = method
        try:
            if name.endswith("Stream"):
                client.raw_stream(name, [request])
            else:
                client.raw_unary(name, request, service)
            return grpc.StatusCode.OK
        except grpc.RpcError as error:
            for secret in SECRETS:
                self.assertNotIn(secret, error.details())
            return error.code()

    def becomes(self, client, method, code):
        wait_until(lambda: self.code_of(client, method) == code,
                   ROTATION_TIMEOUT_S, f"{method} {code}")


class RightsTest(TokenTestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp(prefix="gatherd_test_")
        write_file(os.path.join(folder, "r"), f"{READER}\n{BOTH}\n")
        write_file(os.path.join(folder, "w"), f"{WRITER}\n\n{BOTH}\n")
        cls.use(Server(
            config_of([table_of("words", 2, 100)],
                      {"auth": {"read_tokens_file": "r",
                                "write_tokens_file": "w"}},
                      log={"level": "debug"}), folder=folder,
            env={"GRPC_VERBOSITY": "debug"}))

    def check(self, methods, code, *authorization):
        client = self.client_of(self.server, *authorization)
        for method in methods:
            with self.subTest(method=method, authorization=authorization):
                self.assertEqual(self.code_of(client, method), code)

    def test_without_a_token_nothing_is_answered(self):
        self.check(READS + WRITES + UNKNOWN, UNAUTHENTICATED)

    def test_tokens_that_are_none_of_ours(self):
        for authorization in (
                "Bearer wrong", f"Bearer {READER}x", f"Bearer {READER[:-1]}",
                f"Bearer {READER.upper()}", f"Basic {READER}", READER,
                "Bearer", "Bearer ", f"Bearer {READER},{READER}"):
            self.check(READS[:1] + WRITES[:1], UNAUTHENTICATED, authorization)
        self.check(READS[:1], UNAUTHENTICATED,
                   f"Bearer {READER}", f"Bearer {READER}")

    def test_who_may_read_may_not_write(self):
        self.check(READS, grpc.StatusCode.OK, f"Bearer {READER}")
        self.check(WRITES + UNKNOWN, PERMISSION_DENIED, f"Bearer {READER}")

    def test_who_may_write_may_read(self):
        for token in (WRITER, BOTH):
            self.check(READS + WRITES, grpc.StatusCode.OK, f"Bearer {token}")
            self.check(UNKNOWN, grpc.StatusCode.UNIMPLEMENTED,
                       f"Bearer {token}")

    def test_the_scheme_may_be_written_in_any_case(self):
        self.check(READS[:1], grpc.StatusCode.OK, f"bearer {READER}")

    def test_health_needs_no_token(self):
        for authorization in ((), ("Bearer wrong",)):
            client = self.client_of(self.server, *authorization)
            for service in health.SERVICES:
                self.assertEqual(health.status(client, service), "SERVING")
        self.assertEqual(
            next(health.watch(self.client_of(self.server))), "SERVING")

    def test_pages_need_no_token(self):
        for path in ("/livez", "/readyz", "/metrics", "/", "/status.json"):
            self.assertEqual(self.server.http(path)[0], 200)

    def services(self, *authorization):
        client = self.client_of(self.server, *authorization)
        stub = reflection_pb2_grpc.ServerReflectionStub(client.channel)
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        return next(stub.ServerReflectionInfo(
            iter([request]), timeout=CALL_TIMEOUT_S))

    def test_reflection_needs_a_token_that_may_read(self):
        with self.assertFails(UNAUTHENTICATED):
            self.services()
        for token in (READER, WRITER):
            self.assertTrue(self.services(f"Bearer {token}")
                            .list_services_response.service)

    def test_refused_before_the_request_is_read(self):
        client = self.client_of(self.server)
        # Not a request, and larger than any may be.
        for request in (b"\xff" * 10, b"\xff" * (80 << 20)):
            self.assertEqual(
                self.code_of(client, WRITES[0], request), UNAUTHENTICATED)

    def test_refusals_are_counted(self):
        def counts():
            page = scrape(self.server)
            handled = page["grpc_server_handled_total"]
            return (page["gatherd_rejected_total"].value(
                        reason="unauthorized"),
                    handled.value(grpc_method="Update",
                                  grpc_code="Unauthenticated"),
                    handled.value(grpc_method="UpdateStream",
                                  grpc_code="PermissionDenied"),
                    page["grpc_server_started_total"].value(
                        grpc_method="Update"))
        before = counts()
        self.code_of(self.client_of(self.server), WRITES[0])
        self.code_of(self.client_of(self.server, f"Bearer {READER}"),
                     WRITES[1])
        self.code_of(self.client_of(self.server), UNKNOWN[0])
        self.assertEqual(counts(), (before[0] + 3, before[1] + 1,
                                    before[2] + 1, before[3] + 1))

    def test_no_refused_write_has_an_effect(self):
        for authorization in ((), (f"Bearer {READER}",)):
            with self.assertRaises(grpc.RpcError):
                self.client_of(self.server, *authorization).update(
                    "words", [7], [[1, 2]])
        reader = self.client_of(self.server, f"Bearer {READER}")
        self.assertEqual(reader.lookup("words", [7]).num_missing, 1)

    def test_gatherctl_brings_a_token(self):
        def run(name, *command):
            return gatherctl(
                f"--address={self.server.address}",
                f"--token-file={os.path.join(self.server.folder, name)}",
                *command)
        self.assertEqual(run("w", "update", "words", "1=1,2").returncode, 0)
        self.assertEqual(run("r", "lookup", "words", "1").returncode, 0)
        refused = run("r", "erase", "words", "1")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("PERMISSION_DENIED", refused.stderr)
        self.assertNotIn(READER, refused.stdout + refused.stderr)
        # On this machine nobody else can listen: no warning.
        self.assertNotIn("warning", run("r", "info").stderr)

    def test_tokens_show_nowhere(self):
        for token in SECRETS + ("stranger-55d2",):
            client = self.client_of(self.server, f"Bearer {token}")
            for method in READS + WRITES + UNKNOWN:
                self.code_of(client, method)
        check = gatherd(f"--config={self.server.config_path}", "--check")
        self.assertEqual(check.returncode, 0, check.stderr)
        self.assertIn('read_tokens_file: "', check.stdout)
        places = {"log": self.server.log(), "--check": check.stdout,
                  "stderr of --check": check.stderr}
        for path in ("/", "/metrics", "/readyz", "/status.json"):
            places[path] = self.server.http(path)[1]
        for place, text in places.items():
            for token in SECRETS + ("stranger-55d2",):
                self.assertNotIn(token, text, place)
        self.assertIn('"code":"UNAUTHENTICATED"', places["/status.json"])
        self.assertIn("tokens read may_read=2 may_write=2", self.server.log())

    def test_tokens_in_the_clear_are_warned_of(self):
        self.assertRegex(self.server.log(),
                         r"\[warning\] tokens travel in the clear")


class OneFileTest(TokenTestCase):

    def test_without_read_tokens_writers_read(self):
        server = self.start({"write_tokens_file": "w"}, w=WRITER)
        client = self.client_of(server)
        writer = self.connect(
            server, with_token(open_channel(server.address), WRITER))
        for method in READS + WRITES:
            self.assertEqual(self.code_of(client, method), UNAUTHENTICATED)
            self.assertEqual(self.code_of(writer, method), grpc.StatusCode.OK)

    def test_without_write_tokens_nobody_writes(self):
        server = self.start({"read_tokens_file": "r"}, r=READER)
        reader = self.client_of(server, f"Bearer {READER}")
        for method in READS:
            self.assertEqual(self.code_of(reader, method), grpc.StatusCode.OK)
        for method in WRITES:
            self.assertEqual(self.code_of(reader, method), PERMISSION_DENIED)

    def test_an_empty_file_lets_nobody_in(self):
        server = self.start({"read_tokens_file": "r"}, r="\n")
        self.assertIn("no token is known", server.log())
        for authorization in ((), ("Bearer ",), (f"Bearer {READER}",)):
            client = self.client_of(server, *authorization)
            self.assertEqual(self.code_of(client, READS[0]), UNAUTHENTICATED)
        self.assertEqual(health.status(self.client_of(server)), "SERVING")


class RotationTest(TokenTestCase):

    def test_tokens_change_while_the_server_runs(self):
        server = self.start({"read_tokens_file": "r",
                             "write_tokens_file": "w"}, r=READER, w=WRITER)
        path = os.path.join(server.folder, "r")
        old = self.client_of(server, f"Bearer {READER}")
        new = self.client_of(server, "Bearer next-token")
        self.assertEqual(self.code_of(new, READS[0]), UNAUTHENTICATED)

        with self.subTest("both during the change, then the new one alone"):
            write_file(path, f"{READER}\nnext-token\n")
            self.becomes(new, READS[0], grpc.StatusCode.OK)
            self.assertEqual(self.code_of(old, READS[0]), grpc.StatusCode.OK)
            write_file(path, "next-token\n")
            self.becomes(old, READS[0], UNAUTHENTICATED)

        with self.subTest("a file that is wrong changes nothing"):
            write_file(path, "fine\nnot a token\n")
            wait_until(lambda: f"{path}:2: " in server.log(),
                       ROTATION_TIMEOUT_S, "a line in the log")
            self.assertIn("tokens not read again", server.log())
            stale = scrape(server)["gatherd_access_files_stale"]
            self.assertEqual(stale.value(files="auth"), 1)
            self.assertEqual(stale.value(files="tls"), 0)
            self.assertNotIn("not a token", server.log())
            self.assertEqual(self.code_of(new, READS[0]), grpc.StatusCode.OK)

        with self.subTest("nor does one that is gone"):
            os.remove(path)
            wait_until(lambda: "No such file" in server.log(),
                       ROTATION_TIMEOUT_S, "a line in the log")
            self.assertEqual(self.code_of(new, READS[0]), grpc.StatusCode.OK)

        with self.subTest("a link that is switched, as Kubernetes does"):
            write_file(os.path.join(server.folder, "mounted"), READER)
            os.symlink("mounted", path + ".next")
            os.rename(path + ".next", path)
            self.becomes(old, READS[0], grpc.StatusCode.OK)
            self.assertEqual(self.code_of(new, READS[0]), UNAUTHENTICATED)
            self.assertEqual(scrape(server)["gatherd_access_files_stale"]
                             .value(files="auth"), 0)

        with self.subTest("an empty file lets nobody in"):
            write_file(os.path.join(server.folder, "mounted"), "")
            self.becomes(old, READS[0], UNAUTHENTICATED)
            writer = self.client_of(server, f"Bearer {WRITER}")
            self.assertEqual(self.code_of(writer, READS[0]),
                             grpc.StatusCode.OK)

    def test_a_stream_outlives_the_token_that_began_it(self):
        server = self.start({"read_tokens_file": "r"}, r=READER)
        client = self.client_of(server, f"Bearer {READER}")
        request = pb.LookupRequest(lookups=[table_lookup("words", [1])])
        requests = queue.Queue()
        replies = client.embeddings.LookupStream(
            iter(requests.get, None), timeout=CALL_TIMEOUT_S)
        requests.put(request)
        next(replies)
        write_file(os.path.join(server.folder, "r"), "other\n")
        self.becomes(client, READS[0], UNAUTHENTICATED)
        requests.put(request)
        self.assertEqual(next(replies).results[0].num_missing, 1)
        requests.put(None)
        self.assertEqual(list(replies), [])


class StartTest(TokenTestCase):

    def test_files_that_are_wrong_end_the_start(self):
        folder = tempfile.mkdtemp(prefix="gatherd_test_")
        self.addCleanup(shutil.rmtree, folder)
        tokens = os.path.join(folder, "tokens")
        write_file(tokens, f"{READER}\n{WRITER} x\n")
        for path, place in ((tokens, f"{tokens}:2: "),
                            ("absent", r"gatherd\.yaml:\d+:\d+: ")):
            config = os.path.join(folder, "gatherd.yaml")
            write_file(config, "tables: []\nserver:\n  auth: "
                       f"{{write_tokens_file: {path}}}\n")
            for args in ([], ["--check"]):
                with self.subTest(path=path, args=args):
                    result = gatherd(f"--config={config}", *args)
                    self.assertEqual(result.returncode, 2, result.stderr)
                    self.assertRegex(result.stderr, place)
                    self.assertIn(path, result.stderr)
                    for secret in SECRETS:
                        self.assertNotIn(secret, result.stderr)
