"""Connections to a server: where it is, and how to prove who we are."""

from typing import Optional, Tuple, Union

import grpc

from gatherd import targets

# PEM text, not a file's name.
Pem = Union[bytes, str, None]

# gRPC waits so long after a failed connection before it tries again, and fails
# every call meanwhile. Its own first wait, a second, is longer than most of our
# deadlines.
_INITIAL_RECONNECT_BACKOFF_MS = 50
_MAX_RECONNECT_BACKOFF_MS = 2000

# A server that vanishes without closing its connections is left after the sum
# of these; after the second alone while calls are sent to it. The first is
# more than the 10 s that gatherd wants between pings, the second more than
# twice the 5 s after which gRPC reads an answer that no call waits for.
_KEEPALIVE_TIME_MS = 12_000
_KEEPALIVE_TIMEOUT_MS = 12_000
_UNLIMITED = 0

# A server that comes back may have another address. gRPC asks for names anew
# when a connection ends, but by itself not within 30 s of the last time.
_MIN_TIME_BETWEEN_RESOLUTIONS_MS = 1000

_OPTIONS = (
    # The server's limits decide.
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    # Channels to one address would otherwise share one connection.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", _INITIAL_RECONNECT_BACKOFF_MS),
    ("grpc.max_reconnect_backoff_ms", _MAX_RECONNECT_BACKOFF_MS),
    ("grpc.keepalive_time_ms", _KEEPALIVE_TIME_MS),
    ("grpc.keepalive_timeout_ms", _KEEPALIVE_TIMEOUT_MS),
    ("grpc.http2.max_pings_without_data", _UNLIMITED),
    ("grpc.dns_min_time_between_resolutions_ms",
     _MIN_TIME_BETWEEN_RESOLUTIONS_MS),
    # A retry policy out of DNS could repeat an ADD.
    ("grpc.service_config_disable_resolution", 1),
)

# Servers in turn, but for those whose health service says that they do not
# serve: a draining server is left before it refuses anything.
_IN_TURN = ("grpc.service_config",
            '{"loadBalancingConfig": [{"round_robin": {}}],'
            ' "healthCheckConfig": {"serviceName": ""}}')


def _pem(text: Pem) -> Optional[bytes]:
    return text.encode() if isinstance(text, str) else text


def open_channel(address: str, root_certificates: Pem, certificate: Pem,
                 private_key: Pem, server_name: Optional[str],
                 tls: bool) -> grpc.Channel:
    """A channel with a connection of its own, not yet connected.

    Thread-safe. ValueError if the arguments contradict each other.
    """
    target = targets.parse_address(address)
    options = (*_OPTIONS, _IN_TURN) if target.is_several else _OPTIONS
    if (certificate is None) != (private_key is None):
        raise ValueError("a client certificate needs its private_key, and a "
                         "private_key its certificate")
    if not tls and root_certificates is None and certificate is None:
        return grpc.insecure_channel(target.name, options)
    if server_name:
        options = (*options, ("grpc.ssl_target_name_override", server_name))
    credentials = grpc.ssl_channel_credentials(
        _pem(root_certificates), _pem(private_key), _pem(certificate))
    return grpc.secure_channel(target.name, credentials, options)


def metadata_of(token: Optional[str]) -> Tuple[Tuple[str, str], ...]:
    """What the server is to see with each call."""
    if not token:
        return ()
    if not all("!" <= character <= "~" for character in token):
        raise ValueError("token has a character that is not printable ASCII, "
                         "or a space")
    return (("authorization", f"Bearer {token}"),)
