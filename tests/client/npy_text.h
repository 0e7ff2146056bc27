// The bytes of a .npy file, as numpy.save writes them.
#ifndef GATHERD_TESTS_CLIENT_NPY_TEXT_H_
#define GATHERD_TESTS_CLIENT_NPY_TEXT_H_

#include <string>
#include <vector>

namespace gatherd::client {

// `descr` is numpy's name of T: "<f4", "<f8", "<i4", "<i8"; `shape` a Python
// tuple such as "(3, 2)".
template <typename T>
std::string NpyText(const std::string& descr, const std::string& shape,
                    const std::vector<T>& elements) {
  std::string header = "{'descr': '" + descr +
                       "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(118, ' ');
  header.back() = '\n';
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header +
         std::string(reinterpret_cast<const char*>(elements.data()),
                     elements.size() * sizeof(T));
}

}  // namespace gatherd::client

#endif  // GATHERD_TESTS_CLIENT_NPY_TEXT_H_
