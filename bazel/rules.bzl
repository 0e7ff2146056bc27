"""The rules every BUILD file of this tree uses."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")
load("//bazel:cuda.bzl", "NEEDS_CUDA", _cuda_library = "cuda_library", _if_cuda = "if_cuda")
load("//bazel:grpc.bzl", _cc_grpc_library = "cc_grpc_library", _py_grpc_library = "py_grpc_library")
load("//bazel:py_test.bzl", _gatherd_py_test = "gatherd_py_test")

cc_grpc_library = _cc_grpc_library
cuda_library = _cuda_library
gatherd_py_test = _gatherd_py_test
if_cuda = _if_cuda
py_grpc_library = _py_grpc_library

# The one list of warnings. -Wsign-conversion is left out: it asks for a cast at
# every index into a container.
_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wcast-qual",
    "-Wconversion",
    "-Wno-sign-conversion",
    "-Wformat=2",
    "-Wnon-virtual-dtor",
    "-Woverloaded-virtual",
    "-Wshadow",
    "-Wundef",
    "-Wunused",
    "-Werror",
]

# Programs find the libraries of a bundle (//deploy/bundle) beside them, and so
# do these libraries themselves: therefore RPATH and not RUNPATH.
_BUNDLE_LINKOPTS = [
    "-Wl,-rpath,$$ORIGIN/../lib",
    "-Wl,--disable-new-dtags",
]

# A target's objects go into programs as they are: no shared libraries of our
# own, so that every source is compiled once.
def gatherd_cc_library(name, copts = [], **kwargs):
    """A cc_library under the shared warnings."""
    cc_library(
        name = name,
        copts = _WARNINGS + copts,
        linkstatic = True,
        **kwargs
    )

def gatherd_cc_binary(name, copts = [], linkopts = [], **kwargs):
    """A cc_binary under the shared warnings."""
    cc_binary(
        name = name,
        copts = _WARNINGS + copts,
        linkopts = _BUNDLE_LINKOPTS + linkopts,
        **kwargs
    )

def gatherd_cc_test(name, copts = [], deps = [], **kwargs):
    """A test program of Catch2 test cases; Catch2 and its main come with it."""
    cc_test(
        name = name,
        copts = _WARNINGS + copts,
        linkstatic = True,
        deps = deps + [
            "//bazel/system:catch2",
            "//testing:catch_main",
        ],
        **kwargs
    )

def gpu_test(name, tags = [], **kwargs):
    """A Catch2 test that needs a GPU.

    Compiled wherever a CUDA Toolkit is, run only when asked for with
    --config=gpu, one at a time.
    """
    gatherd_cc_test(
        name = name,
        linkopts = _BUNDLE_LINKOPTS,
        tags = tags + ["exclusive", "gpu"],
        target_compatible_with = NEEDS_CUDA,
        **kwargs
    )
