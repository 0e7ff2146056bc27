// Writes Bazel's test.xml, one element for each test case, beside whatever
// Catch2 prints. Linked into every test program; idle outside of `bazel test`.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "testing/skip.h"

namespace gatherd {
namespace {

std::string XmlEscaped(const std::string& text) {
  std::ostringstream escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped << "&lt;";
        break;
      case '>':
        escaped << "&gt;";
        break;
      case '&':
        escaped << "&amp;";
        break;
      case '"':
        escaped << "&quot;";
        break;
      default:
        // XML 1.0 has no way to write most control characters.
        escaped << (static_cast<unsigned char>(c) < 0x20 && c != '\n' ? '?'
                                                                      : c);
    }
  }
  return escaped.str();
}

class XmlListener : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    TestEventListenerBase::testCaseStarting(info);
    timer_.start();
    failures_.clear();
  }

  bool assertionEnded(const Catch::AssertionStats& stats) override {
    const Catch::AssertionResult& result = stats.assertionResult;
    if (result.isOk()) return false;
    std::ostringstream failure;
    failure << result.getSourceInfo() << ": " << result.getExpressionInMacro()
            << " " << result.getExpandedExpression() << " "
            << result.getMessage() << "\n";
    failures_ += failure.str();
    return false;
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    const std::string skip_reason = TakeSkipReason();
    std::ostringstream element;
    element << "<testcase name=\"" << XmlEscaped(stats.testInfo.name)
            << "\" time=\"" << timer_.getElapsedSeconds() << "\">";
    if (stats.totals.testCases.failed > 0) {
      ++num_failed_;
      element << "<failure message=\"failed\">" << XmlEscaped(failures_)
              << "</failure>";
    } else if (!skip_reason.empty()) {
      std::cout << "SKIPPED: " << stats.testInfo.name << ": " << skip_reason
                << std::endl;
      ++num_skipped_;
      element << "<skipped message=\"" << XmlEscaped(skip_reason) << "\"/>";
    }
    element << "</testcase>\n";
    elements_.push_back(element.str());
  }

  void testRunEnded(const Catch::TestRunStats& stats) override {
    const char* path = std::getenv("XML_OUTPUT_FILE");
    if (path == nullptr) return;
    std::ofstream file(path);
    file << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
         << "<testsuite name=\"" << XmlEscaped(stats.runInfo.name)
         << "\" tests=\"" << elements_.size() << "\" failures=\"" << num_failed_
         << "\" skipped=\"" << num_skipped_ << "\">\n";
    for (const std::string& element : elements_) file << element;
    file << "</testsuite>\n</testsuites>\n";
  }

 private:
  Catch::Timer timer_;
  std::string failures_;  // of the running test case
  std::vector<std::string> elements_;
  size_t num_failed_ = 0;
  size_t num_skipped_ = 0;
};

CATCH_REGISTER_LISTENER(XmlListener)

}  // namespace
}  // namespace gatherd
