"""A server with something to show in its metrics."""

import numpy as np

from tests.integration.harness.api import ApiTestCase
from tests.integration.harness.process import config_of, table_of


class ServedTestCase(ApiTestCase):
    """Over a server that has answered calls of several kinds."""

    CONFIG = config_of([
        table_of("words", 4, 100),
        table_of("items", 4, 100, tiers=[
            {"gpu": {"rows": 10}}, {"host": {"rows": 100}}]),
    ])

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for table in ("words", "items"):
            cls.client.update(table, range(10), np.ones((10, 4)))
            cls.client.lookup(table, range(30))
