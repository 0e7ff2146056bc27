// Whether a sanitizer watches this program, which then takes more memory and
// time than it would by itself.
#ifndef GATHERD_TESTING_SANITIZERS_H_
#define GATHERD_TESTING_SANITIZERS_H_

#include "absl/base/config.h"

namespace gatherd {

#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
inline constexpr bool kUnderSanitizer = true;
#else
inline constexpr bool kUnderSanitizer = false;
#endif

#ifdef ABSL_HAVE_THREAD_SANITIZER
inline constexpr bool kUnderThreadSanitizer = true;
#else
inline constexpr bool kUnderThreadSanitizer = false;
#endif

}  // namespace gatherd

#endif  // GATHERD_TESTING_SANITIZERS_H_
