// What a Lookup request costs before any row is looked for: decoded as the
// server does it, and beside it as protobuf would, whose message is copied on
// to memory that kernels can read.
//
//   bazel run -c opt //tests/bench:decode_bench [-- ROUNDS]
//
// One line per number of keys and length of slices: medians of the rounds, in
// which both take turns, in ns of CPU time a key.
#include <google/protobuf/arena.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/catalog/catalog.h"
#include "core/table/cpu_table.h"
#include "proto/gatherd/v1/gatherd.pb.h"
#include "server/reply_memory.h"
#include "server/request_codec.h"

namespace gatherd {
namespace {

constexpr RequestLimits kLimits = {uint64_t{64} << 20, 1'000'000};

std::unique_ptr<Catalog> MakeCatalog() {
  CatalogTableSpec spec;
  spec.table.name = "words";
  spec.table.dim = 1;
  spec.table.tiers.resize(1);
  spec.table.tiers[0].rows = 64;
  auto catalog = Catalog::Create({spec});
  if (!catalog.ok()) std::abort();
  for (const auto& entry : (*catalog)->entries()) {
    if (!entry->MakeTable(&CreateCpuTable).ok()) std::abort();
    entry->set_ready();
  }
  return *std::move(catalog);
}

v1::LookupRequest MakeRequest(int num_keys, bool with_bags) {
  v1::LookupRequest request;
  v1::TableLookup* part = request.add_lookups();
  part->set_table("words");
  for (int i = 0; i < num_keys; ++i) part->add_keys(i);
  if (!with_bags) return request;
  part->set_pooling(v1::POOLING_SUM);
  for (int i = 0; i < num_keys; i += 4) {
    part->add_offsets(static_cast<uint32_t>(i));
  }
  for (int i = 0; i < num_keys; ++i) part->add_weights(1);
  return request;
}

grpc::ByteBuffer InSlices(const std::string& bytes, size_t slice_bytes) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += slice_bytes) {
    slices.emplace_back(bytes.data() + at,
                        std::min(slice_bytes, bytes.size() - at));
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

void DecodeInPlace(const grpc::ByteBuffer& bytes, const Catalog& catalog) {
  const auto decoded =
      DecodedLookup::Decode(bytes, catalog, kLimits, HeapReplyMemory());
  if (!decoded.ok()) std::abort();
}

template <typename Repeated>
void CopyTo(std::byte** to, const Repeated& elements) {
  const size_t size = elements.size() * sizeof(*elements.data());
  if (size > 0) std::memcpy(*to, elements.data(), size);
  *to += size;
}

// Without the checks of tables, limits and offsets that DecodeInPlace makes.
void DecodeByProtobuf(const grpc::ByteBuffer& bytes, std::byte* memory) {
  google::protobuf::Arena arena;
  auto* const request =
      google::protobuf::Arena::CreateMessage<v1::LookupRequest>(&arena);
  grpc::ByteBuffer buffer = bytes;
  grpc::ProtoBufferReader reader(&buffer);
  if (!request->ParseFromZeroCopyStream(&reader)) std::abort();
  for (const v1::TableLookup& part : request->lookups()) {
    CopyTo(&memory, part.keys());
    CopyTo(&memory, part.offsets());
    CopyTo(&memory, part.weights());
  }
}

// Of this thread: others may keep the machine busy.
double CpuNanoseconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 +
         static_cast<double>(time.tv_nsec);
}

// Of one call of `run`, over some 10 ms.
template <typename Run>
double Measure(Run run) {
  for (int calls = 1;; calls *= 2) {
    const double start = CpuNanoseconds();
    for (int i = 0; i < calls; ++i) run();
    const double took = CpuNanoseconds() - start;
    if (took > 1e7) return took / calls;
  }
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Run(const Catalog& catalog, int num_keys, bool with_bags,
         size_t slice_bytes, int rounds) {
  const grpc::ByteBuffer bytes = InSlices(
      MakeRequest(num_keys, with_bags).SerializeAsString(), slice_bytes);
  std::vector<std::byte> memory(bytes.Length() * 4);
  std::vector<double> in_place, by_protobuf, ratios;
  for (int round = 0; round < rounds; ++round) {
    in_place.push_back(Measure([&] { DecodeInPlace(bytes, catalog); }));
    by_protobuf.push_back(
        Measure([&] { DecodeByProtobuf(bytes, memory.data()); }));
    ratios.push_back(by_protobuf.back() / in_place.back());
  }
  std::printf("%6d  %-4s  %7zu  %9.2f  %9.2f  %5.2f\n", num_keys,
              with_bags ? "bags" : "keys", slice_bytes,
              Median(in_place) / num_keys, Median(by_protobuf) / num_keys,
              Median(ratios));
}

}  // namespace
}  // namespace gatherd

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 15;
  if (rounds < 1 || rounds > 10'000) {
    std::fprintf(stderr, "ROUNDS is a number from 1 to 10000.\n");
    return 2;
  }
  const auto catalog = gatherd::MakeCatalog();
  std::printf("  keys  what   slices   in place   protobuf  ratio\n");
  for (const bool with_bags : {false, true}) {
    for (const int num_keys : {64, 4096, 16384}) {
      for (const size_t slice_bytes : {size_t{8} << 10, size_t{1} << 20}) {
        gatherd::Run(*catalog, num_keys, with_bags, slice_bytes,
                     static_cast<int>(rounds));
      }
    }
  }
  return 0;
}
