// Feeds bytes to what reads tokens: as a file of tokens, and as the value of a
// call's `authorization`.

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/access/access_control.h"
#include "server/access/token_set.h"
#include "tests/fuzz/fuzz_target.h"

namespace gatherd {
namespace {

constexpr char kToken[] = "t0ken";
constexpr char kUpdate[] = "/gatherd.v1.EmbeddingService/Update";

constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";

std::string_view Stripped(std::string_view line) {
  const size_t begin = line.find_first_not_of(kWhiteSpace);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kWhiteSpace) + 1 - begin);
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

bool IsGood(std::string_view token) {
  return std::all_of(token.begin(), token.end(),
                     [](char c) { return c > ' ' && c <= '~'; });
}

void FeedFile(std::string_view text) {
  const absl::StatusOr<TokenSet> tokens = TokenSet::Parse(text, "/t");
  size_t num_tokens = 0;
  size_t line_number = 0;
  for (const std::string_view line : Lines(text)) {
    ++line_number;
    const std::string_view token = Stripped(line);
    if (token.empty()) continue;
    if (!IsGood(token) || ++num_tokens > TokenSet::kMaxTokens) {
      // Refused at the first line that is wrong.
      FuzzRequire(absl::IsInvalidArgument(tokens.status()));
      const std::string place = "/t:" + std::to_string(line_number) + ": ";
      FuzzRequire(tokens.status().message().substr(0, place.size()) == place);
      return;
    }
    FuzzRequire(!tokens.ok() || tokens->Contains(DigestOfToken(token)));
  }
  FuzzRequire(tokens.ok() && tokens->size() == num_tokens);
}

// With kToken, which may write.
const AccessControl& Control() {
  static const AccessControl& control = [&]() -> const AccessControl& {
    const std::string path = "/tmp/token_fuzz_" + std::to_string(getpid());
    std::ofstream(path) << kToken;
    auto created = AccessControl::Create({"", path});
    std::remove(path.c_str());
    FuzzRequire(created.ok());
    return *created->release();
  }();
  return control;
}

// Whether a header is "Bearer t0ken", as RFC 7235 has it.
bool IsRight(std::string header) {
  if (header.size() < 7) return false;
  std::transform(header.begin(), header.begin() + 7, header.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (header.compare(0, 7, "bearer ") != 0) return false;
  const size_t token = header.find_first_not_of(' ', 6);
  return token != std::string::npos && header.substr(token) == kToken;
}

void FeedHeader(std::string_view header) {
  const absl::Status status = Control().Check(kUpdate, {header});
  FuzzRequire(status.ok() == IsRight(std::string(header)));
  FuzzRequire(status.ok() || absl::IsUnauthenticated(status));
  FuzzRequire(!Control().Check(kUpdate, {header, header}).ok());
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  return {"",
          "Bearer t0ken",
          "bearer   t0ken",
          "Basic t0ken",
          "Bearer t0ken ",
          "one\ntwo\n",
          "  one\t\r\n\n\n#two\r\nthree",
          "a b\n",
          "caf\xC3\xA9\n",
          std::string("\0\n", 2)};
}

}  // namespace gatherd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  gatherd::FeedFile(bytes);
  gatherd::FeedHeader(bytes);
  return 0;
}
