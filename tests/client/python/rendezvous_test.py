"""Owners of keys are those that every language finds."""

import unittest

import numpy as np

from gatherd import rendezvous


class RendezvousTest(unittest.TestCase):

    def test_owners_of_the_shared_file(self):
        expected = []  # of a list of names: its keys and their owners
        with open("testdata/rendezvous.txt", encoding="utf-8") as file:
            for line in file:
                words = line.split()
                if words[0] == "servers":
                    expected.append((words[1:], [], []))
                elif words[0] != "#":
                    expected[-1][1].append(int(words[0]))
                    expected[-1][2].append(words[1])
        self.assertGreater(len(expected), 3)
        for names, keys, owners in expected:
            self.assertGreater(len(keys), 20)
            found = rendezvous.owners(keys, names)
            self.assertEqual(owners, [names[i] for i in found])

    def test_keys_of_any_width(self):
        names = ["a:1", "b:1", "c:1"]
        keys = np.arange(200)
        for dtype in ("u1", "i2", "u4", "i8"):
            np.testing.assert_array_equal(
                rendezvous.owners(keys, names),
                rendezvous.owners(keys.astype(dtype), names))
        self.assertEqual(0, rendezvous.owners([], names).size)

    def test_names(self):
        for names in ([], ["a", "a"]):
            with self.assertRaises(ValueError):
                rendezvous.owners([1], names)
