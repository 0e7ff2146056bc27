"""A pod of the chart on this machine, without a cluster.

The server is started as the rendered container says, its volumes are folders, and
probes and the end of the pod are what kubelet does about them.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import grpc

from tests.deploy.helm import helm
from tests.integration.harness.process import find_program, free_port

_SERVING = b"\x08\x01"  # HealthCheckResponse{status: SERVING}


def ports():
    """Values for config.server: ports that nobody else has."""
    return {key: f"0.0.0.0:{free_port()}"
            for key in ("address", "metrics_address", "health_address")}


class Pod:

    def __init__(self, objects, volumes=None):
        """`volumes`: the folders of volumes, by name; the configuration's is
        made here."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gatherd_test_"))
        self._spec = helm.pod_template(objects)["spec"]
        self._container = helm.container(objects)
        self._folders = {"config": self.folder, **(volumes or {})}
        text = helm.config_text(objects)
        (self.folder / "gatherd.yaml").write_text(
            self.on_this_machine(text, self._container), encoding="utf-8")
        self._log_path = self.folder / "log"
        self.process = None

    def on_this_machine(self, text, container):
        """`text` with the paths of mounts replaced by their folders."""
        for mount in container.get("volumeMounts", ()):
            text = text.replace(mount["mountPath"] + "/",
                                f"{self._folders[mount['name']]}/")
        return text

    def start(self):
        env = {item["name"]: item["value"]
               for item in self._container.get("env", ())}
        args = [self.on_this_machine(arg, self._container)
                for arg in self._container["args"]]
        with open(self._log_path, "wb") as log:
            self.process = subprocess.Popen(
                [find_program("server/gatherd"), *args],
                env={"PATH": os.environ["PATH"], **env},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def log(self):
        return self._log_path.read_text(encoding="utf-8")

    def port(self, name):
        return next(port["containerPort"] for port in self._container["ports"]
                    if port["name"] == name)

    def probe(self, name):
        """Whether a probe succeeds once, as kubelet asks: in plaintext."""
        probe = self._container[name]
        service = probe["grpc"].get("service", "").encode()
        request = b"\x0a" + bytes([len(service)]) + service
        with grpc.insecure_channel(
                f"127.0.0.1:{probe['grpc']['port']}",
                options=[("grpc.enable_http_proxy", 0)]) as channel:
            call = channel.unary_unary("/grpc.health.v1.Health/Check")
            try:
                return call(request,
                            timeout=probe["timeoutSeconds"]) == _SERVING
            except grpc.RpcError:
                return False

    def wait_started(self):
        """Asks the startup probe as often as it allows, in a hurry."""
        for _ in range(self._container["startupProbe"]["failureThreshold"]):
            if self.process.poll() is not None:
                break
            if self.probe("startupProbe"):
                return
            time.sleep(0.1)
        raise AssertionError(f"does not start:\n{self.log()}")

    def end(self):
        """Ends the pod: (exit code, or None if it had to be killed, seconds)."""
        began = time.monotonic()
        time.sleep(self._container["lifecycle"]["preStop"]["sleep"]["seconds"])
        self.process.send_signal(signal.SIGTERM)
        grace = self._spec["terminationGracePeriodSeconds"]
        try:
            code = self.process.wait(began + grace - time.monotonic())
        except subprocess.TimeoutExpired:
            code = None
        return code, time.monotonic() - began

    def run_test(self, objects, **env):
        """What `helm test` runs; its CompletedProcess."""
        pod = helm.find(objects, "Pod")["spec"]["containers"][0]
        given = {item["name"]: item["value"] for item in pod["env"]}
        programs = os.path.dirname(find_program("client/gatherctl"))
        return subprocess.run(
            [*pod["command"],
             *(self.on_this_machine(arg, pod) for arg in pod["args"])],
            env={**given, "PATH": f"{programs}:/usr/bin:/bin",
                 "ADDRESS": f"127.0.0.1:{self.port('grpc')}",
                 "SERVERS": "127.0.0.1", **env},
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False)

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder)
