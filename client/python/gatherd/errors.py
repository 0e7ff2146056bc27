"""What a call that has failed raises."""

import grpc


class GatherdError(Exception):
    """A call that failed: the server's words, or gRPC's if it was not reached.

    What is wrong with the arguments is found before anything is sent and is a
    TypeError or ValueError instead.

    Attributes:
      code: grpc.StatusCode; docs/api.md says which code means what.
      message: names table, field, what was given and what is allowed.
    """

    def __init__(self, code: grpc.StatusCode, message: str):
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.code.name}: {self.message}"


def internal(message: str) -> GatherdError:
    """A reply that makes no sense."""
    return GatherdError(grpc.StatusCode.INTERNAL, f"reply: {message}")
