#include "server/utf8.h"

namespace gatherd {
namespace {

// Table 3-7 of the Unicode standard: a lead byte allows a range of second
// bytes; further ones are 80 to BF.
struct Lead {
  unsigned char first, last;
  size_t length;
  unsigned char second_min, second_max;
};

constexpr Lead kLeads[] = {
    {0x00, 0x7F, 1, 0, 0},       {0xC2, 0xDF, 2, 0x80, 0xBF},
    {0xE0, 0xE0, 3, 0xA0, 0xBF}, {0xE1, 0xEC, 3, 0x80, 0xBF},
    {0xED, 0xED, 3, 0x80, 0x9F}, {0xEE, 0xEF, 3, 0x80, 0xBF},
    {0xF0, 0xF0, 4, 0x90, 0xBF}, {0xF1, 0xF3, 4, 0x80, 0xBF},
    {0xF4, 0xF4, 4, 0x80, 0x8F},
};

unsigned char ByteAt(std::string_view text, size_t at) {
  return static_cast<unsigned char>(text[at]);
}

}  // namespace

size_t Utf8SequenceLength(std::string_view text) {
  if (text.empty()) return 0;
  for (const Lead& lead : kLeads) {
    const unsigned char byte = ByteAt(text, 0);
    if (byte < lead.first || byte > lead.last) continue;
    if (text.size() < lead.length) return 0;
    for (size_t i = 1; i < lead.length; ++i) {
      const unsigned char next = ByteAt(text, i);
      const unsigned char min = i == 1 ? lead.second_min : 0x80;
      const unsigned char max = i == 1 ? lead.second_max : 0xBF;
      if (next < min || next > max) return 0;
    }
    return lead.length;
  }
  return 0;
}

}  // namespace gatherd
