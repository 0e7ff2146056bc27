// Part of gatherbench's command line: values of flags, checked one by one.
#ifndef GATHERD_CLIENT_BENCH_FLAG_READER_H_
#define GATHERD_CLIENT_BENCH_FLAG_READER_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cli/flags.h"

namespace gatherd::client {

// Keeps the first thing that is wrong, which names the flag and what is
// allowed; what is returned for a wrong value means nothing.
class FlagReader {
 public:
  explicit FlagReader(const CommandLine& line) : line_(line) {}

  const absl::Status& status() const { return status_; }
  bool Has(const char* name) const { return line_.Has(name); }

  std::string Text(const char* name, std::string otherwise) const;
  int Int(const char* name, int otherwise, int min, int max);
  double Double(const char* name, double otherwise, double min, double max,
                const char* allowed);
  // A,B,...; none without the flag.
  std::vector<double> Doubles(const char* name, double min, double max,
                              const char* allowed);
  // LO:HI:STEPS: so many numbers, evenly from LO to HI.
  std::vector<double> Sweep(const char* name, double min, double max,
                            const char* allowed);
  absl::Duration Duration(const char* name, absl::Duration otherwise,
                          absl::Duration min);
  // 0 without the flag.
  uint64_t Rows(const char* name);

  // The value of the flag's word in `choices`.
  template <typename T>
  T Choice(const char* name, T otherwise,
           std::initializer_list<std::pair<const char*, T>> choices) {
    const auto text = line_.Get(name);
    if (!text.has_value()) return otherwise;
    std::string words;
    for (const auto& [word, value] : choices) {
      if (*text == word) return value;
      absl::StrAppend(&words, words.empty() ? "" : ", ", word);
    }
    Refuse(name, *text, absl::StrCat("allowed is one of ", words));
    return otherwise;
  }

  void Refuse(absl::string_view message);

 private:
  void Refuse(const char* name, const std::string& text,
              absl::string_view allowed);

  const CommandLine& line_;
  absl::Status status_;
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_FLAG_READER_H_
