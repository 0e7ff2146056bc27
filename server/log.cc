#include "server/log.h"

#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <string>

#include "absl/strings/str_format.h"
#include "server/stderr_writer.h"
#include "server/utf8.h"
#include "spdlog/logger.h"
#include "spdlog/pattern_formatter.h"
#include "spdlog/sinks/base_sink.h"

namespace gatherd {
namespace {

constexpr char kTextPattern[] = "%Y-%m-%dT%H:%M:%S.%fZ [%l] %v";
// The payload is the rest of the object.
constexpr char kJsonPattern[] =
    R"({"time":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l",%v})";

// Appends `text` so that it stays on one line: control characters as JSON
// writes them, what is not UTF-8 as U+FFFD, and a backslash before each of
// `quoted`.
void AppendEscaped(std::string_view text, std::string_view quoted,
                   std::string& out) {
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    const char c = text[0];
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (length > 1) {
      out.append(text.substr(0, length));
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20 || c == 0x7F) {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned>(c));
    } else {
      if (quoted.find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  AppendEscaped(text, "\"\\", out);
  return out += '"';
}

std::string JsonPayload(std::string_view message,
                        std::initializer_list<LogField> fields) {
  std::string out = "\"message\":" + Quoted(message);
  for (const LogField& field : fields) {
    const LogValue& value = field.value;
    out += ',' + Quoted(field.key) + ':';
    out += value.is_text() ? Quoted(value.text()) : value.text();
  }
  return out;
}

// Whether a value needs quotes for its end to be seen in a line of text.
bool NeedsQuotes(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == '"' || byte == '\\' || byte == '=' ||
        byte >= 0x7F) {
      return true;
    }
  }
  return text.empty();
}

std::string TextPayload(std::string_view message,
                        std::initializer_list<LogField> fields) {
  std::string out;
  AppendEscaped(message, "", out);
  for (const LogField& field : fields) {
    const std::string& text = field.value.text();
    out.append(" ").append(field.key).append("=");
    out += NeedsQuotes(text) ? Quoted(text) : text;
  }
  return out;
}

spdlog::level::level_enum ToLibrary(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

// The library's own would wait for ever for who reads stderr.
class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit StderrSink(StderrWriter& writer) : writer_(writer) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    writer_.Write({line.data(), line.size()});
  }
  void flush_() override {}

  StderrWriter& writer_;
};

class Logger {
 public:
  Logger() : library_("gatherd", std::make_shared<StderrSink>(writer_)) {
    library_.set_level(spdlog::level::trace);  // Write filters
    SetUp(LogConfig());
  }

  void SetUp(const LogConfig& config) {
    config_ = config;
    library_.set_pattern(
        config.format == LogFormat::kJson ? kJsonPattern : kTextPattern,
        spdlog::pattern_time_type::utc);
  }

  bool Wants(LogLevel level) const { return level >= config_.level; }

  void Write(LogLevel level, std::string_view message,
             std::initializer_list<LogField> fields) {
    WriteLine(level, message, fields);
    const uint64_t num_lost = writer_.TakeNumLost();
    if (num_lost > 0) {
      WriteLine(LogLevel::kWarning, "lines before this one were lost",
                {{"lines", num_lost}});
    }
  }

 private:
  void WriteLine(LogLevel level, std::string_view message,
                 std::initializer_list<LogField> fields) {
    const std::string payload = config_.format == LogFormat::kJson
                                    ? JsonPayload(message, fields)
                                    : TextPayload(message, fields);
    library_.log(ToLibrary(level), payload);
  }

  LogConfig config_;  // constant once threads run
  StderrWriter writer_;
  spdlog::logger library_;
};

// Never destroyed: threads may log while the process ends.
Logger& TheLogger() {
  static Logger& logger = *new Logger;
  return logger;
}

}  // namespace

LogValue::LogValue(double value) {
  if (std::isfinite(value)) {
    text_ = absl::StrFormat("%.6g", value);
  } else {
    text_ = absl::StrFormat("%f", value);  // JSON has no number for it
    is_text_ = true;
  }
}

void SetUpLogging(const LogConfig& config) { TheLogger().SetUp(config); }

void Log(LogLevel level, std::string_view message,
         std::initializer_list<LogField> fields) {
  Logger& logger = TheLogger();
  if (logger.Wants(level)) logger.Write(level, message, fields);
}

void Announce(std::string_view message) {
  TheLogger().Write(LogLevel::kInfo, message, {});
}

}  // namespace gatherd
