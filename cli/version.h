// The version, in its one place.
#ifndef GATHERD_SERVER_VERSION_H_
#define GATHERD_SERVER_VERSION_H_

namespace gatherd {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace gatherd

#endif  // GATHERD_SERVER_VERSION_H_
