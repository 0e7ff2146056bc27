"""Tiers on the CPU backend: shown as configured, answering as one table."""

import numpy as np

from tests.integration.harness.api import ApiTestCase, missing_keys
from tests.integration.harness.exposition import scrape
from tests.integration.harness.process import config_of

DIM = 4


def tiered(name, *tiers, **settings):
    return {"name": name, "dim": DIM, "key_space": "hashed",
            "tiers": [{kind: {"rows": rows}} for kind, rows in tiers],
            **settings}


class TierTest(ApiTestCase):
    CONFIG = config_of([
        tiered("cached", ("gpu", 100), ("host", 1000)),
        tiered("whole", ("gpu", 1000)),
        tiered("roomy", ("gpu", 2000), ("host", 1000)),
        {**tiered("dense", ("gpu", 100), ("host", 1000)),
         "key_space": "dense"},
    ], devices="cpu")

    def test_tiers_are_listed_fastest_first_as_configured(self):
        for name, expected in (("cached", [("gpu", 100), ("host", 1000)]),
                               ("whole", [("gpu", 1000)]),
                               ("roomy", [("gpu", 2000), ("host", 1000)]),
                               ("dense", [("gpu", 100), ("host", 1000)])):
            with self.subTest(table=name):
                tiers = self.client.table_info(name).tiers
                self.assertEqual(
                    [(t.kind, t.capacity_rows) for t in tiers], expected)

    def test_every_row_is_found_whatever_the_cache_holds(self):
        keys = list(range(1000))
        rows = np.arange(1000 * DIM, dtype=np.float32).reshape(-1, DIM)
        for name in ("cached", "whole", "roomy", "dense"):
            with self.subTest(table=name):
                self.client.update(name, keys, rows)
                for _ in range(3):
                    self.assertEqual(missing_keys(
                        self.client.lookup(name, keys), keys), [])
                    self.assertRows(self.client.rows(name, keys), rows)
                info = self.client.table_info(name)
                self.assertEqual(info.num_rows, 1000)
                self.assertEqual(info.tiers[-1].num_rows, 1000)
                for tier in info.tiers:
                    self.assertLessEqual(tier.num_rows, tier.capacity_rows)
                self.client.update(name, [5], [[9] * DIM])
                self.assertRows(self.client.rows(name, [5]), [[9] * DIM])
                self.client.erase(name, keys)

    def test_series_of_every_tier(self):
        metrics = scrape(self.server)
        for table in self.CONFIG["tables"]:
            for tier in table["tiers"]:
                (kind, settings), = tier.items()
                labels = {"table": table["name"], "tier": kind}
                self.assertEqual(
                    metrics["gatherd_tier_capacity_rows"].value(**labels),
                    settings["rows"])
                for name in ("gatherd_tier_rows", "gatherd_tier_memory_bytes",
                             "gatherd_tier_evictions_total"):
                    metrics[name].value(**labels)
                for outcome in ("hit", "miss"):
                    metrics["gatherd_tier_keys_total"].value(
                        **labels, outcome=outcome)

    def test_hits_of_all_tiers_are_the_keys_found(self):
        self.client.update("cached", range(50), np.ones((50, DIM)))
        before = scrape(self.server)["gatherd_tier_keys_total"].sum(
            table="cached", outcome="hit")
        self.client.lookup("cached", range(70))
        after = scrape(self.server)["gatherd_tier_keys_total"].sum(
            table="cached", outcome="hit")
        self.assertEqual(after - before, 50)
        self.client.erase("cached", range(50))
