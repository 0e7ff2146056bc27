// The version, in its one place.
#ifndef GATHERD_CLI_VERSION_H_
#define GATHERD_CLI_VERSION_H_

namespace gatherd {

inline constexpr char kGatherdVersion[] = "0.1.0";

}  // namespace gatherd

#endif  // GATHERD_CLI_VERSION_H_
