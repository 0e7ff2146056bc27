"""grpc.health.v1 as tests ask it."""

import grpc

from proto.grpc.health.v1 import health_pb2, health_pb2_grpc
from tests.integration.harness.api import CALL_TIMEOUT_S

SERVICES = ("", "gatherd.v1.EmbeddingService")


def status(client, service=""):
    """The status's name, or the code's if the call fails."""
    stub = health_pb2_grpc.HealthStub(client.channel)
    try:
        reply = stub.Check(health_pb2.HealthCheckRequest(service=service),
                           timeout=CALL_TIMEOUT_S)
        return health_pb2.HealthCheckResponse.ServingStatus.Name(reply.status)
    except grpc.RpcError as error:
        return error.code().name


def watch(client, service=""):
    """The stream of statuses' names."""
    stub = health_pb2_grpc.HealthStub(client.channel)
    for reply in stub.Watch(health_pb2.HealthCheckRequest(service=service),
                            timeout=CALL_TIMEOUT_S):
        yield health_pb2.HealthCheckResponse.ServingStatus.Name(reply.status)
