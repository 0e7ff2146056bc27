"""Requests over several tables, and over one table several times."""

import grpc
import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness.api import (
    ADD, CALL_TIMEOUT_S, FLOAT16, SET, SET_EXISTING, ApiTestCase,
    float32_rows, table_lookup, table_update)
from tests.integration.harness.process import (
    BACKEND, ON_GPU, config_of, table_of)


class MultiTableTest(ApiTestCase):
    CONFIG = config_of(
        [table_of(f"t{i}", i + 1, 100) for i in range(26)]
        + [table_of("dense", 2, 100, "dense"),
           table_of("small", 2, 10)])

    def test_results_come_in_the_order_of_the_request(self):
        order = [i * 7 % 26 for i in range(26)]
        results = self.client.update_all(*[
            table_update(f"t{i}", [i, 100 + i], np.full((2, i + 1), i))
            for i in order])
        self.assertEqual([r.num_inserted for r in results], [2] * 26)
        results = self.client.lookup_all(*[
            table_lookup(f"t{i}", [i] * (i + 1) + [-1])
            for i in reversed(range(26))])
        for i, result in zip(reversed(range(26)), results):
            self.assertEqual((result.dim, result.num_rows), (i + 1, i + 2))
            expected = np.full((i + 2, i + 1), i)
            expected[-1] = 0
            self.assertRows(float32_rows(result), expected)
            self.assertEqual(result.num_missing, 1)
        erases = [pb.TableErase(table=f"t{i}", keys=[i, 100 + i, 5000])
                  for i in order]
        reply = self.client.embeddings.Erase(
            pb.EraseRequest(erases=erases), timeout=CALL_TIMEOUT_S)
        self.assertEqual([r.num_erased for r in reply.results], [2] * 26)

    def test_parts_of_one_table_take_effect_in_order(self):
        results = self.client.update_all(
            table_update("t1", [1], [[1, 1]], SET_EXISTING),
            table_update("t1", [1], [[2, 2]], SET),
            table_update("dense", [1], [[9, 9]], SET),
            table_update("t1", [1, 2], [[3, 3], [3, 3]], SET_EXISTING),
            table_update("t1", [1], [[4, 4]], ADD))
        self.assertEqual(
            [(r.num_updated, r.num_inserted, r.num_skipped)
             for r in results],
            [(0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 0, 1), (1, 0, 0)])
        self.assertRows(self.client.rows("t1", [1]), [[7, 7]])
        erases = [pb.TableErase(table="t1", keys=[1])] * 2
        reply = self.client.embeddings.Erase(
            pb.EraseRequest(erases=erases), timeout=CALL_TIMEOUT_S)
        self.assertEqual([r.num_erased for r in reply.results], [1, 0])

    def test_one_table_twice_in_one_lookup(self):
        self.client.update("t2", [1, 2], [[1, 2, 3], [4, 5, 6]])
        first, second, third = self.client.lookup_all(
            table_lookup("t2", [2, 1]),
            table_lookup("t2", [1], output_type=FLOAT16),
            table_lookup("t2", [1, 2], pooling=pb.POOLING_SUM, offsets=[0]))
        self.assertRows(float32_rows(first), [[4, 5, 6], [1, 2, 3]])
        self.assertEqual(np.frombuffer(second.values, "<f2").tolist(),
                         [1, 2, 3])
        self.assertRows(float32_rows(third), [[5, 7, 9]])
        self.client.erase("t2", [1, 2])

    def test_revisions_grow_with_acknowledged_writes(self):
        revisions = [self.client.table_info("t3").revision]
        other = self.client.table_info("t4").revision
        row = np.ones((1, 4))
        for write in (lambda: self.client.update("t3", [1], row),
                      lambda: self.client.update("t3", [1], row, ADD),
                      lambda: self.client.update("t3", [1], row,
                                                 SET_EXISTING),
                      lambda: self.client.erase("t3", [1])):
            revisions.append(write().revision)
            self.assertGreater(revisions[-1], revisions[-2])
            self.assertGreaterEqual(
                self.client.lookup("t3", [1]).revision, revisions[-1])
            self.assertGreaterEqual(
                self.client.table_info("t3").revision, revisions[-1])
        self.assertEqual(self.client.table_info("t4").revision, other)

    def test_a_lookup_does_not_change_the_revision(self):
        before = self.client.table_info("t5").revision
        self.client.lookup("t5", [1, 2, 3])
        self.assertEqual(self.client.table_info("t5").revision, before)

    def test_empty_requests_answer_emptily(self):
        timeout = CALL_TIMEOUT_S
        stub = self.client.embeddings
        self.assertEqual(
            len(stub.Lookup(pb.LookupRequest(), timeout=timeout).results), 0)
        self.assertEqual(
            len(stub.Update(pb.UpdateRequest(), timeout=timeout).results), 0)
        self.assertEqual(
            len(stub.Erase(pb.EraseRequest(), timeout=timeout).results), 0)
        result = self.client.lookup("t6", [])
        self.assertEqual(
            (result.dim, result.num_rows, result.values, result.missing),
            (7, 0, b"", b""))
        self.assertEqual(result.data_type, pb.DATA_TYPE_FLOAT32)

    def test_an_unknown_table_anywhere_refuses_the_whole_request(self):
        not_found = grpc.StatusCode.NOT_FOUND
        with self.assertFails(not_found, "absent_table"):
            self.client.lookup_all(table_lookup("t0", [1]),
                                   table_lookup("absent_table", [1]))
        before = self.client.table_info("t0")
        with self.assertFails(not_found, "absent_table"):
            self.client.update_all(table_update("t0", [1], [[1]]),
                                   table_update("absent_table", [1], [[1]]))
        with self.assertFails(not_found, "absent_table"):
            self.client.embeddings.Erase(
                pb.EraseRequest(erases=[
                    pb.TableErase(table="t0", keys=[1]),
                    pb.TableErase(table="absent_table", keys=[1])]),
                timeout=CALL_TIMEOUT_S)
        self.assertEqual(self.client.table_info("t0"), before)
        for name in ("", "T0", "t0 ", "t" * 5000, "t0\n"):
            with self.assertFails(not_found):
                self.client.lookup(name, [1])

    def test_wrong_part_refuses_the_parts_before_it(self):
        before = self.client.table_info("t1")
        with self.assertFails(
                grpc.StatusCode.INVALID_ARGUMENT, "t2", "values", 4, 12):
            self.client.update_all(
                table_update("t1", [1], [[1, 1]]),
                table_update("t2", [1], [[1]]))
        self.assertEqual(self.client.table_info("t1"), before)

    def test_a_full_table_refuses_the_whole_request(self):
        self.client.update("small", range(10), np.zeros((10, 2)))
        before = [self.client.table_info(n) for n in ("t1", "small")]
        with self.assertFails(grpc.StatusCode.RESOURCE_EXHAUSTED, "small"):
            self.client.update_all(
                table_update("t1", [50], [[1, 1]]),
                table_update("small", [3], [[1, 1]]),
                table_update("small", [11], [[1, 1]]),
                table_update("t1", [51], [[1, 1]]))
        self.assertEqual(
            [self.client.table_info(n) for n in ("t1", "small")], before)
        self.assertEqual(self.client.lookup("t1", [50, 51]).num_missing, 2)
        self.assertRows(self.client.rows("small", [3]), [[0, 0]])
        self.client.erase("small", range(10))

    def test_list_tables_in_the_order_of_the_configuration(self):
        reply = self.client.tables.ListTables(
            pb.ListTablesRequest(), timeout=CALL_TIMEOUT_S)
        self.assertEqual([t.name for t in reply.tables],
                         [t["name"] for t in self.CONFIG["tables"]])

    def test_server_info(self):
        info = self.client.tables.GetServerInfo(
            pb.GetServerInfoRequest(), timeout=CALL_TIMEOUT_S)
        self.assertEqual(info.backend, BACKEND)
        self.assertEqual(len(info.devices) > 0, ON_GPU)
        self.assertEqual(info.max_keys_per_request, 1000000)
        self.assertEqual(info.max_message_bytes, 64 * 2 ** 20)
        self.assertRegex(info.version, r"^\d+\.\d+\.\d+")
