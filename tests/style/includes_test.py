"""No file of the tree includes what its part must not see."""

import unittest

from tests.style import includes
from tests.style import source_tree


class IncludesTest(unittest.TestCase):

    def test_tree_has_no_forbidden_edge(self):
        tree = {
            path.as_posix(): includes.included(source_tree.read(path))
            for path in source_tree.files(source_tree.CPP)
        }
        self.assertGreater(len(tree), 5)
        self.assertEqual([], includes.violations(tree))


class CheckItselfTest(unittest.TestCase):

    def assert_refused(self, path, name, others=None):
        found = includes.violations({path: [name], **(others or {})})
        self.assertEqual(1, len(found), found)
        self.assertIn(path, found[0])

    def assert_allowed(self, path, name):
        self.assertEqual([], includes.violations({path: [name]}))

    def test_reads_both_kinds_of_include_lines(self):
        text = '#include <vector>\n #  include "core/a/b.h"  // why\n// x\n'
        self.assertEqual(["vector", "core/a/b.h"], includes.included(text))

    def test_allows_listed_edges(self):
        self.assert_allowed("core/base/a.h", "core/base/b.h")
        self.assert_allowed("core/base/a.h", "absl/status/status.h")
        self.assert_allowed("core/table/a.h", "core/rows/b.h")
        self.assert_allowed("server/a.cc", "core/catalog/b.h")
        self.assert_allowed("server/a.cc", "grpcpp/grpcpp.h")
        self.assert_allowed("tests/core/base/a_test.cc", "server/b.h")
        self.assert_allowed("core/kernels/a.cu", "cuda_runtime_api.h")

    def test_refuses_edges_against_the_direction(self):
        self.assert_refused("core/base/a.h", "core/table/b.h")
        self.assert_refused("core/table/a.cc", "core/exec/b.h")
        self.assert_refused("core/base/a.h", "server/b.h")
        self.assert_refused("server/a.cc", "core/kernels/b.h")
        self.assert_refused("server/a.cc", "core/cuda/b.h")
        self.assert_refused("client/a.cc", "server/b.h")
        self.assert_refused("client/a.cc", "core/table/b.h")
        self.assert_refused("cli/a.cc", "proto/gatherd/v1/gatherd.pb.h")
        self.assert_refused("core/table/a.cc", "tests/core/b.h")

    def test_refuses_what_the_engine_must_not_see(self):
        for name in ("grpcpp/grpcpp.h", "google/protobuf/message.h",
                     "prometheus/registry.h", "yaml-cpp/yaml.h",
                     "spdlog/spdlog.h", "absl/flags/flag.h",
                     "proto/gatherd/v1/gatherd.pb.h"):
            self.assert_refused("core/table/a.cc", name)

    def test_refuses_a_folder_it_does_not_know(self):
        self.assert_refused("core/stuff/a.h", "vector")
        self.assert_refused("core/base/a.h", "core/stuff/b.h")

    def test_refuses_abseil_under_nvcc(self):
        self.assert_refused("core/kernels/a.cu", "absl/types/span.h")
        self.assert_refused("tests/gpu/a.cu", "absl/types/span.h")

    def test_refuses_abseil_under_nvcc_through_a_header(self):
        self.assert_refused("core/kernels/a.cu", "core/base/b.h",
                            {"core/base/b.h": ["absl/types/span.h"]})
