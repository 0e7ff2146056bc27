#include "server/status_page/status_page.h"

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/status_page/page_files.h"
#include "server/status_page/status_html.h"

namespace gatherd {
namespace {

// Only what the page was built with runs in it, and it asks this server alone.
std::string ContentSecurityPolicy() {
  return absl::StrCat("default-src 'none'; style-src '", kStatusPageStyleHash,
                      "'; script-src '", kStatusPageScriptHash,
                      "'; connect-src 'self'; img-src data:; base-uri 'none'; "
                      "form-action 'none'; frame-ancestors 'none'");
}

}  // namespace

HttpPage StatusPage::Html() const {
  return {200,
          "text/html; charset=utf-8",
          RenderStatusHtml(CollectStatus(context_, identity_)),
          {{"Content-Security-Policy", ContentSecurityPolicy()},
           {"X-Content-Type-Options", "nosniff"},
           {"Referrer-Policy", "no-referrer"},
           {"Cache-Control", "no-store"}}};
}

HttpPage StatusPage::Json() const {
  using ErrorHandler = nlohmann::ordered_json::error_handler_t;
  // What a driver calls a device may not be UTF-8: replaced, not refused.
  return {
      200,
      "application/json",
      CollectStatus(context_, identity_)
              .dump(-1, ' ', false, ErrorHandler::replace) +
          "\n",
      {{"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-store"}}};
}

}  // namespace gatherd
