// The status document as HTML: a page that says it all without JavaScript, and
// whose cells name the value they show, so that the page's script can put in
// newer ones.
#ifndef GATHERD_SERVER_STATUS_PAGE_STATUS_HTML_H_
#define GATHERD_SERVER_STATUS_PAGE_STATUS_HTML_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace gatherd {

// `status`: of CollectStatus.
std::string RenderStatusHtml(const nlohmann::ordered_json& status);

}  // namespace gatherd

#endif  // GATHERD_SERVER_STATUS_PAGE_STATUS_HTML_H_
