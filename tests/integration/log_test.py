"""The log, as text and as JSON, and those who should read it."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile

import grpc

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness import certificates
from tests.integration.harness.api import (
    ApiTestCase, Client, open_channel, table_update)
from tests.integration.harness.process import (
    Server, config_of, find_program, free_port, table_of, wait_until)


class LogTest(ApiTestCase):

    def serve(self, **log):
        with Server(config_of([table_of("words", 2, 10)], log=log)) as server:
            client = self.connect(server)
            client.update("words", [1], [[1, 2]])
            for name in ("absent", 'a "quoted"\nname\\', "\u00e4"):
                with self.assertFails(grpc.StatusCode.NOT_FOUND):
                    client.lookup(name, [1])
            self.assertEqual(server.stop(), 0)
            return server.log()

    def test_every_line_of_a_json_log_is_one_object(self):
        lines = self.serve(format="json", level="debug").splitlines()
        self.assertGreater(len(lines), 2)
        for line in lines:
            self.assertIsInstance(json.loads(line), dict, line)

    def test_every_line_of_a_text_log_has_time_and_level(self):
        for line in self.serve(format="text", level="debug").splitlines():
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT[\d:.]+Z \[[a-z]+\] ")

    def test_addresses_are_announced_at_every_level(self):
        for level in ("warning", "error"):
            self.assertIn("listening on", self.serve(level=level))


class LogReaderTest(ApiTestCase):
    """Where the log goes there is nobody who takes it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gatherd_test_")
        self.addCleanup(shutil.rmtree, self.folder)
        self.address = f"127.0.0.1:{free_port()}"

    def start(self, server=None, **options):
        path = os.path.join(self.folder, "gatherd.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config_of([table_of("t", 2, 10)], {
                "address": self.address, **(server or {})}), file)
        process = subprocess.Popen(
            [find_program("server/gatherd"), f"--config={path}"], **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(self.open_connection, 60, "listening").close()
        return process

    def open_connection(self):
        host, port = self.address.split(":")
        with contextlib.suppress(ConnectionRefusedError):
            return socket.create_connection((host, int(port)))
        return None

    def assert_serves(self, credentials=None):
        client = Client(
            self.address, open_channel(self.address, credentials))
        self.addCleanup(client.close)
        request = pb.UpdateRequest(
            updates=[table_update("t", [1], [[1, 2]])])

        def update():
            try:
                return client.embeddings.Update(request, timeout=20)
            except grpc.RpcError as error:
                # Ports are open before tables are there.
                if error.code() == grpc.StatusCode.UNAVAILABLE:
                    return None
                raise
        reply = wait_until(update, 60, "the table is there")
        self.assertEqual(reply.results[0].num_inserted, 1)

    def test_calls_and_the_end_wait_for_no_reader(self):
        authority = certificates.Authority(self.folder)
        identity = authority.issue("server")
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        process = self.start({"tls": {
            "certificate": identity.certificate, "key": identity.key}},
            stderr=writer)
        os.close(writer)
        with open(f"/proc/self/fd/{reader}", "wb", buffering=0) as filler:
            os.set_blocking(filler.fileno(), False)
            while filler.write(b"x"):
                pass
        # A line each: no thread that serves calls may wait for it.
        for _ in range(40):
            with self.open_connection() as connection:
                connection.sendall(b"no TLS\n" * 20)
                with contextlib.suppress(ConnectionResetError):
                    connection.recv(1)
        self.assert_serves(grpc.ssl_channel_credentials(
            certificates.read(authority.certificate)))
        process.terminate()
        self.assertEqual(process.wait(30), 0)

    def test_a_pipe_without_a_reader(self):
        reader, writer = os.pipe()
        os.close(reader)
        process = self.start(stderr=writer)
        os.close(writer)
        self.assert_serves()
        process.terminate()
        self.assertEqual(process.wait(30), 0)

    def test_closed_streams_are_not_taken_for_connections(self):
        process = self.start(close_fds=False, preexec_fn=lambda: [
            os.close(fd) for fd in (0, 1, 2)])
        # 0 may be a library's, which is there before main.
        for fd in (1, 2):
            self.assertEqual(
                os.readlink(f"/proc/{process.pid}/fd/{fd}"), "/dev/null")
