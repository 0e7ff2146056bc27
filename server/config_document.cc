#include "server/config_document.h"

#include <algorithm>
#include <exception>
#include <sstream>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "server/utf8.h"
#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/parser.h"

namespace gatherd {
namespace {

constexpr char kByteOrderMark[] = "\xEF\xBB\xBF";
constexpr size_t kMaxShownBytes = 60;

bool IsControl(char c) { return (c >= 0 && c < ' ') || c == 0x7F; }

// Refuses what the YAML library would silently replace, or take for the end.
absl::Status CheckCharacters(std::string_view text) {
  ConfigPosition position = {1, 1};
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    const char c = text[0];
    if (length == 0) {
      return position.Error("this byte is not UTF-8; allowed: UTF-8 text");
    }
    if (IsControl(c) && c != '\n' && c != '\r' && c != '\t') {
      return position.Error(
          absl::StrFormat("a control character, U+%04X; allowed: text, tabs "
                          "and line ends",
                          static_cast<unsigned>(c)));
    }
    ++position.column;
    if (c == '\n') position = {position.line + 1, 1};
    text.remove_prefix(length);
  }
  return absl::OkStatus();
}

// Turns the library's places, bytes from the start, into ours. Fast where the
// places asked for come in the order of the text.
class PositionFinder {
 public:
  explicit PositionFinder(std::string_view text) : text_(text) {}

  ConfigPosition Find(const YAML::Mark& mark) {
    const size_t offset = mark.pos < 0 ? 0 : static_cast<size_t>(mark.pos);
    if (offset < offset_) *this = PositionFinder(text_);
    for (; offset_ < offset && offset_ < text_.size(); ++offset_) {
      const char c = text_[offset_];
      if (c == '\n') {
        position_ = {position_.line + 1, 1};
      } else if ((c & 0xC0) != 0x80) {  // not inside a character
        ++position_.column;
      }
    }
    return position_;
  }

 private:
  std::string_view text_;
  size_t offset_ = 0;
  ConfigPosition position_ = {1, 1};
};

// Builds the tree of one document. Events that come after the first error are
// dropped.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string_view text) : positions_(text) {}

  const absl::Status& status() const { return status_; }
  ConfigNode TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++num_documents_ == 1) return;
    Fail(mark, "a second document begins here; allowed: one a file");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!Accepts(mark, "?", anchor)) return;
    ConfigNode node = MakeNode(ConfigNode::Kind::kNull, mark);
    // The library places a value that is not there at whatever comes next.
    if (!open_.empty() && open_.back().has_key) {
      const ConfigPosition& key = open_.back().key_position;
      if (node.position.line != key.line) node.position = key;
    }
    Place(std::move(node));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Fail(mark, kNoAnchors);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor, const std::string& value) override {
    if (!Accepts(mark, tag, anchor)) return;
    ConfigNode node = MakeNode(ConfigNode::Kind::kScalar, mark);
    node.text = value;
    node.quoted = tag == "!";
    Place(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(ConfigNode::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag,
                  YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    Open(ConfigNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  // A list or map whose end has not come; in a map, the key whose value has
  // not come.
  struct OpenNode {
    ConfigNode node;
    bool has_key = false;
    std::string key;
    ConfigPosition key_position;
    absl::flat_hash_map<std::string, int> lines_of_keys;
  };

  static constexpr char kNoAnchors[] =
      "anchors and aliases are not allowed; write the value out";

  void Fail(const YAML::Mark& mark, std::string_view message) {
    if (status_.ok()) status_ = positions_.Find(mark).Error(message);
  }

  // Whether building goes on with this node.
  bool Accepts(const YAML::Mark& mark, const std::string& tag,
               YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) Fail(mark, kNoAnchors);
    // The library's own: none, "plain" and "not plain".
    if (!tag.empty() && tag != "?" && tag != "!") {
      Fail(mark, "tags are not allowed; write the value alone");
    }
    return status_.ok();
  }

  ConfigNode MakeNode(ConfigNode::Kind kind, const YAML::Mark& mark) {
    ConfigNode node;
    node.kind = kind;
    node.position = positions_.Find(mark);
    return node;
  }

  void Open(ConfigNode::Kind kind, const YAML::Mark& mark,
            const std::string& tag, YAML::anchor_t anchor) {
    if (!Accepts(mark, tag, anchor)) return;
    open_.emplace_back();
    open_.back().node = MakeNode(kind, mark);
  }

  void Close() {
    if (!status_.ok()) return;
    ConfigNode node = std::move(open_.back().node);
    open_.pop_back();
    Place(std::move(node));
  }

  // Puts a complete node where it belongs.
  void Place(ConfigNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    OpenNode& parent = open_.back();
    if (parent.node.kind == ConfigNode::Kind::kList) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.has_key) {
      parent.node.entries.push_back(
          {std::move(parent.key), parent.key_position, std::move(node)});
      parent.has_key = false;
    } else {
      TakeKey(std::move(node), parent);
    }
  }

  void TakeKey(ConfigNode key, OpenNode& parent) {
    if (key.kind != ConfigNode::Kind::kScalar) {
      status_ = key.position.Error("a key is " + key.Describe() +
                                   "; allowed: a word");
      return;
    }
    const auto [first, is_new] =
        parent.lines_of_keys.emplace(key.text, key.position.line);
    if (!is_new) {
      status_ = key.position.Error(
          absl::StrFormat("%s is given twice, first in line %d; allowed: once",
                          key.Describe(), first->second));
      return;
    }
    parent.has_key = true;
    parent.key = std::move(key.text);
    parent.key_position = key.position;
  }

  PositionFinder positions_;
  absl::Status status_;
  int num_documents_ = 0;
  std::vector<OpenNode> open_;
  ConfigNode root_;
};

}  // namespace

absl::Status ConfigPosition::Error(std::string_view message) const {
  std::string text;
  if (line != 0) text = absl::StrFormat("%d:%d: ", line, column);
  // A message is one line, whatever of the file it shows.
  for (const char c : message) text += IsControl(c) ? ' ' : c;
  return absl::InvalidArgumentError(text);
}

const ConfigNode* ConfigNode::Find(std::string_view key) const {
  for (const ConfigEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string ConfigNode::Describe() const {
  switch (kind) {
    case Kind::kNull:
      return "empty";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
    case Kind::kScalar:
      break;
  }
  std::string out = "`";
  for (size_t at = 0; at < text.size();) {
    if (at >= kMaxShownBytes) {
      out += "…";
      break;
    }
    const size_t length =
        std::max<size_t>(Utf8SequenceLength(text.substr(at)), 1);
    out += text.substr(at, length);
    at += length;
  }
  return out + "`";
}

absl::StatusOr<ConfigNode> ParseConfigDocument(std::string_view text) {
  if (text.substr(0, 3) == kByteOrderMark) text.remove_prefix(3);
  if (auto status = CheckCharacters(text); !status.ok()) return status;
  TreeBuilder builder(text);
  absl::Status status;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (builder.status().ok() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    status = PositionFinder(text)
                 .Find(error.mark)
                 .Error("not valid YAML: " + error.msg);
  } catch (const std::exception& error) {
    status = ConfigPosition{1, 1}.Error(std::string("not readable as YAML: ") +
                                        error.what());
  }
  // What the builder refused stands before what the library stumbled over.
  if (!builder.status().ok()) return builder.status();
  if (!status.ok()) return status;
  ConfigNode root = builder.TakeRoot();
  if (root.kind == ConfigNode::Kind::kNull) root.position = {1, 1};
  return root;
}

}  // namespace gatherd
