#include "server/access/access_right.h"

#include <algorithm>
#include <array>

namespace gatherd {
namespace {

constexpr std::array<std::string_view, 4> kReads = {
    "/gatherd.v1.EmbeddingService/Lookup",
    "/gatherd.v1.EmbeddingService/LookupStream",
    "/gatherd.v1.TableService/ListTables",
    "/gatherd.v1.TableService/GetServerInfo",
};
constexpr std::string_view kHealth = "/grpc.health.v1.Health/";
// Of any version of the protocol. It tells the API, which is public, and
// nothing of the tables.
constexpr std::string_view kReflection = "/grpc.reflection.";

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

}  // namespace

AccessRight RightForMethod(std::string_view path) {
  if (std::find(kReads.begin(), kReads.end(), path) != kReads.end()) {
    return AccessRight::kRead;
  }
  if (StartsWith(path, kHealth)) return AccessRight::kNone;
  return StartsWith(path, kReflection) ? AccessRight::kRead
                                       : AccessRight::kWrite;
}

}  // namespace gatherd
