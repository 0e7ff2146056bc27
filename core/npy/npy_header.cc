#include "core/npy/npy_header.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/sizes.h"

namespace gatherd {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxDimensions = 32;  // as numpy's own

absl::Status Refuse(size_t offset, const std::string& reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("offset ", offset, ": ", reason));
}

// What a message shows of bytes that may be anything.
std::string Quoted(std::string_view bytes) {
  const std::string shown(bytes.substr(0, 40));
  return absl::StrCat("'", absl::CHexEscape(shown), "'");
}

// A little-endian number of at most 4 bytes.
uint32_t ReadLittleEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    value |= uint32_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  }
  return value;
}

// Reads the dictionary. Every look at the text goes through Peek and Take, so
// nothing outside it is ever read.
class DictionaryParser {
 public:
  // `offset`: of `text` in the file, for messages.
  DictionaryParser(std::string_view text, size_t offset)
      : text_(text), offset_(offset) {}

  // Fills type and shape.
  absl::Status Parse(NpyHeader* header);

 private:
  // The next character that is no blank, 0 at the end.
  char Peek();
  bool Take(char c);
  absl::Status Fail(const std::string& expected);

  absl::Status ParseItem(NpyHeader* header);
  absl::Status ParseString(std::string_view* value);
  absl::Status ParseDescr(NpyType* type);
  absl::Status ParseFortranOrder();
  absl::Status ParseShape(std::vector<uint64_t>* shape);
  absl::Status ParseLength(uint64_t* length);

  const std::string_view text_;
  const size_t offset_;
  size_t position_ = 0;
  bool has_descr_ = false;
  bool has_fortran_order_ = false;
  bool has_shape_ = false;
};

char DictionaryParser::Peek() {
  constexpr std::string_view kBlanks = " \t\r\n\f";
  position_ =
      std::min(text_.find_first_not_of(kBlanks, position_), text_.size());
  return position_ == text_.size() ? '\0' : text_[position_];
}

bool DictionaryParser::Take(char c) {
  if (Peek() != c) return false;
  ++position_;
  return true;
}

absl::Status DictionaryParser::Fail(const std::string& expected) {
  Peek();
  const std::string_view rest = text_.substr(position_);
  return Refuse(offset_ + position_,
                absl::StrCat("expected ", expected, " in the header, found ",
                             rest.empty() ? "its end" : Quoted(rest)));
}

absl::Status DictionaryParser::Parse(NpyHeader* header) {
  if (!Take('{')) return Fail("a dictionary");
  while (!Take('}')) {
    absl::Status status = ParseItem(header);
    if (!status.ok()) return status;
    if (!Take(',') && Peek() != '}') return Fail("',' or '}'");
  }
  const size_t end = position_;
  if (Peek() != '\0' || position_ != text_.size()) {
    return Fail("nothing behind the dictionary");
  }
  if (!has_descr_) return Refuse(offset_ + end, "the header has no 'descr'");
  if (!has_fortran_order_) {
    return Refuse(offset_ + end, "the header has no 'fortran_order'");
  }
  if (!has_shape_) return Refuse(offset_ + end, "the header has no 'shape'");
  return absl::OkStatus();
}

absl::Status DictionaryParser::ParseItem(NpyHeader* header) {
  Peek();
  const size_t start = position_;
  std::string_view key;
  absl::Status status = ParseString(&key);
  if (!status.ok()) return status;

  bool* seen = key == "descr"           ? &has_descr_
               : key == "fortran_order" ? &has_fortran_order_
               : key == "shape"         ? &has_shape_
                                        : nullptr;
  if (seen == nullptr) {
    return Refuse(offset_ + start,
                  absl::StrCat("the header has an unknown key ", Quoted(key)));
  }
  if (*seen) {
    return Refuse(offset_ + start,
                  absl::StrCat("the header has ", Quoted(key), " twice"));
  }
  *seen = true;
  if (!Take(':')) return Fail("':'");
  if (seen == &has_descr_) return ParseDescr(&header->type);
  if (seen == &has_fortran_order_) return ParseFortranOrder();
  return ParseShape(&header->shape);
}

// Without escapes, which no value that is accepted has.
absl::Status DictionaryParser::ParseString(std::string_view* value) {
  const char quote = Peek();
  if (quote != '\'' && quote != '"') return Fail("a string");
  const size_t begin = position_ + 1;
  const size_t end = text_.find(quote, begin);
  if (end == std::string_view::npos) return Fail("a string that ends");
  *value = text_.substr(begin, end - begin);
  position_ = end + 1;
  return absl::OkStatus();
}

absl::Status DictionaryParser::ParseDescr(NpyType* type) {
  const char first = Peek();
  const size_t start = position_;
  if (first == '[' || first == '(' || first == '{') {
    return Refuse(offset_ + start, "structured types are not supported");
  }
  std::string_view descr;
  absl::Status status = ParseString(&descr);
  if (!status.ok()) return status;
  if (!descr.empty() && descr[0] == '>') {
    return Refuse(offset_ + start,
                  absl::StrCat("type ", Quoted(descr),
                               " is big-endian; only little-endian is read"));
  }
  // '<' is what numpy writes. '=' and '|', native order, it reads as well.
  std::string_view name = descr;
  if (!name.empty() && (name[0] == '<' || name[0] == '=' || name[0] == '|')) {
    name.remove_prefix(1);
  }
  for (const auto& [known, known_type] :
       {std::pair<std::string_view, NpyType>{"f2", NpyType::kFloat16},
        {"f4", NpyType::kFloat32},
        {"f8", NpyType::kFloat64},
        {"i4", NpyType::kInt32},
        {"i8", NpyType::kInt64}}) {
    if (name == known && name.size() < descr.size()) {
      *type = known_type;
      return absl::OkStatus();
    }
  }
  return Refuse(offset_ + start,
                absl::StrCat("type ", Quoted(descr),
                             " is not supported; '<f4', '<f2', '<f8', '<i8' "
                             "and '<i4' are"));
}

absl::Status DictionaryParser::ParseFortranOrder() {
  Peek();
  const size_t start = position_;
  for (const std::string_view word : {"False", "True"}) {
    if (text_.substr(position_, word.size()) != word) continue;
    position_ += word.size();
    if (word == "False") return absl::OkStatus();
    return Refuse(offset_ + start,
                  "the array is column-major (fortran_order); only row-major "
                  "is read: save numpy.ascontiguousarray(a)");
  }
  return Fail("True or False");
}

absl::Status DictionaryParser::ParseShape(std::vector<uint64_t>* shape) {
  if (!Take('(')) return Fail("a tuple");
  bool comma = true;  // before this element
  while (!Take(')')) {
    if (!comma) return Fail("',' or ')'");
    if (shape->size() == kMaxDimensions) {
      return Fail(absl::StrCat("at most ", kMaxDimensions, " dimensions"));
    }
    absl::Status status = ParseLength(&shape->emplace_back());
    if (!status.ok()) return status;
    comma = Take(',');
  }
  // (3) is a number in brackets.
  if (shape->size() == 1 && !comma) return Fail("a tuple, as (3,)");
  return absl::OkStatus();
}

absl::Status DictionaryParser::ParseLength(uint64_t* length) {
  const char first = Peek();
  const size_t start = position_;
  if (first == '-') return Refuse(offset_ + start, "a length is negative");
  const size_t end =
      std::min(text_.find_first_not_of("0123456789", position_), text_.size());
  if (end == start) return Fail("a whole number");
  if (first == '0' && end > start + 1) {
    return Fail("a number without leading zeros");
  }
  std::optional<uint64_t> value = 0;
  for (; position_ < end; ++position_) {
    value = CheckedMul(*value, 10);
    if (value.has_value()) {
      value = CheckedAdd(*value, static_cast<uint64_t>(text_[position_] - '0'));
    }
    if (!value.has_value()) {
      return Refuse(offset_ + start, "a length is above 2^64 - 1");
    }
  }
  *length = *value;
  return absl::OkStatus();
}

// The bytes of all elements, and whether each length could be counted in.
std::optional<uint64_t> DataBytes(const NpyHeader& header) {
  std::optional<uint64_t> bytes = NpyTypeBytes(header.type);
  bool is_empty = false;
  for (const uint64_t length : header.shape) {
    is_empty = is_empty || length == 0;
    bytes = CheckedMul(*bytes, std::max<uint64_t>(1, length));
    if (!bytes.has_value()) return std::nullopt;
  }
  return is_empty ? 0 : bytes;
}

}  // namespace

size_t NpyTypeBytes(NpyType type) {
  switch (type) {
    case NpyType::kFloat16:
      return 2;
    case NpyType::kFloat32:
    case NpyType::kInt32:
      return 4;
    case NpyType::kFloat64:
    case NpyType::kInt64:
      return 8;
  }
  return 0;
}

std::string NpyTypeName(NpyType type) {
  switch (type) {
    case NpyType::kFloat16:
      return "float16";
    case NpyType::kFloat32:
      return "float32";
    case NpyType::kFloat64:
      return "float64";
    case NpyType::kInt32:
      return "int32";
    case NpyType::kInt64:
      return "int64";
  }
  return "unknown";
}

std::string NpyHeader::ShapeText() const {
  return absl::StrCat("(", absl::StrJoin(shape, ", "),
                      shape.size() == 1 ? ",)" : ")");
}

absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view file) {
  if (file.substr(0, kMagic.size()) != kMagic) {
    return Refuse(0, "not a .npy file: it does not begin with \\x93NUMPY");
  }
  const size_t version_offset = kMagic.size();
  if (file.size() < version_offset + 2) {
    return Refuse(file.size(), "the file ends within the header");
  }
  const int major = static_cast<uint8_t>(file[version_offset]);
  const int minor = static_cast<uint8_t>(file[version_offset + 1]);
  if ((major != 1 && major != 2) || minor != 0) {
    return Refuse(version_offset,
                  absl::StrCat("version ", major, ".", minor,
                               " of the format; 1.0 and 2.0 are read"));
  }

  const size_t length_offset = version_offset + 2;
  const size_t length_bytes = major == 1 ? 2 : 4;
  const size_t text_offset = length_offset + length_bytes;
  if (file.size() < text_offset) {
    return Refuse(file.size(), "the file ends within the header");
  }
  const uint64_t text_bytes =
      ReadLittleEndian(file.substr(length_offset, length_bytes));
  if (text_bytes > kMaxNpyHeaderBytes - text_offset) {
    return Refuse(length_offset,
                  absl::StrCat("a header of ", text_bytes, " bytes; at most ",
                               kMaxNpyHeaderBytes - text_offset, " are read"));
  }
  if (file.size() < text_offset + text_bytes) {
    return Refuse(file.size(),
                  absl::StrCat("the file ends within the header, which has ",
                               text_offset + text_bytes, " bytes"));
  }

  NpyHeader header;
  DictionaryParser parser(file.substr(text_offset, text_bytes), text_offset);
  absl::Status status = parser.Parse(&header);
  if (!status.ok()) return status;
  header.data_offset = text_offset + text_bytes;
  const std::optional<uint64_t> data_bytes = DataBytes(header);
  if (!data_bytes.has_value()) {
    return Refuse(text_offset, absl::StrCat("shape ", header.ShapeText(),
                                            " has more than 2^64 - 1 bytes"));
  }
  header.data_bytes = *data_bytes;
  return header;
}

}  // namespace gatherd
