"""Links between the tree's documents lead somewhere."""

import re
import unittest

from tests.style import source_tree

_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def links(text):
    """The paths that a document links to, those in code left out."""
    return [link for link in _LINK.findall(_CODE.sub("", text))
            if "://" not in link and not link.startswith("mailto:")]


class LinksTest(unittest.TestCase):

    def test_links_lead_somewhere(self):
        broken, count = [], 0
        for path in source_tree.files(suffixes=(".md",)):
            for link in links(source_tree.read(path)):
                count += 1
                if not (source_tree.root() / path.parent / link).exists():
                    broken.append(f"{path}: {link}")
        self.assertGreater(count, 10)
        self.assertEqual([], broken)


class CheckItselfTest(unittest.TestCase):

    def test_finds_links(self):
        self.assertEqual(
            ["a.md", "../b"], links("[x](a.md#part), [y](../b), `[z](c)`"))
        self.assertEqual([], links("[x](https://example.com)\n```\n[y](d)\n```"))
