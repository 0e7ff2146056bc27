#include "server/config_document.h"

#include <catch2/catch.hpp>
#include <string>

namespace gatherd {
namespace {

std::string ErrorOf(const std::string& text) {
  return std::string(ParseConfigDocument(text).status().message());
}

std::string PlaceOf(const ConfigPosition& position) {
  return std::to_string(position.line) + ":" + std::to_string(position.column);
}

TEST_CASE("A document is a tree with places", "[config]") {
  const auto root = ParseConfigDocument(
      "a: [1, {é: 'x', z}]\n"
      "b:\n"
      "  - c:\n"
      "    d: \"q\"\n"
      "  -\n"
      "  - ~\n");
  REQUIRE(root.ok());
  REQUIRE(root->kind == ConfigNode::Kind::kMap);
  REQUIRE(root->entries.size() == 2);
  CHECK(PlaceOf(root->entries[0].key_position) == "1:1");
  const ConfigNode& a = root->entries[0].value;
  REQUIRE(a.kind == ConfigNode::Kind::kList);
  CHECK(PlaceOf(a.position) == "1:4");
  REQUIRE(a.items.size() == 2);
  CHECK(a.items[0].text == "1");
  CHECK_FALSE(a.items[0].quoted);
  CHECK(PlaceOf(a.items[0].position) == "1:5");
  const ConfigNode* x = a.items[1].Find("é");
  REQUIRE(x != nullptr);
  CHECK(x->text == "x");
  CHECK(x->quoted);
  CHECK(PlaceOf(x->position) == "1:12");  // in characters
  CHECK(a.items[1].Find("z")->kind == ConfigNode::Kind::kNull);
  CHECK(a.items[1].Find("y") == nullptr);

  const ConfigNode* b = root->Find("b");
  REQUIRE(b != nullptr);
  REQUIRE(b->items.size() == 3);
  CHECK(PlaceOf(b->items[0].position) == "3:5");
  const ConfigEntry& c = b->items[0].entries[0];
  CHECK(c.value.kind == ConfigNode::Kind::kNull);
  CHECK(PlaceOf(c.value.position) == "3:5");  // its key's, for want of one
  CHECK(b->items[0].Find("d")->quoted);
  CHECK(b->items[1].kind == ConfigNode::Kind::kNull);
  CHECK(b->items[2].kind == ConfigNode::Kind::kNull);
}

TEST_CASE("An empty document is null, at its start", "[config]") {
  for (const char* text : {"", "\n\n", "# nothing\n", "---\n", "~"}) {
    const auto root = ParseConfigDocument(text);
    REQUIRE(root.ok());
    CHECK(root->kind == ConfigNode::Kind::kNull);
    CHECK(PlaceOf(root->position) == "1:1");
  }
}

TEST_CASE("What a configuration does not need of YAML is refused", "[config]") {
  const std::string anchors =
      "anchors and aliases are not allowed; write the value out";
  CHECK(ErrorOf("a: &x 1\nb: *x") == "1:4: " + anchors);
  CHECK(ErrorOf("a: &x {b: 1}") == "1:4: " + anchors);
  CHECK(ErrorOf("a: &x\nb: 1") == "1:4: " + anchors);
  CHECK(ErrorOf("a: &x [1]\nb: {<<: *x}") == "1:4: " + anchors);
  CHECK(ErrorOf("b: *x") ==
        "1:4: not valid YAML: the referenced anchor is not defined");
  CHECK(ErrorOf("a: !!str 1") ==
        "1:4: tags are not allowed; write the value alone");
  CHECK(ErrorOf("a: 1\n--- \nb: 1") ==
        "2:1: a second document begins here; allowed: one a file");
  CHECK(ErrorOf("a: 1\n...\n---\n") ==
        "3:1: a second document begins here; allowed: one a file");
  CHECK(ErrorOf("? [1]\n: 2") == "1:3: a key is a list; allowed: a word");
  CHECK(ErrorOf("{{a: 1}: 2}") == "1:2: a key is a map; allowed: a word");
  CHECK(ErrorOf("~: 1") == "1:1: a key is empty; allowed: a word");
}

TEST_CASE("Keys given twice are refused at every level", "[config]") {
  CHECK(ErrorOf("a: 1\nb: 2\na: 3") ==
        "3:1: `a` is given twice, first in line 1; allowed: once");
  CHECK(ErrorOf("a: {b: 1, b: 1}") ==
        "1:11: `b` is given twice, first in line 1; allowed: once");
  CHECK(ErrorOf("- x: [{a: 1,\n \"a\": 2}]") ==
        "2:2: `a` is given twice, first in line 1; allowed: once");
}

TEST_CASE("Text that is no UTF-8 text is refused where it stands", "[config]") {
  CHECK(ErrorOf("a: 1\nb: 'é\xFF'") ==
        "2:6: this byte is not UTF-8; allowed: UTF-8 text");
  CHECK(ErrorOf(std::string("\xFF\xFE"
                            "a\0",
                            4)) ==
        "1:1: this byte is not UTF-8; allowed: UTF-8 text");
  CHECK(ErrorOf(std::string("a: \0", 4)) ==
        "1:4: a control character, U+0000; allowed: text, tabs and line ends");
  // The library takes this one for the end of the file.
  CHECK(ErrorOf("a: 1\n\x04tables: []") ==
        "2:1: a control character, U+0004; allowed: text, tabs and line ends");
}

TEST_CASE("What is not YAML is refused with a place", "[config]") {
  CHECK(ErrorOf("a: b: c") == "1:5: not valid YAML: illegal map value");
  CHECK(ErrorOf("a: [1, 2") ==
        "1:9: not valid YAML: end of sequence flow not found");
  CHECK(ErrorOf("a: {b: 1\n") ==
        "2:1: not valid YAML: end of map flow not found");
  CHECK(ErrorOf("a: \"b") == "1:6: not valid YAML: illegal EOF in scalar");
  CHECK(ErrorOf("a: 1\n b: 2\n").rfind("2:3: not valid YAML", 0) == 0);
  CHECK(ErrorOf("%YAML 3.0\n---\na: 1").rfind("1:1: not valid YAML", 0) == 0);
}

TEST_CASE("A refusal is one line, whatever it shows", "[config]") {
  CHECK(ErrorOf("a: \"\\") ==
        "1:6: not valid YAML: unknown escape character:  ");
  CHECK(ErrorOf("\"\\n\": 1\n\"\\n\": 2") ==
        "2:1: ` ` is given twice, first in line 1; allowed: once");
}

TEST_CASE("Nesting without end is refused", "[config]") {
  const std::string deep = "a: " + std::string(100'000, '[');
  CHECK(ErrorOf(deep).find("not valid YAML") != std::string::npos);
}

TEST_CASE("A large document takes no longer than its size", "[config]") {
  std::string text = "{";
  for (int i = 0; i < 50'000; ++i) text += "k" + std::to_string(i) + ": 1, ";
  const auto root = ParseConfigDocument(text + "}");
  REQUIRE(root.ok());
  CHECK(root->entries.size() == 50'000);
}

}  // namespace
}  // namespace gatherd
