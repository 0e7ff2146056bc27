// Which of several servers owns a key, when a table is spread over them by
// rendezvous hashing: that whose score for the key is highest (Thaler and
// Ravishankar, "Using name-based mappings to increase hit rates", IEEE/ACM
// Transactions on Networking 6(1), 1998). When a server leaves, only its keys
// move; one that joins takes an even share from each.
//
//   Mix(x)          the 64-bit finalizer of MurmurHash3 (Appleby, public
//                   domain)
//   Seed(name)      Mix(FNV-1a 64 of the name's bytes)
//   score(name, k)  Mix(k XOR Seed(name)), k the key's 64 bits; compared as
//                   unsigned. Of equal scores wins the name that is first in
//                   the order of bytes.
//
// client/python/gatherd/rendezvous.py is the same, testdata/rendezvous.txt has
// owners to check other languages against. It never changes: rows would be
// looked for where they are not.
#ifndef GATHERD_CLIENT_RENDEZVOUS_H_
#define GATHERD_CLIENT_RENDEZVOUS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace gatherd::client {

class Rendezvous {
 public:
  // At least one name; no two are equal.
  explicit Rendezvous(absl::Span<const std::string> names);

  // The index of the owner's name.
  size_t Owner(int64_t key) const;

 private:
  struct Server {
    uint64_t seed;
    size_t index;
  };

  std::vector<Server> servers_;  // in the order of their names
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_RENDEZVOUS_H_
