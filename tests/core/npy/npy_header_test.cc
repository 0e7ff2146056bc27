#include "core/npy/npy_header.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/core/npy/npy_bytes.h"

namespace gatherd {
namespace {

using Catch::Matchers::Contains;
using Shape = std::vector<uint64_t>;

// The message that `bytes` are refused with; empty if they are not.
std::string Refusal(const std::string& bytes) {
  const auto header = ParseNpyHeader(bytes);
  if (header.ok()) return "";
  CHECK(absl::IsInvalidArgument(header.status()));
  return std::string(header.status().message());
}

std::string RefusalOfText(const std::string& text) {
  return Refusal(NpyHeaderBytes(text));
}

NpyHeader Accepted(const std::string& bytes) {
  const auto header = ParseNpyHeader(bytes);
  INFO(header.status().message());
  REQUIRE(header.ok());
  return *header;
}

TEST_CASE("The header that numpy writes is understood") {
  // The beginning of a file of numpy 1.24.
  const std::string bytes =
      std::string("\x93NUMPY\x01\x00v\x00", 10) +
      "{'descr': '<f4', 'fortran_order': False, 'shape': (20000, 100), }" +
      std::string(52, ' ') + "\n" + "elements";
  const NpyHeader header = Accepted(bytes);
  CHECK(header.type == NpyType::kFloat32);
  CHECK(header.shape == Shape{20000, 100});
  CHECK(header.data_offset == 128);
  CHECK(header.data_bytes == 8'000'000);
  CHECK(header.ShapeText() == "(20000, 100)");
}

TEST_CASE("Version 2.0 has a longer length") {
  const NpyHeader header =
      Accepted(NpyHeaderBytes(NpyDictionary("<i8", "(5,)"), 2));
  CHECK(header.type == NpyType::kInt64);
  CHECK(header.shape == Shape{5});
  CHECK(header.data_offset == 128);
  CHECK(header.data_bytes == 40);
  CHECK(header.ShapeText() == "(5,)");
}

TEST_CASE("All types, in every little-endian writing") {
  const std::vector<std::pair<std::string, NpyType>> types = {
      {"f2", NpyType::kFloat16}, {"f4", NpyType::kFloat32},
      {"f8", NpyType::kFloat64}, {"i4", NpyType::kInt32},
      {"i8", NpyType::kInt64},
  };
  for (const auto& [name, type] : types) {
    for (const std::string order : {"<", "=", "|"}) {
      CHECK(
          Accepted(NpyHeaderBytes(NpyDictionary(order + name, "(2,)"))).type ==
          type);
    }
    CHECK_THAT(RefusalOfText(NpyDictionary(">" + name, "(2,)")),
               Contains("offset 20: type '>" + name + "' is big-endian"));
    CHECK_THAT(RefusalOfText(NpyDictionary(name, "(2,)")),
               Contains("not supported"));
  }
}

TEST_CASE("Any writing of the dictionary is understood") {
  const std::string texts[] = {
      "{'descr':'<f4','fortran_order':False,'shape':(3,4)}",
      "{\"shape\": (3, 4,), \"fortran_order\": False, \"descr\": \"<f4\"}",
      " { 'shape' : ( 3 , 4 ) ,\n\t'fortran_order' : False , 'descr' : '<f4' "
      "} \n ",
  };
  for (const std::string& text : texts) {
    CHECK(Accepted(NpyHeaderBytes(text)).shape == Shape{3, 4});
  }
}

TEST_CASE("Shapes") {
  const auto shape = [](const std::string& text) {
    return Accepted(NpyHeaderBytes(NpyDictionary("<f4", text)));
  };
  CHECK(shape("()").shape.empty());
  CHECK(shape("()").data_bytes == 4);
  CHECK(shape("(0,)").data_bytes == 0);
  CHECK(shape("(0, 7)").shape == Shape{0, 7});
  CHECK(shape("(0, 7)").data_bytes == 0);
  CHECK(shape("(2, 3, 4)").data_bytes == 96);
  CHECK(shape("(4611686018427387903,)").data_bytes == ~uint64_t{3});

  const auto refusal = [](const std::string& text) {
    return RefusalOfText(NpyDictionary("<f4", text));
  };
  CHECK_THAT(refusal("(4611686018427387904,)"), Contains("2^64 - 1"));
  CHECK_THAT(refusal("(0, 4611686018427387904)"), Contains("2^64 - 1"));
  CHECK_THAT(refusal("(4294967296, 4294967296)"), Contains("2^64 - 1"));
  CHECK_THAT(refusal("(18446744073709551616,)"), Contains("2^64 - 1"));
  CHECK_THAT(refusal("(99999999999999999999999,)"), Contains("2^64 - 1"));
  CHECK_THAT(refusal("(-1, 4)"), Contains("offset 61: a length is negative"));
  CHECK_THAT(refusal("(3)"), Contains("a tuple"));
  CHECK_THAT(refusal("3"), Contains("a tuple"));
  CHECK_THAT(refusal("[3, 4]"), Contains("a tuple"));
  CHECK_THAT(refusal("(,)"), Contains("a whole number"));
  CHECK_THAT(refusal("(3,,4)"), Contains("a whole number"));
  CHECK_THAT(refusal("(3 4)"), Contains("',' or ')'"));
  CHECK_THAT(refusal("(03,)"), Contains("leading zeros"));
  CHECK_THAT(refusal("(3.0,)"), Contains("',' or ')'"));
  CHECK_THAT(refusal("(3L,)"), Contains("',' or ')'"));
  CHECK_THAT(refusal("(True,)"), Contains("a whole number"));
  CHECK_THAT(refusal("(0x3,)"), Contains("',' or ')'"));
  std::string many = "(";
  for (int i = 0; i < 33; ++i) many += "1,";
  CHECK_THAT(refusal(many + ")"), Contains("at most 32 dimensions"));
}

TEST_CASE("What is no .npy file is refused") {
  CHECK_THAT(Refusal(""), Contains("offset 0: not a .npy file"));
  CHECK_THAT(Refusal("word 0.1 0.2\n"), Contains("not a .npy file"));
  CHECK_THAT(Refusal("PK\x03\x04 an .npz file"), Contains("not a .npy file"));
  const std::string text = NpyDictionary("<f4", "(3,)");
  CHECK_THAT(Refusal(NpyHeaderBytes(text, 3)),
             Contains("offset 6: version 3.0"));
  CHECK_THAT(Refusal(NpyHeaderBytes(text, 0)), Contains("version 0.0"));
  CHECK_THAT(Refusal(NpyHeaderBytes(text, 1, 1)), Contains("version 1.1"));
  CHECK_THAT(Refusal(NpyHeaderBytes(text, 255, 255)),
             Contains("version 255.255"));
}

TEST_CASE("A header cut short at any byte is refused") {
  for (const int major : {1, 2}) {
    const std::string bytes =
        NpyHeaderBytes(NpyDictionary("<f4", "(3, 4)"), major);
    for (size_t size = 0; size < bytes.size(); ++size) {
      // On the heap and of exact size, so that ASan sees a read past it.
      const std::vector<char> cut(bytes.begin(), bytes.begin() + size);
      CHECK_FALSE(ParseNpyHeader({cut.data(), cut.size()}).ok());
    }
    CHECK(ParseNpyHeader(bytes).ok());
  }
}

TEST_CASE("A dictionary cut short at any character is refused") {
  const std::string text = "{'descr':'<f4','fortran_order':False,'shape':(3,)}";
  for (size_t size = 0; size < text.size(); ++size) {
    CHECK(RefusalOfText(text.substr(0, size)) != "");
  }
  CHECK(RefusalOfText(text) == "");
}

TEST_CASE("A header longer than any of ours is refused") {
  std::string bytes = std::string("\x93NUMPY\x02\x00", 8) + "\xff\xff\xff\xff";
  CHECK_THAT(Refusal(bytes),
             Contains("offset 8: a header of 4294967295 bytes"));
}

TEST_CASE("Other dictionaries are refused") {
  const std::string descr = "'descr': '<f4'";
  const std::string order = "'fortran_order': False";
  const std::string shape = "'shape': (3,)";
  const auto dictionary = [](const std::vector<std::string>& items) {
    std::string text = "{";
    for (const std::string& item : items) text += item + ", ";
    return text + "}";
  };
  CHECK(RefusalOfText(dictionary({descr, order, shape})) == "");
  CHECK_THAT(RefusalOfText(dictionary({order, shape})), Contains("no 'descr'"));
  CHECK_THAT(RefusalOfText(dictionary({descr, shape})),
             Contains("no 'fortran_order'"));
  CHECK_THAT(RefusalOfText(dictionary({descr, order})), Contains("no 'shape'"));
  CHECK_THAT(RefusalOfText(dictionary({})), Contains("no 'descr'"));
  CHECK_THAT(RefusalOfText(dictionary({descr, order, shape, descr})),
             Contains("'descr' twice"));
  CHECK_THAT(RefusalOfText(dictionary({descr, order, shape, "'x': 1"})),
             Contains("unknown key 'x'"));
  CHECK_THAT(RefusalOfText(""), Contains("a dictionary"));
  CHECK_THAT(RefusalOfText("[1, 2]"), Contains("a dictionary"));
  CHECK_THAT(RefusalOfText("{,}"), Contains("a string"));
  CHECK_THAT(RefusalOfText("{'descr' '<f4'}"), Contains("':'"));
  CHECK_THAT(RefusalOfText("{" + descr + " " + order + "}"),
             Contains("',' or '}'"));
  CHECK_THAT(RefusalOfText(dictionary({descr, order, shape}) + "x"),
             Contains("nothing behind the dictionary"));
  CHECK_THAT(
      RefusalOfText(dictionary({descr, order, shape}) + std::string(1, '\0')),
      Contains("nothing behind the dictionary"));
  CHECK_THAT(RefusalOfText("{'descr\n"), Contains("a string that ends"));
}

TEST_CASE("Column-major arrays are refused, with the way out") {
  CHECK_THAT(
      RefusalOfText("{'descr': '<f4', 'fortran_order': True, 'shape': (3,)}"),
      Contains("ascontiguousarray"));
  CHECK_THAT(
      RefusalOfText("{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}"),
      Contains("True or False"));
}

TEST_CASE("Other element types are refused") {
  const auto refusal = [](const std::string& descr) {
    return RefusalOfText("{'descr': " + descr +
                         ", 'fortran_order': False, 'shape': (3,)}");
  };
  CHECK_THAT(refusal("[('a', '<f4')]"), Contains("structured"));
  CHECK_THAT(refusal("('<f4', (2,))"), Contains("structured"));
  for (const std::string type :
       {"<u4", "<u8", "<i2", "|i1", "|u1", "|b1", "<c8", "<f16", "|O", "<U5",
        "|S5", "<M8[ns]", "|V8", "", "<", "<f", "<f44", "<<f4"}) {
    CHECK_THAT(refusal("'" + type + "'"), Contains("not supported"));
  }
  CHECK_THAT(refusal("None"), Contains("a string"));
}

TEST_CASE("Messages show foreign bytes escaped") {
  CHECK_THAT(RefusalOfText("{'\xff\x01': 1}"), Contains("\\xff\\x01"));
}

}  // namespace
}  // namespace gatherd
