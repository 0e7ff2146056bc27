// UTF-8, one character at a time.
#ifndef GATHERD_SERVER_UTF8_H_
#define GATHERD_SERVER_UTF8_H_

#include <cstddef>
#include <string_view>

namespace gatherd {

// Bytes of the character that `text` begins with, 1 to 4; 0 if it begins with
// none (overlong forms, surrogates and what lies above U+10FFFF are none).
size_t Utf8SequenceLength(std::string_view text);

}  // namespace gatherd

#endif  // GATHERD_SERVER_UTF8_H_
