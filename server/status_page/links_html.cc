#include "server/status_page/links_html.h"

#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "server/status_page/status_text.h"

namespace gatherd {
namespace {

using Json = nlohmann::ordered_json;

// What one GPU can do with another's memory, in words.
std::string LinkText(const Json& link) {
  if (!link.at("verified").get<bool>()) {
    return HtmlText(link.at("problem").get<std::string>());
  }
  return link.at("native_atomics").get<bool>() ? "verified, native atomics"
                                               : "verified, no native atomics";
}

}  // namespace

std::string LinksHtml(const nlohmann::ordered_json& links) {
  if (links.empty()) return "";
  std::map<int, std::map<int, std::string>> rows;
  for (const Json& link : links) {
    rows[link.at("from").get<int>()][link.at("to").get<int>()] = LinkText(link);
  }
  std::string html =
      "<table role=\"table\" id=\"links\"><caption>How each GPU reaches the "
      "memory of the others, as tried at start</caption>\n"
      "<thead role=\"rowgroup\"><tr role=\"row\">"
      "<th role=\"columnheader\" scope=\"col\">from</th>";
  for (const auto& [to, row] : rows) {
    absl::StrAppend(&html,
                    "<th role=\"columnheader\" scope=\"col\" "
                    "data-as=\"prose\">to GPU ",
                    to, "</th>");
  }
  absl::StrAppend(&html, "</tr></thead>\n<tbody role=\"rowgroup\">\n");
  for (const auto& [from, row] : rows) {
    absl::StrAppend(&html,
                    "<tr role=\"row\"><th role=\"rowheader\" scope=\"row\" "
                    "data-label=\"from\">GPU ",
                    from, "</th>");
    for (const auto& [to, unused] : rows) {
      const auto cell = row.find(to);
      absl::StrAppend(&html, "<td role=\"cell\" data-label=\"to GPU ", to,
                      "\" data-as=\"prose\">",
                      cell == row.end() ? "–" : cell->second, "</td>");
    }
    absl::StrAppend(&html, "</tr>\n");
  }
  return absl::StrCat(html, "</tbody></table>\n");
}

}  // namespace gatherd
