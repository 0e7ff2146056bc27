"""rpc_ceiling: a gRPC client, and a server that answers without looking up."""

import json
import pathlib
import socket
import subprocess

from tests.integration.harness.process import free_port, wait_until

_BUILD = ("g++ -O2 -std=c++17 {source} -o {program} -lgrpc++ -lgrpc -lgpr "
          "-labsl_synchronization -lpthread")


def build(folder, out):
    """Path of the program, None if its source is not in `folder`."""
    source = pathlib.Path(folder) / "rpc_ceiling.cc"
    if not source.is_file():
        return None
    program = f"{out}/rpc_ceiling"
    subprocess.run(_BUILD.format(source=source, program=program).split(),
                   check=True)
    return program


class CeilingServer:
    """Answers every lookup at once with so many bytes a key."""

    def __init__(self, program, row_bytes):
        self.address = f"127.0.0.1:{free_port()}"
        a_day = 86400
        self.process = subprocess.Popen(
            [program, "server", self.address, str(row_bytes), str(a_day)])
        wait_until(self._answers, 60, "rpc_ceiling listens")

    def _answers(self):
        host, port = self.address.split(":")
        with socket.socket() as probe:
            return probe.connect_ex((host, int(port))) == 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def client_run(program, address, table, callers, keys, num_rows, seconds,
               row_bytes):
    """A function that runs the client once and returns its figures."""
    command = [program, "client", address, table, callers, keys, num_rows,
               seconds, row_bytes]

    def run():
        output = subprocess.run([str(part) for part in command], check=True,
                                capture_output=True, text=True).stdout
        result = json.loads(output)
        if result["errors"] or result["short"]:
            raise RuntimeError(f"{address} answered wrongly: {output}")
        return result
    return run
