"""TLS: who is believed, who is let in, and certificates that change."""

import contextlib
import os
import shutil
import socket
import ssl
import tempfile
import time

import grpc

from tests.integration.harness import health
from tests.integration.harness.api import ApiTestCase, open_channel
from tests.integration.harness.certificates import Authority, read
from tests.integration.harness.exposition import scrape
from tests.integration.harness.process import (
    Server, config_of, gatherctl, gatherd, table_of, wait_until)

# A file that changed is read after about a second.
ROTATION_TIMEOUT_S = 20
HANDSHAKE_TIMEOUT_S = 5


def shown_certificate(server):
    """The certificate that a new connection gets, as PEM."""
    host, port = server.address.split(":")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    with socket.create_connection((host, int(port))) as connection:
        with context.wrap_socket(connection) as wrapped:
            return ssl.DER_cert_to_PEM_cert(wrapped.getpeercert(True))


def first_certificate(path):
    text = read(path).decode()
    return text[text.index("-----BEGIN"):]


class TlsTestCase(ApiTestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="gatherd_test_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.authority = Authority(cls.folder)
        cls.stranger = Authority(cls.folder, "stranger")
        cls.identity = cls.authority.issue("server")
        cls.client_identity = cls.authority.issue("client")

    def start(self, tls, **settings):
        server = Server(config_of([table_of("words", 2, 100)],
                                  {"tls": tls, **settings},
                                  log={"level": "debug"}))
        self.addCleanup(server.close)
        return server

    def connect_with(self, server, authority, identity=None):
        credentials = grpc.ssl_channel_credentials(
            read(authority.certificate),
            *(() if identity is None
              else (read(identity.key), read(identity.certificate))))
        return self.connect(
            server, open_channel(server.address, credentials))

    def assertRefused(self, client):
        stub = client.channel.unary_unary(
            "/gatherd.v1.TableService/GetServerInfo")
        with self.assertRaises(grpc.RpcError) as caught:
            stub(b"", timeout=HANDSHAKE_TIMEOUT_S)
        self.assertEqual(
            caught.exception.code(), grpc.StatusCode.UNAVAILABLE)

    def ctl(self, server, *args):
        return gatherctl(f"--address={server.address}", "--timeout=5s", *args)


class TlsTest(TlsTestCase):

    def test_who_trusts_the_authority_is_served(self):
        server = self.start({"certificate": self.identity.certificate,
                             "key": self.identity.key})
        client = self.connect_with(server, self.authority)
        client.update("words", [1], [[1, 2]])
        self.assertRows(client.rows("words", [1]), [[1, 2]])
        self.assertEqual(health.status(client), "SERVING")
        # A certificate that nobody asks for changes nothing.
        self.connect_with(server, self.authority,
                          self.client_identity).lookup("words", [1])
        self.assertRefused(self.connect_with(server, self.stranger))
        self.assertRefused(self.connect(server))  # plaintext

        ca = f"--ca={self.authority.certificate}"
        self.assertEqual(
            self.ctl(server, ca, "lookup", "words", "1").returncode, 0)
        self.assertEqual(
            self.ctl(server, f"--ca={self.stranger.certificate}",
                     "info").returncode, 1)
        self.assertEqual(self.ctl(server, "info").returncode, 1)

        for path in ("/metrics", "/readyz"):  # HTTP stays plain
            self.assertEqual(server.http(path)[0], 200)
        expiry = scrape(server)[
            "gatherd_tls_certificate_expiry_timestamp_seconds"].value()
        self.assertAlmostEqual(expiry, time.time() + 2 * 86400, delta=3600)
        key = read(self.identity.key).decode()
        self.assertNotIn(key.splitlines()[1], server.log())
        self.assertEqual(server.stop(), 0)

    def test_old_versions_of_tls_are_refused(self):
        server = self.start({"certificate": self.identity.certificate,
                             "key": self.identity.key})
        host, port = server.address.split(":")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_ciphers("DEFAULT@SECLEVEL=0")
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
        with socket.create_connection((host, int(port))) as connection:
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                context.wrap_socket(connection)

    def test_strangers_neither_fill_the_log_nor_stay(self):
        server = self.start({"certificate": self.identity.certificate,
                             "key": self.identity.key})
        host, port = server.address.split(":")
        began = time.monotonic()
        with socket.create_connection((host, int(port))) as silent:
            for _ in range(200):
                with socket.create_connection((host, int(port))) as stranger:
                    stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
                    stranger.settimeout(HANDSHAKE_TIMEOUT_S)
                    with contextlib.suppress(ConnectionError):
                        while stranger.recv(1000):
                            pass
            seconds = time.monotonic() - began
            self.assertIn("Handshake failed", server.log())
            self.assertLessEqual(server.log().count("Handshake failed"),
                                 10 * (seconds + 2))
            self.connect_with(server, self.authority).lookup("words", [1])
            silent.settimeout(20)
            self.assertEqual(silent.recv(1), b"")  # it is hung up on
        self.assertLess(time.monotonic() - began, 15)

    def test_an_expired_certificate_is_said_and_not_believed(self):
        expired = self.authority.issue("expired", days=-1)
        server = self.start({"certificate": expired.certificate,
                             "key": expired.key})
        self.assertRegex(server.log(), r"\[warning\] the certificate is out of "
                         "date.*expired")
        self.assertRefused(self.connect_with(server, self.authority))


class MutualTlsTest(TlsTestCase):

    def test_who_has_a_certificate_is_let_in(self):
        server = self.start({"certificate": self.identity.certificate,
                             "key": self.identity.key,
                             "client_ca": self.authority.certificate})
        client = self.connect_with(
            server, self.authority, self.client_identity)
        client.update("words", [1], [[1, 2]])
        self.assertRows(client.rows("words", [1]), [[1, 2]])
        for identity in (None, self.stranger.issue("client"),
                         self.authority.issue("late", days=-1)):
            with self.subTest(identity=identity):
                self.assertRefused(
                    self.connect_with(server, self.authority, identity))

        ca = f"--ca={self.authority.certificate}"
        known = self.ctl(server, ca,
                         f"--cert={self.client_identity.certificate}",
                         f"--key={self.client_identity.key}", "tables")
        self.assertEqual(known.returncode, 0, known.stderr)
        self.assertEqual(self.ctl(server, ca, "tables").returncode, 1)


class RotationTest(TlsTestCase):

    def setUp(self):
        self.live = tempfile.mkdtemp(prefix="gatherd_test_")
        self.addCleanup(shutil.rmtree, self.live)
        self.tls = {"certificate": os.path.join(self.live, "tls.crt"),
                    "key": os.path.join(self.live, "tls.key"),
                    "client_ca": os.path.join(self.live, "ca.crt")}

    def install(self, identity):
        shutil.copy(identity.certificate, self.tls["certificate"])
        shutil.copy(identity.key, self.tls["key"])

    def shows(self, server, identity):
        expected = first_certificate(identity.certificate)
        wait_until(lambda: shown_certificate(server) == expected,
                   ROTATION_TIMEOUT_S, f"{identity} is shown")

    def stale(self, server):
        return scrape(server)["gatherd_access_files_stale"].value(files="tls")

    def logs(self, server, text):
        wait_until(lambda: text in server.log(), ROTATION_TIMEOUT_S,
                   f"{text} in the log")

    def test_certificates_change_while_the_server_runs(self):
        del self.tls["client_ca"]
        self.install(self.identity)
        server = self.start(self.tls)
        self.shows(server, self.identity)
        before = self.connect_with(server, self.authority)
        before.update("words", [1], [[1, 2]])

        renewed = self.authority.issue("renewed")
        self.install(renewed)
        self.shows(server, renewed)
        # The connection that stands goes on, new ones come in.
        self.assertRows(before.rows("words", [1]), [[1, 2]])
        self.connect_with(server, self.authority).lookup("words", [1])

        with self.subTest("a key of another certificate changes nothing"):
            shutil.copy(self.identity.key, self.tls["key"])
            self.logs(server, f"{self.tls['key']}: is not the key of")
            self.assertEqual(self.stale(server), 1)
            self.shows(server, renewed)
            self.connect_with(server, self.authority).lookup("words", [1])
        with self.subTest("nor does a file that is no certificate"):
            with open(self.tls["certificate"], "wb") as file:
                file.write(b"-----BEGIN CERTIFICATE-----\nbroken")
            self.logs(server, f"{self.tls['certificate']}: ")
            self.shows(server, renewed)
        with self.subTest("nor does one that is gone"):
            os.remove(self.tls["certificate"])
            self.logs(server, "No such file")
            self.shows(server, renewed)
        with self.subTest("what is whole again is taken"):
            self.install(self.identity)
            self.shows(server, self.identity)
            self.assertEqual(self.stale(server), 0)
            self.connect_with(server, self.authority).lookup("words", [1])
        self.assertRows(before.rows("words", [1]), [[1, 2]])
        self.assertEqual(server.stop(), 0)

    def test_another_authority_vouches_for_clients(self):
        self.install(self.identity)
        shutil.copy(self.authority.certificate, self.tls["client_ca"])
        server = self.start(self.tls)
        newcomer = self.stranger.issue("newcomer")
        before = self.connect_with(
            server, self.authority, self.client_identity)
        before.lookup("words", [1])
        self.assertRefused(self.connect_with(server, self.authority, newcomer))

        shutil.copy(self.stranger.certificate, self.tls["client_ca"])

        def let_in():
            try:
                self.connect_with(server, self.authority, newcomer).lookup(
                    "words", [1])
                return True
            except grpc.RpcError:
                return False
        wait_until(let_in, ROTATION_TIMEOUT_S, "the newcomer is let in")
        self.assertRefused(self.connect_with(
            server, self.authority, self.client_identity))
        before.lookup("words", [1])  # its connection stands


class StartTest(TlsTestCase):

    def test_files_that_are_wrong_end_the_start(self):
        other = self.authority.issue("other")
        text = os.path.join(self.folder, "text")
        with open(text, "w", encoding="utf-8") as file:
            file.write("no PEM\n")
        good = {"certificate": self.identity.certificate,
                "key": self.identity.key}
        for change in ({"certificate": text}, {"key": text},
                       {"key": other.key}, {"client_ca": text},
                       {"key": "/absent/key"}, {"client_ca": self.folder}):
            tls = {**good, **change}
            server = Server(config_of([], {"tls": tls}), start=False)
            self.addCleanup(server.close)
            check = gatherd(f"--config={server.config_path}", "--check")
            with self.subTest(change=change):
                self.assertEqual(server.wait_exit(), 2, server.log())
                self.assertEqual(check.returncode, 2, check.stderr)
                for path in change.values():
                    self.assertIn(path, server.log())
                    self.assertIn(path, check.stderr)

    def test_check_prints_paths_and_no_more(self):
        server = self.start({"certificate": self.identity.certificate,
                             "key": self.identity.key})
        check = gatherd(f"--config={server.config_path}", "--check")
        self.assertEqual(check.returncode, 0, check.stderr)
        self.assertIn(self.identity.key, check.stdout)
        self.assertNotIn("PRIVATE", check.stdout + check.stderr)
        self.assertNotIn("BEGIN", check.stdout + check.stderr)
