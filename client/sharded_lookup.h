// A lookup of one table that is spread over several servers: cut into what each
// is asked, and put together again.
#ifndef GATHERD_CLIENT_SHARDED_LOOKUP_H_
#define GATHERD_CLIENT_SHARDED_LOOKUP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/key_split.h"
#include "client/rendezvous.h"
#include "client/requests.h"
#include "client/table_rows.h"
#include "client/table_shapes.h"

namespace gatherd::client {

// Not thread-safe. Borrows the lookup that it is made of.
class ShardedLookup {
 public:
  // INVALID_ARGUMENT if the lookup cannot be cut; what else is wrong with it
  // is for the servers to say.
  static absl::StatusOr<ShardedLookup> Create(const TableLookup& lookup,
                                              const Rendezvous& owners,
                                              size_t num_servers);

  bool IsAsked(size_t server) const { return parts_[server].keys.is_asked; }
  // Borrows this.
  TableLookup Request(size_t server) const;

  // Rows in the order of the lookup's keys or bags, where `answers` has what
  // each server answered: null for those not asked or lost, whose keys then
  // count as missing. `known` helps if all are lost. The rows lie in
  // `*values` and `*missing`.
  absl::StatusOr<TableRows> Merge(absl::Span<const TableRows* const> answers,
                                  const TableShape& known,
                                  std::vector<std::byte>* values,
                                  std::string* missing) const;

  const TableLookup& lookup() const { return lookup_; }

 private:
  struct Part {
    KeyPart keys;
    // Pooling only: the bags that have keys here, and where these start.
    std::vector<uint32_t> bags;
    std::vector<uint32_t> offsets;
    std::vector<float> weights;
  };

  explicit ShardedLookup(const TableLookup& lookup) : lookup_(lookup) {}

  bool IsPooled() const { return lookup_.pooling != Pooling::kNone; }
  size_t num_keys() const {
    return lookup_.keys.size() + lookup_.keys32.size();
  }
  void FillBags(Part& part) const;
  absl::StatusOr<TableRows::Fields> FindShape(
      absl::Span<const TableRows* const> answers,
      const TableShape& known) const;
  uint32_t MergeMissing(absl::Span<const TableRows* const> answers,
                        std::string* missing) const;
  void Scatter(const Part& part, const TableRows& rows,
               std::byte* values) const;
  void AddBags(const Part& part, const TableRows& rows, float* sums,
               std::vector<float>& weights) const;

  TableLookup lookup_;
  std::vector<Part> parts_;  // by server
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_SHARDED_LOOKUP_H_
