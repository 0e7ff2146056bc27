// The process's log: one line an event on stderr, as text or as JSON, flushed
// as it is written. Keeps the logging library out of every other header.
//
//   Log(LogLevel::kInfo, "table loaded", {{"table", name}, {"rows", n}});
//
// A message is a constant phrase; what varies goes into the fields. Nothing
// secret is ever given to it. Thread-safe once SetUpLogging has returned, and
// before that logs as by default.
#ifndef GATHERD_SERVER_LOG_H_
#define GATHERD_SERVER_LOG_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace gatherd {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };
enum class LogFormat : uint8_t {
  kText,  // 2026-01-31T10:00:00.000000Z [info] table loaded table=words rows=5
  kJson,  // {"time":"…","level":"info","message":"table loaded","rows":5}
};

struct LogConfig {
  LogLevel level = LogLevel::kInfo;  // what is below is dropped
  LogFormat format = LogFormat::kText;
};

// A field's value: in JSON a number or a boolean stays one.
class LogValue {
 public:
  // NOLINTBEGIN(google-explicit-constructor)
  LogValue(std::string_view text) : text_(text), is_text_(true) {}
  LogValue(const std::string& text) : text_(text), is_text_(true) {}
  LogValue(const char* text) : text_(text), is_text_(true) {}
  LogValue(bool value) : text_(value ? "true" : "false") {}
  LogValue(double value);
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  LogValue(T value) : text_(std::to_string(value)) {}
  // NOLINTEND(google-explicit-constructor)

  const std::string& text() const { return text_; }
  bool is_text() const { return is_text_; }

 private:
  std::string text_;
  bool is_text_ = false;
};

struct LogField {
  std::string_view key;  // a word; not one of time, level, message
  LogValue value;
};

// Call once, before other threads log.
void SetUpLogging(const LogConfig& config);

void Log(LogLevel level, std::string_view message,
         std::initializer_list<LogField> fields = {});

// An information line that no level drops: what scripts wait for, such as
// `listening on ADDRESS`.
void Announce(std::string_view message);

}  // namespace gatherd

#endif  // GATHERD_SERVER_LOG_H_
