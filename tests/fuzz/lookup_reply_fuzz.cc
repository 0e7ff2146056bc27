// Any bytes, in slices cut anywhere, taken for the reply to a lookup: the
// client reads what protobuf reads, row by row and bit by bit.
#include <google/protobuf/stubs/logging.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "client/lookup_reply_reader.h"
#include "client/table_rows.h"
#include "proto/gatherd/v1/gatherd.pb.h"
#include "tests/fuzz/fuzz_target.h"

namespace gatherd {
namespace {

using client::LookupReply;
using client::TableRows;

// Pieces whose lengths the bytes themselves decide, some of them empty.
grpc::ByteBuffer InSlices(const uint8_t* data, size_t size) {
  std::vector<grpc::Slice> slices;
  size_t at = 0;
  for (size_t i = 0; at < size; ++i) {
    const size_t piece = std::min<size_t>(data[i % size] / 2, size - at);
    // An empty one now and then, but not for ever.
    slices.emplace_back(data + at,
                        i % 2 == 0 ? piece : std::max<size_t>(piece, 1));
    at += slices.back().size();
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

bool MakesSense(const v1::TableRows& table) {
  TableRows::Fields fields;
  if (table.data_type() < 0 || table.data_type() > 255) return false;
  fields.data_type = static_cast<DataType>(table.data_type());
  fields.dim = table.dim();
  fields.num_rows = table.num_rows();
  return TableRows::CheckSizes(fields, table.values().size()).ok();
}

bool Equal(absl::Span<const std::byte> bytes, std::string_view expected) {
  return std::equal(
      bytes.begin(), bytes.end(),
      reinterpret_cast<const std::byte*>(expected.data()),
      reinterpret_cast<const std::byte*>(expected.data()) + expected.size());
}

void RequireSame(const TableRows& found, const v1::TableRows& expected) {
  FuzzRequire(static_cast<int>(found.data_type()) == expected.data_type());
  FuzzRequire(found.dim() == expected.dim());
  FuzzRequire(found.num_rows() == expected.num_rows());
  FuzzRequire(found.num_missing() == expected.num_missing());
  FuzzRequire(found.revision() == expected.revision());
  const std::string_view values = expected.values();
  for (size_t i = 0; i < found.num_rows(); ++i) {
    FuzzRequire(Equal(found.row(i),
                      values.substr(i * found.row_bytes(), found.row_bytes())));
  }
  const std::string& missing = expected.missing();
  for (size_t i = 0; i < missing.size() * 8 + 8; ++i) {
    FuzzRequire(found.IsMissing(i) == (i / 8 < missing.size() &&
                                       (missing[i / 8] >> (i % 8) & 1) != 0));
  }
}

std::string Seed(const std::vector<DataType>& types) {
  v1::LookupResponse response;
  for (const DataType type : types) {
    v1::TableRows* table = response.add_results();
    table->set_data_type(static_cast<v1::DataType>(type));
    table->set_dim(5);
    table->set_num_rows(7);
    std::string values(7 * RowBytes(type, 5), '\0');
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<char>(i * 37);
    }
    table->set_values(values);
    table->set_missing("\x15");
    table->set_num_missing(3);
    table->set_revision(1ULL << 40);
  }
  return response.SerializeAsString();
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  const std::string unknown("\xa0\x06\x01\xa3\x06\xa4\x06\xb2\x06\x02xy", 12);
  return {
      "", Seed({DataType::kFloat32}),
      Seed({DataType::kFloat16, DataType::kInt8}),
      unknown + Seed({DataType::kBFloat16}) + unknown,
      // Rows of nothing; fields twice; sizes that lie.
      std::string("\x0a\x04\x08\x01\x10\x03", 6),
      std::string("\x0a\x0e\x22\x01x\x08\x02\x10\x01\x18\x01\x22\x02yz", 15),
      std::string("\x0a\x7f\x08\x01", 4),
      std::string("\x0a\x06\x08\x01\x10\x01\x22\x7f", 8)};
}

}  // namespace gatherd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using gatherd::client::ReadLookupReply;
  google::protobuf::SetLogHandler(nullptr);
  gatherd::v1::LookupResponse expected;
  const bool parses = expected.ParseFromArray(data, static_cast<int>(size));
  const auto num_results = static_cast<size_t>(expected.results_size());
  const auto reply =
      ReadLookupReply(gatherd::InSlices(data, size), parses ? num_results : 1);
  // Protobuf refuses sizes and tags that are written in too many bytes.
  if (!parses) return 0;
  const bool makes_sense =
      std::all_of(expected.results().begin(), expected.results().end(),
                  gatherd::MakesSense);
  gatherd::FuzzRequire(reply.ok() == makes_sense);
  if (!makes_sense) return 0;
  for (size_t i = 0; i < num_results; ++i) {
    gatherd::RequireSame((*reply)[i], expected.results(static_cast<int>(i)));
  }
  return 0;
}
