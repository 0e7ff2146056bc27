// The matrix of the status page that says how GPUs reach each other's memory: a
// row for each GPU that reads and writes, a column for each whose memory it is.
// Found out at start, so the page's script has nothing to renew.
#ifndef GATHERD_SERVER_STATUS_PAGE_LINKS_HTML_H_
#define GATHERD_SERVER_STATUS_PAGE_LINKS_HTML_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace gatherd {

// `links`: of CollectStatus. Empty if there are none.
std::string LinksHtml(const nlohmann::ordered_json& links);

}  // namespace gatherd

#endif  // GATHERD_SERVER_STATUS_PAGE_LINKS_HTML_H_
