"""Calls with an `authorization` header."""

import grpc


class _WithHeaders(grpc.UnaryUnaryClientInterceptor,
                   grpc.StreamStreamClientInterceptor):

    def __init__(self, headers):
        self._headers = headers

    def _details(self, details):
        metadata = list(details.metadata or ()) + self._headers
        return details._replace(metadata=metadata)

    def intercept_unary_unary(self, continuation, client_call_details,
                              request):
        return continuation(self._details(client_call_details), request)

    def intercept_stream_stream(self, continuation, client_call_details,
                                request_iterator):
        return continuation(
            self._details(client_call_details), request_iterator)


def with_authorization(channel, *values):
    """The channel, each of its calls with these `authorization` headers."""
    return grpc.intercept_channel(
        channel, _WithHeaders([("authorization", value) for value in values]))


def with_token(channel, token):
    return with_authorization(channel, f"Bearer {token}")
