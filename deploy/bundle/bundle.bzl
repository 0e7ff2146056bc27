"""Programs and the shared libraries they need, in one archive."""

def _bundle_impl(ctx):
    archive = ctx.actions.declare_file(ctx.label.name + ".tar.gz")
    args = ctx.actions.args()
    args.add(ctx.file._pack)
    args.add("--output", archive)
    args.add("--folder", ctx.attr.folder)
    inputs = []
    for target, path in ctx.attr.programs.items():
        program = target[DefaultInfo].files_to_run.executable
        inputs.append(program)
        args.add("--program", "%s=%s" % (path, program.path))
    for target, path in ctx.attr.files.items():
        inputs += target.files.to_list()
        for file in target.files.to_list():
            args.add("--file", "%s/%s=%s" % (path, file.basename, file.path))
    for target in ctx.attr.trees:
        inputs += target.files.to_list()
        for file in target.files.to_list():
            args.add("--file", "%s=%s" % (file.short_path, file.path))
    for package in ctx.attr.python_packages:
        args.add("--python_package", package)
    ctx.actions.run(
        executable = "/usr/bin/python3",
        arguments = [args],
        inputs = inputs + [ctx.file._pack, ctx.file._system_python],
        outputs = [archive],
        env = {"PATH": "/usr/bin:/bin"},
        mnemonic = "Bundle",
        progress_message = "Packing %s" % archive.short_path,
    )
    return [DefaultInfo(files = depset([archive]))]

bundle = rule(
    implementation = _bundle_impl,
    doc = """NAME.tar.gz with programs, their libraries and other files.

    Programs must come from gatherd_cc_binary or gpu_test, which link them so
    that they look for libraries in ../lib.

    With python_packages there is a Python, too: python/bin/python3.
    """,
    attrs = {
        "folder": attr.string(
            doc = "The one folder that all is in.",
            mandatory = True,
        ),
        "programs": attr.label_keyed_string_dict(
            doc = "Programs, and where each goes: bin/NAME or tests/NAME.",
        ),
        "files": attr.label_keyed_string_dict(
            doc = "Other files, and the folder that each goes to.",
            allow_files = True,
        ),
        "trees": attr.label_list(
            doc = "Files that keep their path from the root of the tree.",
            allow_files = True,
        ),
        "python_packages": attr.string_list(
            doc = "Packages and modules below Debian's dist-packages.",
        ),
        "_pack": attr.label(
            allow_single_file = True,
            default = "//deploy/bundle:pack.py",
        ),
        "_system_python": attr.label(
            allow_single_file = True,
            default = "//deploy/bundle:system_python.py",
        ),
    },
)
