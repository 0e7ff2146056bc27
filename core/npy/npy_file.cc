#include "core/npy/npy_file.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "core/base/sizes.h"

namespace gatherd {
namespace {

absl::Status Refuse(const std::string& path, const std::string& reason) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", reason));
}

absl::StatusOr<NpyHeader> ReadHeader(const InputFile& file) {
  std::string head(std::min<uint64_t>(file.size(), kMaxNpyHeaderBytes), '\0');
  absl::Status status =
      file.Read(0, {reinterpret_cast<std::byte*>(head.data()), head.size()});
  if (!status.ok()) return status;
  absl::StatusOr<NpyHeader> header = ParseNpyHeader(head);
  if (!header.ok()) {
    return Refuse(file.path(), std::string(header.status().message()));
  }
  return header;
}

}  // namespace

absl::StatusOr<NpyFile> NpyFile::Open(const std::string& path,
                                      size_t num_dimensions) {
  absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return std::move(file).status();
  absl::StatusOr<NpyHeader> header = ReadHeader(*file);
  if (!header.ok()) return std::move(header).status();

  if (header->shape.size() != num_dimensions) {
    return Refuse(path, absl::StrCat("offset 0: shape ", header->ShapeText(),
                                     " has ", header->shape.size(),
                                     " dimensions, not ", num_dimensions));
  }
  const std::optional<uint64_t> end =
      CheckedAdd(header->data_offset, header->data_bytes);
  if (!end.has_value() || file->size() < *end) {
    return Refuse(
        path, absl::StrCat("offset ", file->size(),
                           ": the file is cut short: ", header->ShapeText(),
                           " of ", NpyTypeName(header->type), " has ",
                           header->data_bytes, " bytes, of which ",
                           file->size() - header->data_offset, " are here"));
  }
  if (file->size() > *end) {
    return Refuse(path, absl::StrCat("offset ", *end, ": ", file->size() - *end,
                                     " bytes stand behind the last element"));
  }
  return NpyFile(*std::move(file), *std::move(header));
}

NpyFile::NpyFile(InputFile file, NpyHeader header)
    : file_(std::move(file)), header_(std::move(header)) {
  for (size_t i = 1; i < header_.shape.size(); ++i) {
    row_elements_ *= header_.shape[i];
  }
}

}  // namespace gatherd
