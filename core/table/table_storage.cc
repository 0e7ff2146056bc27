#include "core/table/table_storage.h"

#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/sizes.h"
#include "core/rows/row_kernels.h"
#include "core/table/dense_index.h"
#include "core/table/hashed_index.h"

namespace gatherd {
namespace {

// Left to the machine beside what a table takes.
constexpr uint64_t kSpareBytes = uint64_t{64} << 20;

struct Parts {
  uint64_t arena_bytes = 0;
  uint64_t index_bytes = 0;
  uint64_t stamps_bytes = 0;  // 0: none

  uint64_t total() const {
    return HostMemory::BytesTaken(arena_bytes) +
           HostMemory::BytesTaken(index_bytes) +
           (stamps_bytes == 0 ? 0 : HostMemory::BytesTaken(stamps_bytes));
  }
};

Parts PartsOf(const TableSpec& spec) {
  const ArenaLayout layout = ArenaLayout::For(spec);
  Parts parts;
  parts.arena_bytes = layout.num_bytes();
  parts.index_bytes = spec.key_space == KeySpace::kDense
                          ? DenseIndex::NumBytes(spec.rows())
                          : HashedIndex::NumBytes(spec.rows());
  if (spec.eviction != Eviction::kNone) {
    parts.stamps_bytes = SlotStamps::NumBytes(layout.num_slots);
  }
  return parts;
}

absl::Status NoMemory(const TableSpec& spec, uint64_t needed,
                      uint64_t available) {
  return absl::ResourceExhaustedError(
      absl::StrCat("table \"", spec.name, "\": ", spec.rows(), " rows of ",
                   spec.row_bytes(), " bytes take ", needed, " bytes (",
                   HumanBytes(needed), ") of memory; the machine has ",
                   available, " (", HumanBytes(available), ") left"));
}

uint64_t RandomSeed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

void WriteDefaultRow(const TableSpec& spec, std::byte* row) {
  const std::vector<float> values(spec.dim, spec.default_value);
  GetConvertRow(DataType::kFloat32, spec.data_type)(
      reinterpret_cast<const std::byte*>(values.data()), row, spec.dim);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TableStorage>> TableStorage::Create(
    const TableSpec& spec) {
  const Parts parts = PartsOf(spec);
  const uint64_t available = AvailableHostMemory();
  const absl::Status no_memory = NoMemory(spec, parts.total(), available);
  if (available < kSpareBytes || available - kSpareBytes < parts.total()) {
    return no_memory;
  }
  auto arena_memory = HostMemory::Create(parts.arena_bytes);
  auto index_memory = HostMemory::Create(parts.index_bytes);
  if (!arena_memory.ok() || !index_memory.ok()) return no_memory;

  auto storage = std::make_unique<TableStorage>(spec, *std::move(arena_memory));
  if (spec.key_space == KeySpace::kDense) {
    storage->index =
        std::make_unique<DenseIndex>(spec.rows(), *std::move(index_memory));
    storage->num_rows = spec.rows();
  } else {
    storage->index = std::make_unique<HashedIndex>(spec.rows(), storage->seed,
                                                   *std::move(index_memory));
  }
  if (parts.stamps_bytes > 0) {
    auto stamps_memory = HostMemory::Create(parts.stamps_bytes);
    if (!stamps_memory.ok()) return no_memory;
    storage->stamps =
        std::make_unique<SlotStamps>(spec.eviction, *std::move(stamps_memory));
  }
  WriteDefaultRow(spec, storage->arena.row(RowArena::kDefaultSlot));
  return storage;
}

uint64_t TableStorage::MemoryBytes(const TableSpec& spec) {
  return PartsOf(spec).total();
}

TableStorage::TableStorage(const TableSpec& table_spec, HostMemory arena_memory)
    : spec(table_spec),
      seed(RandomSeed()),
      arena(ArenaLayout::For(table_spec), std::move(arena_memory)) {}

uint64_t TableStorage::num_bytes() const {
  return arena.num_bytes() + index->num_bytes() +
         (stamps == nullptr ? 0 : stamps->num_bytes());
}

}  // namespace gatherd
