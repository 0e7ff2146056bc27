#include "server/utf8.h"

#include <catch2/catch.hpp>
#include <string>

namespace gatherd {
namespace {

TEST_CASE("The length of a UTF-8 character", "[utf8]") {
  CHECK(Utf8SequenceLength("a") == 1);
  CHECK(Utf8SequenceLength(std::string(1, '\0')) == 1);
  CHECK(Utf8SequenceLength("\xC3\xA9tude") == 2);
  CHECK(Utf8SequenceLength("\xE2\x82\xAC") == 3);
  CHECK(Utf8SequenceLength("\xEF\xBF\xBD") == 3);
  CHECK(Utf8SequenceLength("\xF4\x8F\xBF\xBF") == 4);
}

TEST_CASE("What is not UTF-8 has no length", "[utf8]") {
  CHECK(Utf8SequenceLength("") == 0);
  for (const char* text : {
           "\x80",              // a continuation byte
           "\xC3",              // cut short
           "\xE2\x82",          // cut short
           "\xC3(",             // no continuation
           "\xC0\xAF",          // overlong
           "\xE0\x80\xAF",      // overlong
           "\xF0\x80\x80\xAF",  // overlong
           "\xED\xA0\x80",      // a surrogate
           "\xF4\x90\x80\x80",  // above U+10FFFF
           "\xFE",
           "\xFF",
       }) {
    CHECK(Utf8SequenceLength(text) == 0);
  }
}

}  // namespace
}  // namespace gatherd
