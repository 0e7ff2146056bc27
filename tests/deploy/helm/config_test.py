"""The chart and `gatherd --check` agree on configurations and their memory."""

import itertools
import json
import pathlib
import subprocess
import tempfile
import unittest

import yaml

from tests.deploy.helm import helm
from tests.integration.harness.process import find_program

_MIB = 1 << 20
_PROCESS_BYTES = 512 * _MIB
_GPU_BYTES = 1024 * _MIB
_UNITS = {"Mi": _MIB, "Gi": 1 << 30}


def bytes_of(quantity):
    return int(quantity[:-2]) * _UNITS[quantity[-2:]]


def check(config):
    """What `gatherd --check` says of a configuration."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "gatherd.yaml"
        path.write_text(json.dumps(config), encoding="utf-8")
        return subprocess.run(
            [find_program("server/gatherd"), f"--config={path}", "--check"],
            capture_output=True, text=True, check=False)


def checked_bytes(config, backend):
    """What its tables take on the host."""
    result = check(config)
    assert result.returncode == 0, result.stderr
    for document in yaml.safe_load_all(result.stdout):
        if document.get("backend") == backend:
            return next(total["bytes"] for total in document["total"]
                        if total["device"] == "host")
    raise AssertionError(f"no {backend} in {result.stdout}")


def table_of(number, data_type, dim, rows, key_space="hashed",
             eviction="none", tiers=None):
    return {"name": f"t{number}", "data_type": data_type, "dim": dim,
            "key_space": key_space, "eviction": eviction,
            "tiers": tiers or [{"host": {"rows": rows}}]}


class HelmTestCase(unittest.TestCase):
    helm = None


def setUpModule():
    HelmTestCase.helm = helm.Helm(4)
    unittest.addModuleCleanup(HelmTestCase.helm.close)


class ConfigTest(HelmTestCase):

    def test_server_takes_what_the_chart_renders(self):
        for name in helm.examples():
            config = yaml.safe_load(helm.config_text(
                self.helm.render_example(name, {"fullnameOverride": ""})))
            # Files of Secrets, which are not here: served_test has them.
            for section in ("tls", "auth"):
                config["server"].pop(section, None)
            result = check(config)
            with self.subTest(name):
                if "not supported by this version yet" in result.stderr:
                    # "gatherd.yaml:1:2: `key` is …" without the place.
                    self.skipTest(result.stderr.split(": ", maxsplit=1)[1])
                self.assertEqual(0, result.returncode, result.stderr)

    def test_chart_knows_every_setting_of_the_server(self):
        tables = [{"name": "words", "dim": 4, "eviction": "lru", "tiers": [
            {"gpu": {"rows": 10}}, {"host": {"rows": "1K"}}]},
                  {"name": "items", "dim": 4, "key_space": "dense", "tiers": [
                      {"host": {"rows": 10}}], "default_row": {"constant": 1}}]
        result = check({"tables": tables})
        self.assertEqual(0, result.returncode, result.stderr)
        effective = next(yaml.safe_load_all(result.stdout))
        self.assertGreater(len(effective["server"]), 8)
        objects = self.helm.render(values={"config": effective})
        self.assertEqual(effective, yaml.safe_load(helm.config_text(objects)))


class MemoryTest(HelmTestCase):

    def check_limit(self, tables, devices="cpu", backend="cpu", gpus=0):
        """Compares the limit of a pod with what its configuration takes."""
        objects = self.helm.render(values={
            "config": {"devices": devices, "tables": tables},
            "gpu": {"count": gpus}})
        resources = helm.container(objects)["resources"]
        self.assertEqual(resources["requests"]["memory"],
                         resources["limits"]["memory"])
        needed = checked_bytes(
            yaml.safe_load(helm.config_text(objects)), backend)
        inflight = 1 << 30  # the chart's own setting
        # Once more for requests that are being read.
        on_top = 2 * inflight + _PROCESS_BYTES + gpus * _GPU_BYTES
        counted = bytes_of(resources["limits"]["memory"]) - on_top
        self.assertGreaterEqual(counted, needed)
        self.assertLessEqual(counted, needed + needed // 100 + _MIB)
        return needed

    def test_kinds_of_tables(self):
        tables = [
            table_of(number, data_type, dim, rows, key_space)
            for number, (data_type, dim, rows, key_space) in enumerate(
                itertools.product(
                    ("float32", "float16", "bfloat16", "int8"), (1, 7, 100),
                    (100000,), ("hashed", "dense")))]
        for table in tables:
            with self.subTest(table):
                self.check_limit([table])

    def test_sizes_and_their_spelling(self):
        for number, rows in enumerate(
                (1, 100, "10K", 3333333, "20M", 100000000)):
            with self.subTest(rows):
                self.check_limit([table_of(number, "float16", 64, rows)])

    def test_eviction(self):
        for eviction in ("lru", "lfu"):
            self.check_limit([table_of(0, "int8", 32, "1M", eviction=eviction)])

    def test_many_tables_add_up(self):
        tables = [table_of(number, "float32", 16, "100K")
                  for number in range(20)]
        alone = self.check_limit(tables[:1])
        self.assertEqual(20 * alone, self.check_limit(tables))

    def test_tiers_by_backend(self):
        tables = [
            table_of(0, "float16", 64, 0, tiers=[{"gpu": {"rows": "1M"}}]),
            table_of(1, "float16", 64, 0, eviction="lru", tiers=[
                {"gpu": {"rows": "100K"}}, {"host": {"rows": "2M"}}])]
        on_cpu = self.check_limit(tables, "cpu", "cpu")
        on_gpu = self.check_limit(tables, "cuda", "cuda", gpus=2)
        self.assertLess(on_gpu, on_cpu)
        # It may have to do without a GPU.
        self.check_limit(tables, "auto", "cpu", gpus=2)

    def test_examples_fit(self):
        names = ("cpu", "replicas", "secured")
        for name in names:
            objects = self.helm.render_example(name)
            config = yaml.safe_load(helm.config_text(objects))
            config["server"] = {}
            needed = checked_bytes(config, "cpu")
            limit = helm.container(objects)["resources"]["limits"]["memory"]
            self.assertGreater(bytes_of(limit), needed)

    def test_requests_being_read_count(self):
        def limit(**settings):
            objects = self.helm.render(values={
                "config": {"server": settings}})
            return bytes_of(helm.container(objects)["resources"]["limits"][
                "memory"]) - _PROCESS_BYTES
        for settings, mib in (
                ({"max_inflight_bytes": "2GiB"}, 2048 + 2048),
                ({"max_inflight_bytes": "1MiB"}, 1 + 128),
                ({"max_inflight_bytes": "1MiB",
                  "max_message_bytes": "200MiB"}, 1 + 400)):
            self.assertEqual(mib * _MIB, limit(**settings), settings)

    def test_shared_memory_counts(self):
        plain = self.helm.render()
        shared = self.helm.render(values={"sharedMemory": "2Gi"})
        self.assertEqual(2 << 30, bytes_of(
            helm.container(shared)["resources"]["limits"]["memory"]) - bytes_of(
                helm.container(plain)["resources"]["limits"]["memory"]))


if __name__ == "__main__":
    unittest.main()
