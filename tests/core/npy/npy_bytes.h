// Makes .npy files, good and bad ones.
#ifndef GATHERD_TESTS_CORE_NPY_NPY_BYTES_H_
#define GATHERD_TESTS_CORE_NPY_NPY_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gatherd {

// The header with `text` for its dictionary, padded as numpy does it.
std::string NpyHeaderBytes(const std::string& text, int major = 1,
                           int minor = 0);

// "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"
std::string NpyDictionary(const std::string& descr, const std::string& shape);

template <typename T>
std::string NpyBytes(const std::string& descr, const std::string& shape,
                     const std::vector<T>& elements, int major = 1) {
  return NpyHeaderBytes(NpyDictionary(descr, shape), major) +
         std::string(reinterpret_cast<const char*>(elements.data()),
                     elements.size() * sizeof(T));
}

// Writes a file into the test's temporary folder and returns its path.
std::string WriteTestFile(const std::string& name, const std::string& bytes);

}  // namespace gatherd

#endif  // GATHERD_TESTS_CORE_NPY_NPY_BYTES_H_
