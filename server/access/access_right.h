// Which right a method of the gRPC port needs.
#ifndef GATHERD_SERVER_ACCESS_ACCESS_RIGHT_H_
#define GATHERD_SERVER_ACCESS_ACCESS_RIGHT_H_

#include <cstdint>
#include <string_view>

namespace gatherd {

enum class AccessRight : uint8_t {
  kNone,   // no token
  kRead,   // any token
  kWrite,  // a token that may write
};

// `path` is "/package.Service/Method", as a client sends it. Health needs none;
// lookups, descriptions and reflection need to read; everything else needs to
// write, methods that do not exist among them.
AccessRight RightForMethod(std::string_view path);

}  // namespace gatherd

#endif  // GATHERD_SERVER_ACCESS_ACCESS_RIGHT_H_
