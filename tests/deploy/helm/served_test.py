"""What the chart renders serves, answers its probes and drains in time."""

import pathlib
import shutil
import tempfile
import threading
import time
import unittest

import grpc
import numpy as np
import yaml

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.deploy.helm import helm
from tests.deploy.helm.simulated_pod import Pod, ports
from tests.integration.harness.api import CALL_TIMEOUT_S, Client
from tests.integration.harness.callers import Callers
from tests.integration.harness.certificates import Authority
from tests.integration.harness.process import gatherctl, gatherd

_DATA = pathlib.Path("testdata").resolve()


class ServedTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.helm = helm.Helm(4)
        cls.addClassCleanup(cls.helm.close)

    def start(self, example, volumes=None, **server):
        """(objects, pod), once the pod has started."""
        settings = {**ports(), **server}
        objects = self.helm.render_example(
            example, {"preStopSeconds": 1, "config": {"server": settings}})
        pod = Pod(objects, volumes)
        self.addCleanup(pod.close)
        pod.start()
        pod.wait_started()
        return objects, pod

    def connect(self, pod):
        client = Client(f"127.0.0.1:{pod.port('grpc')}")
        self.addCleanup(client.close)
        return client

    def test_chart_has_the_version_of_its_server(self):
        chart = yaml.safe_load((helm.CHART / "Chart.yaml").read_text(
            encoding="utf-8"))
        self.assertEqual(gatherd("--version").stdout.split()[1],
                         chart["appVersion"])

    def test_serves_its_sources(self):
        _, pod = self.start("cpu", {"data": _DATA})
        for name in ("readinessProbe", "livenessProbe"):
            self.assertTrue(pod.probe(name), name)
        client = self.connect(pod)
        self.assertEqual(2000, client.table_info("words").num_rows)
        keys = np.load(_DATA / "words_2000_keys.npy")
        rows = np.load(_DATA / "words_2000_100d.npy")
        np.testing.assert_array_equal(client.rows("words", keys), rows)

    def secrets(self):
        """The folders of the volumes that Secrets would fill."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="gatherd_test_"))
        self.addCleanup(shutil.rmtree, folder)
        authority = Authority(str(folder))
        for name in ("tls", "client"):
            (folder / name).mkdir()
            identity = authority.issue(name)
            shutil.copy(identity.certificate, folder / name / "tls.crt")
            shutil.copy(identity.key, folder / name / "tls.key")
            shutil.copy(authority.certificate, folder / name / "ca.crt")
        (folder / "auth").mkdir()
        for name in ("read-tokens", "write-tokens"):
            (folder / "auth" / name).write_text(f"{name}-1\n")
        return {name: folder / name for name in ("tls", "client", "auth")}

    def test_secrets_are_used(self):
        volumes = self.secrets()
        objects, pod = self.start("secured", volumes)
        # kubelet has neither certificate nor token.
        for name in ("readinessProbe", "livenessProbe"):
            self.assertTrue(pod.probe(name), name)
        result = pod.run_test(objects)
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)

        address = f"--address=127.0.0.1:{pod.port('grpc')}"
        certificates = [f"--ca={volumes['tls']}/ca.crt",
                        f"--cert={volumes['client']}/tls.crt",
                        f"--key={volumes['client']}/tls.key"]
        token = f"--token-file={volumes['auth']}/read-tokens"
        refused = {
            "UNAVAILABLE": (certificates[:1] + [token], "tables"),
            "UNAUTHENTICATED": (certificates, "tables"),
            "PERMISSION_DENIED": (certificates + [token], "erase", "words",
                                  "1"),
        }
        for code, (flags, *command) in refused.items():
            result = gatherctl(address, "--timeout=5s", *flags, *command)
            self.assertEqual(1, result.returncode, code)
            self.assertIn(code, result.stderr)
        self.assertEqual(0, gatherctl(
            address, *certificates, token, "tables").returncode)

    def test_helm_test_leaves_nothing_behind(self):
        # `replicas` has a table whose missing keys are errors.
        for example in ("cpu", "replicas"):
            volumes = {"data": _DATA} if example == "cpu" else None
            objects, pod = self.start(example, volumes)
            info = self.connect(pod).table_info("words")
            result = pod.run_test(objects)
            self.assertEqual(0, result.returncode,
                             result.stdout + result.stderr)
            after = self.connect(pod).table_info("words")
            self.assertEqual(info.num_rows, after.num_rows)
            self.assertEqual(info.revision + 2, after.revision)

    def test_helm_test_spares_a_row_that_is_there(self):
        objects, pod = self.start("replicas")
        client = self.connect(pod)
        client.update("words", [-740074007400740], np.ones((1, 100)))
        result = pod.run_test(objects)
        self.assertEqual(1, result.returncode)
        self.assertIn("set test.key to another", result.stderr)
        self.assertEqual(1, client.rows("words", [-740074007400740])[0, 0])

    def test_helm_test_fails_without_a_server(self):
        objects, pod = self.start("replicas")
        pod.process.kill()
        pod.process.wait()
        self.assertNotEqual(0, pod.run_test(objects).returncode)

    def test_callers_lose_nothing_while_they_look_away(self):
        _, pod = self.start("replicas", drain_delay="3s")
        client = self.connect(pod)
        client.update("words", [1], np.ones((1, 100)))
        served, ready = [], []  # times of served calls; times of good probes
        began = time.monotonic()

        def watch():
            while pod.process.poll() is None:
                if pod.probe("readinessProbe"):
                    ready.append(time.monotonic() - began)
                time.sleep(0.02)

        def call():
            try:
                while True:
                    client.lookup("words", [1])
                    served.append(time.monotonic() - began)
            except grpc.RpcError as error:
                served.append(error)
        threads = [threading.Thread(target=run) for run in (watch, call)]
        for thread in threads:
            thread.start()
            self.addCleanup(thread.join)
        code, seconds = pod.end()
        for thread in threads:
            thread.join()
        self.assertEqual(0, code, pod.log())
        # preStop takes a second, in which all is as before; for three more
        # calls are served and the probe says no.
        error = served.pop()
        self.assertEqual(grpc.StatusCode.UNAVAILABLE, error.code())
        self.assertGreater(served[-1], 3.5)
        self.assertGreater(ready[-1], 0.5)
        self.assertLess(ready[-1], 3)
        self.assertGreater(seconds, 3.9)

    def test_no_call_is_lost_while_another_pod_takes_over(self):
        pods = [self.start("replicas", drain_delay="2s") for _ in range(2)]
        objects, old = pods[0]
        for _, pod in pods:
            self.connect(pod).update("words", [1], np.ones((1, 100)))
        service_config = pathlib.Path("examples/service_config.json")
        channel = grpc.insecure_channel(
            "ipv4:" + ",".join(f"127.0.0.1:{pod.port('grpc')}"
                               for _, pod in pods),
            [("grpc.service_config", service_config.read_text("utf-8")),
             ("grpc.enable_http_proxy", 0)])
        client = Client(None, channel)
        self.addCleanup(client.close)
        callers = Callers(
            lambda: self.assertEqual(1, client.rows("words", [1])[0, 0]))
        self.addCleanup(callers.stop)
        code, seconds = old.end()
        num_before = callers.num_calls
        time.sleep(0.5)
        callers.stop()
        self.assertEqual(0, code, old.log())
        grace = helm.pod_template(objects)["spec"][
            "terminationGracePeriodSeconds"]
        self.assertLess(seconds, grace - 5)
        self.assertEqual([], callers.failures)
        self.assertGreater(num_before, 100)
        self.assertGreater(callers.num_calls, num_before)

    def test_a_call_without_end_is_cut_off_in_time(self):
        objects, pod = self.start("replicas", drain_delay="0s",
                                  shutdown_timeout="2s")
        client = self.connect(pod)
        ended = threading.Event()
        self.addCleanup(ended.set)

        def requests():
            yield pb.LookupRequest()
            ended.wait()
        replies = client.embeddings.LookupStream(
            requests(), timeout=CALL_TIMEOUT_S)
        next(replies)
        code, seconds = pod.end()
        self.assertEqual(0, code, pod.log())
        self.assertGreater(seconds, 2.9)
        grace = helm.pod_template(objects)["spec"][
            "terminationGracePeriodSeconds"]
        self.assertLess(seconds, grace - 5)


if __name__ == "__main__":
    unittest.main()
