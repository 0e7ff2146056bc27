"""TLS and tokens."""

import tempfile

import grpc

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.client.python.fake_server import CallTestCase
from tests.integration.harness.certificates import Authority, read

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
INFO = pb.GetServerInfoResponse(version="7")


class CredentialsTest(CallTestCase):

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            ours, others = (Authority(folder, name)
                            for name in ("ours", "others"))
            cls.ours, cls.others = read(ours.certificate), read(
                others.certificate)
            server, client = ours.issue("server"), others.issue("client")
            cls.server = [(read(server.key), read(server.certificate))]
            cls.client = {"private_key": read(client.key),
                          "certificate": read(client.certificate)}

    def serve(self, client_roots=None, **options):
        credentials = grpc.ssl_server_credentials(
            self.server, client_roots,
            require_client_auth=client_roots is not None)
        return self.connect(lambda *_: INFO.SerializeToString(), credentials,
                            max_attempts=1, **options)

    def test_token_over_tls(self):
        for pem in (self.ours, self.ours.decode()):
            server, client = self.serve(root_certificates=pem, token="s3cret")
            self.assertEqual("7", client.info().version)
            self.assertEqual("Bearer s3cret",
                             server.metadata[0]["authorization"])

    def test_no_token_is_none(self):
        server, client = self.connect(lambda *_: INFO.SerializeToString())
        client.info()
        self.assertNotIn("authorization", server.metadata[0])

    def test_a_server_that_nobody_vouches_for(self):
        for options in ({"root_certificates": self.others}, {"tls": True}, {}):
            server, client = self.serve(**options)
            self.assert_fails(UNAVAILABLE, client.info)
            self.assertEqual([], server.methods)

    def test_certificate_of_the_client(self):
        _, client = self.serve(client_roots=self.others,
                               root_certificates=self.ours, **self.client)
        self.assertEqual("7", client.info().version)
        _, client = self.serve(client_roots=self.others,
                               root_certificates=self.ours)
        self.assert_fails(UNAVAILABLE, client.info)

    def test_name_in_the_servers_certificate(self):
        for name in (None, "localhost"):
            _, client = self.serve(root_certificates=self.ours,
                                   server_name=name)
            self.assertEqual("7", client.info().version)
        _, client = self.serve(root_certificates=self.ours, server_name="else")
        self.assert_fails(UNAVAILABLE, client.info)
