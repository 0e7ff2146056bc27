"""Fuzzers of parsers of outside bytes."""

load("//bazel:rules.bzl", "gatherd_cc_binary", "gatherd_cc_test")

def gatherd_fuzz_test(name, srcs, deps, size = "small"):
    """A fuzzer, which defines what tests/fuzz/fuzz_target.h declares.

    NAME_test drives it with mutations of its seeds, in every configuration.
    NAME is the same with libFuzzer: bazel run --config=fuzz NAME.

    Args:
      name: ends in _fuzz.
      srcs: the source with LLVMFuzzerTestOneInput and FuzzSeeds.
      deps: what it fuzzes.
      size: of the test.
    """
    gatherd_cc_test(
        name = name + "_test",
        size = size,
        srcs = srcs + [
            "fuzz_target.h",
            "mutate_test.cc",
        ],
        deps = deps,
    )
    gatherd_cc_binary(
        name = name,
        testonly = True,
        srcs = srcs + ["fuzz_target.h"],
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = deps,
    )
