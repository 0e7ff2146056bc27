"""Code generated from .proto files by Debian's protoc and gRPC plugins."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def cc_grpc_library(name, src, visibility = None):
    """C++ messages and gRPC services of one .proto file.

    The headers are named after the file (x.proto: x.pb.h, x.grpc.pb.h) and
    included by their path from the root. Generated code is compiled without
    warnings, and its headers count as system headers, so that the warnings of
    those who include them stay their own.

    Args:
      name: the cc_library.
      src: the .proto file, of the same package.
      visibility: as usual.
    """
    stem = src[:-len(".proto")]
    headers = [stem + ".pb.h", stem + ".grpc.pb.h"]
    sources = [stem + ".pb.cc", stem + ".grpc.pb.cc"]
    native.genrule(
        name = name + "_generated",
        srcs = [src],
        outs = headers + sources,
        cmd = """
            /usr/bin/protoc --proto_path=. $(SRCS) \
                --cpp_out=$(GENDIR) --grpc_out=$(GENDIR) \
                --plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin
            for output in $(OUTS); do
              case $$output in
                *.h) sed -i '1i #pragma GCC system_header' $$output ;;
              esac
            done
        """,
    )
    cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        copts = ["-w"],
        linkstatic = True,
        visibility = visibility,
        deps = ["//bazel/system:grpc"],
    )

def py_grpc_library(name, src, visibility = None):
    """Python messages and gRPC stubs of one .proto file (x_pb2, x_pb2_grpc).

    Args:
      name: a filegroup of the modules, for `data` of a gatherd_py_test.
      src: the .proto file, of the same package.
      visibility: as usual.
    """
    stem = src[:-len(".proto")]
    native.genrule(
        name = name,
        srcs = [src],
        outs = [stem + "_pb2.py", stem + "_pb2_grpc.py"],
        cmd = """
            /usr/bin/protoc --proto_path=. $(SRCS) \
                --python_out=$(GENDIR) --grpc_out=$(GENDIR) \
                --plugin=protoc-gen-grpc=/usr/bin/grpc_python_plugin
        """,
        visibility = visibility,
    )
