// Feeds bytes to the parser of .npy headers.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/npy/npy_header.h"
#include "tests/core/npy/npy_bytes.h"
#include "tests/fuzz/fuzz_target.h"

namespace gatherd {
namespace {

// What numpy would have written in place of the header that was read.
std::string Written(const NpyHeader& header) {
  std::string descr = "<f4";
  switch (header.type) {
    case NpyType::kFloat16:
      descr = "<f2";
      break;
    case NpyType::kFloat32:
      break;
    case NpyType::kFloat64:
      descr = "<f8";
      break;
    case NpyType::kInt32:
      descr = "<i4";
      break;
    case NpyType::kInt64:
      descr = "<i8";
      break;
  }
  return NpyHeaderBytes(NpyDictionary(descr, header.ShapeText()));
}

void CheckAccepted(const NpyHeader& header, size_t file_bytes) {
  FuzzRequire(header.data_offset <= file_bytes);
  unsigned __int128 data_bytes = NpyTypeBytes(header.type);
  for (const uint64_t length : header.shape) {
    data_bytes *= length;
    FuzzRequire(data_bytes <= ~uint64_t{0});
  }
  FuzzRequire(header.data_bytes == data_bytes);

  const auto again = ParseNpyHeader(Written(header));
  FuzzRequire(again.ok());
  FuzzRequire(again->type == header.type && again->shape == header.shape);
}

void CheckRefused(const absl::Status& status) {
  FuzzRequire(absl::IsInvalidArgument(status));
  const std::string message(status.message());
  FuzzRequire(message.rfind("offset ", 0) == 0);
  FuzzRequire(std::all_of(message.begin(), message.end(),
                          [](char c) { return c >= ' ' && c <= '~'; }));
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  std::vector<std::string> seeds;
  for (const char* descr : {"<f2", "<f4", "<f8", "<i4", "<i8", ">f4", "|O"}) {
    for (const char* shape : {"()", "(5,)", "(0, 7)", "(20000, 100)",
                              "(4294967296, 4294967296)", "(-1, 2)"}) {
      for (const int major : {1, 2, 3}) {
        seeds.push_back(NpyHeaderBytes(NpyDictionary(descr, shape), major));
      }
    }
  }
  seeds.push_back(NpyHeaderBytes(
      "{\"shape\": (3, 4,), \"fortran_order\": True, \"descr\": [('a', '<f4')],"
      " 'descr': '<f4'}"));
  return seeds;
}

}  // namespace gatherd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const auto header = gatherd::ParseNpyHeader(file);
  if (header.ok()) {
    gatherd::CheckAccepted(*header, size);
  } else {
    gatherd::CheckRefused(header.status());
  }
  return 0;
}
