"""Requests are byte for byte those of the generated messages, or refused."""

import unittest

import numpy as np

import gatherd
from gatherd import messages
from gatherd import requests
from proto.gatherd.v1 import gatherd_pb2 as pb

KEYS = [17, -1, 2**63 - 1, -2**63, 0, 17]


def encode(request):
    fill, message = {
        gatherd.Lookup: (requests.fill_lookup, messages.TableLookup()),
        gatherd.Update: (requests.fill_update, messages.TableUpdate()),
        gatherd.Erase: (requests.fill_erase, messages.TableErase()),
    }[type(request)]
    fill(request, message)
    return message.SerializeToString()


class RequestTestCase(unittest.TestCase):

    def assert_same(self, expected, request):
        self.assertEqual(expected.SerializeToString(), encode(request))

    def assert_refused(self, error, text, request):
        with self.assertRaises(error) as caught:
            encode(request)
        self.assertIn(text, str(caught.exception))


class KeysTest(RequestTestCase):

    def test_every_integer_type_and_layout(self):
        for dtype in ("i1", "i2", "<i4", "<i8", ">i8", "u8"):
            keys = np.arange(100).astype(dtype)
            for some in (keys, keys[::-3], keys.reshape(10, 10)[:, 3],
                         keys.tolist()):
                self.assert_same(pb.TableErase(table="t", keys=list(some)),
                                 gatherd.Erase("t", some))

    def test_unsigned_ones_of_up_to_32_bits_take_4_bytes(self):
        for dtype in ("u1", "u2", "<u4", ">u4"):
            keys = np.arange(100).astype(dtype)
            for some in (keys, keys[::-3], keys.reshape(10, 10)[:, 3]):
                self.assert_same(pb.TableErase(table="t", keys32=some.tolist()),
                                 gatherd.Erase("t", some))
        keys = np.array([2**32 - 1, 0], np.uint32)
        self.assert_same(
            pb.TableLookup(table="t", keys32=keys.tolist()),
            gatherd.Lookup("t", keys))
        self.assert_same(
            pb.TableUpdate(table="t", keys32=keys.tolist(), data_type=1,
                           values=bytes(16)),
            gatherd.Update("t", keys, np.zeros((2, 2), np.float32)))

    def test_extremes(self):
        self.assert_same(pb.TableErase(table="t", keys=KEYS),
                         gatherd.Erase("t", KEYS))

    def test_many(self):
        keys = np.random.default_rng(1).integers(-2**63, 2**63 - 1, 100_000)
        self.assert_same(pb.TableErase(table="t", keys=keys.tolist()),
                         gatherd.Erase("t", keys))

    def test_none(self):
        for keys in ([], (), np.empty(0), np.empty(0, np.int64)):
            self.assert_same(pb.TableErase(table="t"), gatherd.Erase("t", keys))

    def test_refusals(self):
        self.assert_refused(ValueError, "keys has shape ()",
                            gatherd.Erase("t", 17))
        self.assert_refused(ValueError, "keys has shape (1, 2)",
                            gatherd.Erase("t", [[1, 2]]))
        self.assert_refused(TypeError, "keys has dtype float64",
                            gatherd.Erase("t", [1.0]))
        self.assert_refused(TypeError, "keys has dtype bool",
                            gatherd.Erase("t", [True]))
        self.assert_refused(TypeError, "keys has dtype object",
                            gatherd.Erase("t", [2**64]))
        self.assert_refused(ValueError, "keys has 9223372036854775808",
                            gatherd.Erase("t", np.array([1, 2**63], np.uint64)))
        self.assert_refused(TypeError, "table is b't'",
                            gatherd.Erase(b"t", [1]))


class LookupTest(RequestTestCase):

    def test_every_choice(self):
        types = {None: 0, "float32": 1, "float16": 2, "bfloat16": 3, "int8": 4}
        policies = {None: 0, "default_row": 1, "error": 2}
        for word, number in types.items():
            for policy, policy_number in policies.items():
                self.assert_same(
                    pb.TableLookup(table="wörter", keys=KEYS,
                                   output_type=number,
                                   missing_key_policy=policy_number),
                    gatherd.Lookup("wörter", KEYS, output_type=word,
                                   missing_key_policy=policy))

    def test_pooling(self):
        weights = [0.1, 0.2, -3, 0, 5, 1e30]
        for pooling, number in (("sum", 1), ("mean", 2)):
            self.assert_same(
                pb.TableLookup(table="t", keys=KEYS, pooling=number,
                               offsets=[0, 0, 2, 6], weights=weights),
                gatherd.Lookup("t", KEYS, pooling, [0, 0, 2, 6], weights))
            self.assert_same(
                pb.TableLookup(table="t", pooling=number),
                gatherd.Lookup("t", [], pooling))
            self.assert_same(
                pb.TableLookup(table="t", pooling=number, offsets=[0, 0]),
                gatherd.Lookup("t", [], pooling, [0, 0]))

    def test_many_offsets(self):
        offsets = np.arange(0, 300_000, 3)
        keys = np.arange(300_000)
        for some in (offsets, offsets.astype(np.uint64),
                     np.repeat(offsets, 2)[::2]):
            self.assert_same(
                pb.TableLookup(table="t", keys=keys, pooling=1,
                               offsets=offsets),
                gatherd.Lookup("t", keys, "sum", some))

    def test_shapes_of_the_answer(self):
        shape = requests.fill_lookup(
            gatherd.Lookup("t", KEYS, "sum", [0, 2]), messages.TableLookup())
        self.assertEqual(requests.LookupShape(6, 2), shape)
        shape = requests.fill_lookup(gatherd.Lookup("t", KEYS),
                                     messages.TableLookup())
        self.assertEqual(requests.LookupShape(6, 6), shape)

    def test_unknown_words(self):
        for name in ("pooling", "output_type", "missing_key_policy"):
            self.assert_refused(ValueError, f"{name} is 'max'; allowed are '",
                                gatherd.Lookup("t", KEYS, **{name: "max"}))
        self.assert_refused(ValueError, "pooling is None",
                            gatherd.Lookup("t", KEYS, pooling=None))

    def test_offsets_and_weights_are_refused(self):
        for text, offsets, weights in (
                ("offsets is empty, but there are 6 keys", None, None),
                ("offsets is empty, but there are 6 keys", [], None),
                ("offsets[0] is 1", [1, 2], None),
                ("offsets[2] is 2, less than offsets[1], 3", [0, 3, 2], None),
                ("offsets[1] is -1, less than", [0, -1], None),
                ("offsets[1] is 7, but there are only 6", [0, 7, 8], None),
                ("offsets has shape (1, 1)", [[0]], None),
                ("weights has 1 values for 6 keys", [0], [1.0]),
                ("weights has shape (6, 1)", [0], np.ones((6, 1))),
        ):
            self.assert_refused(
                ValueError, text,
                gatherd.Lookup("t", KEYS, "sum", offsets, weights))
        self.assert_refused(TypeError, "offsets has dtype float64",
                            gatherd.Lookup("t", KEYS, "sum", [0.0]))
        self.assert_refused(TypeError, "weights has dtype <U1",
                            gatherd.Lookup("t", KEYS, "sum", [0], ["1"] * 6))
        self.assert_refused(
            ValueError, "offsets are for pooling",
            gatherd.Lookup("t", KEYS, offsets=[0]))
        self.assert_refused(
            ValueError, "weights are for pooling",
            gatherd.Lookup("t", KEYS, weights=[1.0] * 6))


class UpdateTest(RequestTestCase):

    def assert_values(self, number, expected, values, **fields):
        self.assert_same(
            pb.TableUpdate(table="t", keys=[1, 2, 3], data_type=number,
                           values=expected.tobytes()),
            gatherd.Update("t", [1, 2, 3], values, **fields))

    def test_every_type_and_layout(self):
        rows = np.random.default_rng(1).normal(size=(3, 8))
        for number, sent, given in ((1, "<f4", "<f4"), (1, "<f4", ">f4"),
                                    (1, "<f4", "<f8"), (2, "<f2", "<f2")):
            values = rows.astype(given)
            for some in (values, values[:, ::2], values[::-1],
                         np.asfortranarray(values)):
                self.assert_values(number, some.astype(sent), some)
        self.assert_values(1, rows.astype("<f4"), rows.tolist())

    def test_types_that_are_named(self):
        bits = np.arange(12, dtype=np.uint16).reshape(3, 4)
        self.assert_values(3, bits, bits, data_type="bfloat16")
        rows = np.ones((3, 4), np.float32)
        self.assert_values(1, rows, rows, data_type="float32")
        self.assert_values(1, rows, rows.astype(np.float64),
                           data_type="float32")

    def test_int8_rows_carry_their_scales(self):
        elements = np.array([[1, -1], [127, -127], [0, 5]], np.int8)
        scales = np.array([0.5, 2, 1e-3], "<f4")
        expected = np.hstack([elements.view(np.uint8),
                              scales.view(np.uint8).reshape(3, 4)])
        for given in (elements, np.asfortranarray(elements)):
            self.assert_values(4, expected, given, scales=scales)
        every_second = np.repeat(scales, 2)[::2]
        self.assert_values(4, expected, elements, scales=every_second)
        self.assert_values(4, expected, elements, data_type="int8",
                           scales=scales.tolist())

    def test_float64_beyond_float32_is_infinite(self):
        self.assert_values(1, np.full((3, 1), np.inf, "<f4"),
                           np.full((3, 1), 1e300))

    def test_modes(self):
        values = np.ones((1, 1), np.float32)
        for mode, number in (("set", 0), ("add", 1), ("set_existing", 2)):
            self.assert_same(
                pb.TableUpdate(table="t", keys=[1], data_type=1,
                               values=values.tobytes(), mode=number),
                gatherd.Update("t", [1], values, mode))

    def test_no_keys(self):
        for values in ([], np.empty((0, 8), np.float32)):
            self.assert_same(pb.TableUpdate(table="t", data_type=1),
                             gatherd.Update("t", [], values))
        self.assert_same(
            pb.TableUpdate(table="t", data_type=4),
            gatherd.Update("t", [], np.empty((0, 8), np.int8), scales=[]))

    def test_refusals(self):
        rows = np.ones((2, 4), np.float32)
        for error, text, values, fields in (
                (ValueError, "values has shape (4,)", rows[0], {}),
                (ValueError, "values has shape ()", 1.0, {}),
                (ValueError, "values has 1 rows for 2 keys", rows[:1], {}),
                (TypeError, "values has dtype int64", [[1], [2]], {}),
                (TypeError, "values has dtype uint16",
                 rows.astype(np.uint16), {}),
                (TypeError, "values has dtype complex64", rows * 1j, {}),
                (TypeError, "values has dtype float32, which is no float16",
                 rows, {"data_type": "float16"}),
                (TypeError, "values has dtype float32, which is no bfloat16",
                 rows, {"data_type": "bfloat16"}),
                (ValueError, "data_type is 'double'; allowed are float32",
                 rows, {"data_type": "double"}),
                (ValueError, "mode is 'SET'; allowed are 'set'", rows,
                 {"mode": "SET"}),
                (ValueError, "scales are for values of int8", rows,
                 {"scales": [1, 2]}),
                (ValueError, "values of int8 need scales",
                 rows.astype(np.int8), {}),
                (ValueError, "scales has 1 values for 2 keys",
                 rows.astype(np.int8), {"scales": [1]}),
        ):
            with self.subTest(text):
                self.assert_refused(
                    error, text, gatherd.Update("t", [1, 2], values, **fields))
