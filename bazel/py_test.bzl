"""Python tests, run by the system's Python rather than the one on PATH."""

_SCRIPT = """\
#!/bin/bash
export PYTHONPATH="{path}" PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 bazel/py_test_main.py {main} "$@"
"""

def _gatherd_py_test_impl(ctx):
    script = ctx.actions.declare_file(ctx.label.name)
    main = ctx.files.srcs[0].short_path
    path = ":".join(["$PWD"] + ["$PWD/" + path for path in ctx.attr.imports])
    ctx.actions.write(
        script,
        _SCRIPT.format(main = main, path = path),
        is_executable = True,
    )
    runfiles = ctx.runfiles(
        files = ctx.files.srcs + ctx.files.data + [ctx.file._runner],
    )
    for target in ctx.attr.data:
        runfiles = runfiles.merge(target[DefaultInfo].default_runfiles)
    return [DefaultInfo(executable = script, runfiles = runfiles)]

gatherd_py_test = rule(
    implementation = _gatherd_py_test_impl,
    doc = """A Python unittest module.

    The working directory is the root of the tree (of the runfiles), which is
    also where modules are imported from: data files are opened, programs
    started and modules imported by their path from the root. The first of
    srcs holds the tests; the others are modules that it imports.
    """,
    attrs = {
        "srcs": attr.label_list(
            allow_empty = False,
            allow_files = [".py"],
            mandatory = True,
        ),
        "data": attr.label_list(allow_files = True),
        "imports": attr.string_list(
            doc = "Folders besides the root to import from, by their paths.",
        ),
        "_runner": attr.label(
            allow_single_file = True,
            default = "//bazel:py_test_main.py",
        ),
    },
    test = True,
)
