"""Finds the CUDA Toolkit, or says that there is none.

The repository that cuda_configure makes holds the toolkit's host headers and
static runtime as `:cudart` and, in defs.bzl, where nvcc is. Without a toolkit
`:cudart` is incompatible with every platform, so that `bazel build //...`
leaves out whatever depends on it.
"""

_DEFS = """\
CUDA_IS_PRESENT = {present}
NVCC = "{nvcc}"
"""

_BUILD_WITH_TOOLKIT = """\
cc_library(
    name = "cudart",
    srcs = ["libcudart_static.a"],
    hdrs = glob([
        "include/*.h",
        "include/*.hpp",
        "include/crt/**",
    ]),
    includes = ["include"],
    linkopts = [
        "-ldl",
        "-lpthread",
        "-lrt",
    ],
    visibility = ["//visibility:public"],
)
"""

_BUILD_WITHOUT_TOOLKIT = """\
cc_library(
    name = "cudart",
    target_compatible_with = ["@platforms//:incompatible"],
    visibility = ["//visibility:public"],
)
"""

def _first_existing(repository_ctx, folder, candidates):
    for candidate in candidates:
        path = repository_ctx.path(folder + "/" + candidate)
        if path.exists:
            return path
    return None

def _cuda_configure_impl(repository_ctx):
    home = repository_ctx.os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    nvcc = _first_existing(repository_ctx, home, ["bin/nvcc"])
    cudart = _first_existing(repository_ctx, home, [
        "lib64/libcudart_static.a",
        "lib/libcudart_static.a",
        "targets/x86_64-linux/lib/libcudart_static.a",
    ])
    include = _first_existing(repository_ctx, home, [
        "include",
        "targets/x86_64-linux/include",
    ])
    present = None not in [nvcc, cudart, include]
    repository_ctx.file("defs.bzl", _DEFS.format(
        present = present,
        nvcc = nvcc if present else "",
    ))
    if not present:
        repository_ctx.file("BUILD", _BUILD_WITHOUT_TOOLKIT)
        return
    repository_ctx.symlink(include, "include")
    repository_ctx.symlink(cudart, "libcudart_static.a")
    repository_ctx.file("BUILD", _BUILD_WITH_TOOLKIT)

cuda_configure = repository_rule(
    implementation = _cuda_configure_impl,
    configure = True,
    environ = ["CUDA_HOME"],
    local = True,
)
