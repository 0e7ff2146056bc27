#include "tests/core/npy/npy_bytes.h"

#include <cstdlib>
#include <fstream>

namespace gatherd {

std::string NpyHeaderBytes(const std::string& text, int major, int minor) {
  const size_t length_bytes = major == 1 ? 2 : 4;
  const size_t prefix_bytes = 8 + length_bytes;
  std::string padded = text;
  while ((prefix_bytes + padded.size() + 1) % 64 != 0) padded += ' ';
  padded += '\n';

  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(major);
  bytes += static_cast<char>(minor);
  for (size_t i = 0; i < length_bytes; ++i) {
    bytes += static_cast<char>(padded.size() >> (8 * i) & 0xff);
  }
  return bytes + padded;
}

std::string NpyDictionary(const std::string& descr, const std::string& shape) {
  return "{'descr': '" + descr +
         "', 'fortran_order': False, 'shape': " + shape + ", }";
}

std::string WriteTestFile(const std::string& name, const std::string& bytes) {
  const char* folder = std::getenv("TEST_TMPDIR");
  const std::string path =
      std::string(folder == nullptr ? "/tmp" : folder) + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace gatherd
