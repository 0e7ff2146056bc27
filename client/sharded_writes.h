// Writes to a table that is spread over several servers, cut into what each is
// asked. Not thread-safe; they borrow the write that they are made of.
#ifndef GATHERD_CLIENT_SHARDED_WRITES_H_
#define GATHERD_CLIENT_SHARDED_WRITES_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "client/key_split.h"
#include "client/rendezvous.h"
#include "client/requests.h"

namespace gatherd::client {

class ShardedUpdate {
 public:
  // INVALID_ARGUMENT if it cannot be cut; what else is wrong with it is for
  // the servers to say.
  static absl::StatusOr<ShardedUpdate> Create(const TableUpdate& update,
                                              const Rendezvous& owners,
                                              size_t num_servers);

  bool IsAsked(size_t server) const { return parts_[server].is_asked; }
  // Borrows this.
  TableUpdate Request(size_t server) const;

 private:
  explicit ShardedUpdate(const TableUpdate& update) : update_(update) {}

  TableUpdate update_;
  std::vector<KeyPart> parts_;                  // by server
  std::vector<std::vector<std::byte>> values_;  // the same
};

class ShardedErase {
 public:
  static absl::StatusOr<ShardedErase> Create(const TableErase& erase,
                                             const Rendezvous& owners,
                                             size_t num_servers);

  bool IsAsked(size_t server) const { return parts_[server].is_asked; }
  // Borrows this.
  TableErase Request(size_t server) const;

 private:
  explicit ShardedErase(const TableErase& erase) : erase_(erase) {}

  TableErase erase_;
  std::vector<KeyPart> parts_;  // by server
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_SHARDED_WRITES_H_
