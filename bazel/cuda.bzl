"""CUDA translation units, and targets that exist only beside a toolkit."""

load("@local_cuda//:defs.bzl", "CUDA_IS_PRESENT", "NVCC")

# Machine code for the GPU this is made for, and PTX for those that follow.
_GENCODE_FLAGS = [
    "-gencode=arch=compute_90,code=sm_90",
    "-gencode=arch=compute_90,code=compute_90",
]

_NVCC_FLAGS = _GENCODE_FLAGS + [
    "-std=c++17",
    "-O3",
    "-Werror=all-warnings",
    "-Xcompiler=-fPIC,-Wall,-Wextra,-Werror",
]

# For target_compatible_with of targets that need the toolkit.
NEEDS_CUDA = [] if CUDA_IS_PRESENT else ["@platforms//:incompatible"]

def if_cuda(present, absent = []):
    """The first value where a CUDA Toolkit was found, else the second."""
    return present if CUDA_IS_PRESENT else absent

def _cuda_objects_impl(ctx):
    contexts = [dep[CcInfo].compilation_context for dep in ctx.attr.deps]
    objects = []
    for source in ctx.files.srcs:
        name = "%s/%s.pic.o" % (ctx.label.name, source.basename[:-len(".cu")])
        object = ctx.actions.declare_file(name)
        objects.append(object)
        args = ctx.actions.args()
        args.add_all(_NVCC_FLAGS + ctx.attr.nvccopts)
        for context in contexts:
            args.add_all(context.defines, before_each = "-D")
            args.add_all(context.quote_includes, before_each = "-I")
            args.add_all(context.includes, before_each = "-I")
            args.add_all(context.system_includes, before_each = "-isystem")
        args.add_all(["-I", "."])
        args.add("-c", source)
        args.add("-o", object)
        ctx.actions.run(
            executable = NVCC,
            arguments = [args],
            inputs = depset(
                [source] + ctx.files.hdrs,
                transitive = [context.headers for context in contexts],
            ),
            outputs = [object],
            env = {"PATH": "/usr/bin:/bin"},
            mnemonic = "CudaCompile",
            progress_message = "Compiling %s for the GPU" % source.short_path,
        )
    return [DefaultInfo(files = depset(objects))]

_cuda_objects = rule(
    implementation = _cuda_objects_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cu"]),
        "hdrs": attr.label_list(allow_files = [".h", ".cuh"]),
        "nvccopts": attr.string_list(),
        "deps": attr.label_list(providers = [CcInfo]),
    },
)

def cuda_library(
        name,
        srcs = [],
        hdrs = [],
        deps = [],
        nvccopts = [],
        visibility = None,
        **kwargs):
    """A library of .cu files, left out where there is no CUDA Toolkit.

    Args:
      name: the target; C++ libraries depend on it like on any cc_library.
      srcs: .cu files, compiled by nvcc.
      hdrs: headers (.h for callers, .cuh for kernels alone).
      deps: cc_library or cuda_library targets.
      nvccopts: flags for nvcc beside the shared ones.
      visibility: as usual.
      **kwargs: passed to the cc_library.
    """
    _cuda_objects(
        name = name + "_objects",
        srcs = srcs,
        hdrs = hdrs,
        nvccopts = nvccopts,
        target_compatible_with = NEEDS_CUDA,
        deps = deps,
    )
    native.cc_library(
        name = name,
        srcs = [":" + name + "_objects"],
        hdrs = hdrs,
        linkstatic = True,
        target_compatible_with = NEEDS_CUDA,
        visibility = visibility,
        deps = deps + ["@local_cuda//:cudart"],
        **kwargs
    )
