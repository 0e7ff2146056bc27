// Any bytes, taken for each of the three requests: they are refused with a
// status that a client may be told, or carried out, and the reply parses and
// is no longer than was foretold.
#include <google/protobuf/stubs/logging.h>
#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/catalog/catalog.h"
#include "core/table/cpu_table.h"
#include "proto/gatherd/v1/gatherd.pb.h"
#include "server/request_codec.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/server/wire.h"

namespace gatherd {
namespace {

constexpr RequestLimits kLimits = {64 << 10, 2000};

CatalogTableSpec Spec(const char* name, uint32_t dim, DataType type,
                      KeySpace key_space) {
  CatalogTableSpec spec;
  spec.table.name = name;
  spec.table.dim = dim;
  spec.table.data_type = type;
  spec.table.key_space = key_space;
  spec.table.tiers.resize(1);
  spec.table.tiers[0].rows = 64;
  return spec;
}

const Catalog& Tables() {
  static const Catalog* const catalog = [] {
    google::protobuf::SetLogHandler(nullptr);
    const CatalogTableSpec specs[] = {
        Spec("h", 3, DataType::kFloat32, KeySpace::kHashed),
        Spec("d", 5, DataType::kInt8, KeySpace::kDense)};
    auto made = Catalog::Create(specs);
    FuzzRequire(made.ok());
    for (const auto& entry : (*made)->entries()) {
      FuzzRequire(entry->MakeTable(&CreateCpuTable).ok());
      entry->set_ready();
    }
    return made->release();
  }();
  return *catalog;
}

void RequireClientError(const absl::Status& status) {
  FuzzRequire(absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
              absl::IsResourceExhausted(status));
  FuzzRequire(status.message().size() < 1000);
}

void FuzzLookup(const grpc::ByteBuffer& bytes) {
  auto decoded =
      DecodedLookup::Decode(bytes, Tables(), kLimits, HeapReplyMemory());
  if (!decoded.ok()) return RequireClientError(decoded.status());
  auto segments = (*decoded)->AllocateReply({});
  for (LookupSegment& segment : segments) {
    auto result = segment.table->Lookup(segment.batch, segment.output);
    FuzzRequire(result.ok());
    segment.result = *result;
  }
  grpc::ByteBuffer reply;
  const absl::Status status = (*decoded)->EncodeReply(segments, &reply);
  if (!status.ok()) return RequireClientError(status);
  FuzzRequire(reply.Length() <= (*decoded)->reply_bytes());
  v1::LookupResponse response;
  FuzzRequire(response.ParseFromString(ToString(reply)));
  FuzzRequire(static_cast<size_t>(response.results_size()) == segments.size());
}

void FuzzUpdate(const grpc::ByteBuffer& bytes) {
  const auto decoded =
      DecodedUpdate::Decode(bytes, Tables(), kLimits, HeapReplyMemory());
  if (!decoded.ok()) return RequireClientError(decoded.status());
  const auto results = UpdateTables((*decoded)->batches());
  if (!results.ok()) return RequireClientError(results.status());
  grpc::ByteBuffer reply;
  EncodeReply(*results, &reply);
  FuzzRequire(reply.Length() <= (*decoded)->reply_bytes());
}

void FuzzErase(const grpc::ByteBuffer& bytes) {
  const auto decoded =
      DecodedErase::Decode(bytes, Tables(), kLimits, HeapReplyMemory());
  if (!decoded.ok()) return RequireClientError(decoded.status());
  for (size_t part = 0; part < (*decoded)->entries().size(); ++part) {
    Table& table = *(*decoded)->entries()[part]->table();
    FuzzRequire(table.Erase((*decoded)->keys(part)).ok());
  }
}

// As the transport delivers it: in pieces. The first byte says how long.
grpc::ByteBuffer InSlices(const uint8_t* data, size_t size) {
  const size_t piece = size == 0 ? 1 : 1 + data[0];
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < size; at += piece) {
    slices.emplace_back(data + at, std::min(piece, size - at));
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

std::string LookupSeed() {
  v1::LookupRequest request;
  v1::TableLookup* plain = request.add_lookups();
  plain->set_table("h");
  for (int64_t key : {1, 2, 3}) plain->add_keys(key);
  v1::TableLookup* pooled = request.add_lookups();
  pooled->set_table("d");
  for (int64_t key : {-1, 63, 64, 5}) pooled->add_keys(key);
  pooled->set_pooling(v1::POOLING_MEAN);
  for (uint32_t offset : {0, 1, 1, 4}) pooled->add_offsets(offset);
  for (float weight : {1.f, 0.f, -1.f, 2.f}) pooled->add_weights(weight);
  pooled->set_output_type(v1::DATA_TYPE_BFLOAT16);
  pooled->set_missing_key_policy(v1::MISSING_KEY_POLICY_DEFAULT_ROW);
  return request.SerializeAsString();
}

std::string UpdateSeed(v1::UpdateMode mode) {
  v1::UpdateRequest request;
  v1::TableUpdate* hashed = request.add_updates();
  hashed->set_table("h");
  hashed->add_keys(7);
  hashed->set_values(std::string(12, '\x3f'));
  hashed->set_mode(mode);
  v1::TableUpdate* dense = request.add_updates();
  dense->set_table("d");
  dense->add_keys(63);
  dense->set_data_type(v1::DATA_TYPE_FLOAT16);
  dense->set_values(std::string(10, '\x3c'));
  dense->set_mode(mode);
  return request.SerializeAsString();
}

std::string EraseSeed() {
  v1::EraseRequest request;
  v1::TableErase* part = request.add_erases();
  part->set_table("h");
  part->add_keys(7);
  part->add_keys(-7);
  return request.SerializeAsString();
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  return {LookupSeed(), UpdateSeed(v1::UPDATE_MODE_SET),
          UpdateSeed(v1::UPDATE_MODE_ADD), EraseSeed(), ""};
}

}  // namespace gatherd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const grpc::ByteBuffer bytes = gatherd::InSlices(data, size);
  gatherd::FuzzLookup(bytes);
  gatherd::FuzzUpdate(bytes);
  gatherd::FuzzErase(bytes);
  return 0;
}
