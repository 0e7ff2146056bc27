"""A gRPC server that answers as a test says, and keeps what it was asked."""

from concurrent import futures
import unittest

import grpc

import gatherd


class FakeServer(grpc.GenericRpcHandler):
    """Asks answer(request bytes, context) for every call's reply."""

    def __init__(self, answer, credentials=None):
        self._answer = answer
        self.methods = []  # paths of calls, in their order
        self.metadata = []  # of each call
        self._server = grpc.server(futures.ThreadPoolExecutor(4),
                                   handlers=(self,))
        if credentials is None:
            port = self._server.add_insecure_port("127.0.0.1:0")
        else:
            port = self._server.add_secure_port("127.0.0.1:0", credentials)
        self.address = f"127.0.0.1:{port}"
        self._server.start()

    def close(self):
        self._server.stop(None).wait()

    def service(self, handler_call_details):
        self.methods.append(handler_call_details.method)
        self.metadata.append(dict(handler_call_details.invocation_metadata))
        return grpc.unary_unary_rpc_method_handler(self._answer)


class CallTestCase(unittest.TestCase):
    """Tests of a client over a server that answers as they say."""

    def connect(self, answer, credentials=None, **options):
        server = FakeServer(answer, credentials)
        self.addCleanup(server.close)
        client = gatherd.Client(server.address,
                                **{"backoff": gatherd.Backoff(0.001), **options})
        self.addCleanup(client.close)
        return server, client

    def assert_fails(self, code, call, text=""):
        with self.assertRaises(gatherd.GatherdError) as caught:
            call()
        self.assertEqual(code, caught.exception.code, caught.exception)
        self.assertIn(text, caught.exception.message)
