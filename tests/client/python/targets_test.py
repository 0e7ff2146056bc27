"""Which addresses are of one server, of several, or wrong."""

import unittest

from gatherd import targets


class TargetsTest(unittest.TestCase):

    def test_one(self):
        for address in ("localhost:7400", "10.0.0.1:7400", "[::1]:7400",
                        "unix:/run/a,b", "ipv4:10.0.0.1:7400"):
            self.assertEqual((address, False), targets.parse_address(address))

    def test_several(self):
        for address, name in (
                ("10.0.0.1:7400,10.0.0.2:1", "ipv4:10.0.0.1:7400,10.0.0.2:1"),
                ("ipv4:10.0.0.1:7,10.0.0.2:1", "ipv4:10.0.0.1:7,10.0.0.2:1"),
                ("[::1]:7400,[fd00::2]:65535", "ipv6:[::1]:7400,[fd00::2]:65535"),
                ("ipv6:[::1]:7400,[::2]:1", "ipv6:[::1]:7400,[::2]:1"),
                ("dns:///words.svc:7400", "dns:///words.svc:7400")):
            self.assertEqual((name, True), targets.parse_address(address))

    def test_lists_with_anything_else_in_them(self):
        for address, part in (
                ("10.0.0.1:7400,", ""),
                (",10.0.0.1:7400", ""),
                ("10.0.0.1:7400, 10.0.0.2:7400", " 10.0.0.2:7400"),
                ("10.0.0.1:7400,10.0.0.2", "10.0.0.2"),
                ("10.0.0.1:7400,10.0.0.2:0", "10.0.0.2:0"),
                ("10.0.0.1:7400,10.0.0.2:65536", "10.0.0.2:65536"),
                ("10.0.0.1:7400,host:7400", "host:7400"),
                ("10.0.0.1:7400,[::1]:7400", "[::1]:7400"),
                ("[::1]:7400,10.0.0.1:7400", "10.0.0.1:7400"),
                ("[::1]:7400,::2:7400", "::2:7400"),
                ("[::1]:7400,[::2]", "[::2]")):
            with self.assertRaises(ValueError) as caught:
                targets.parse_address(address)
            self.assertIn(f'"{part}"', str(caught.exception))
