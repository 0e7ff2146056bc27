// The page at /: what this server is and does, for a person with a browser.
#ifndef GATHERD_SERVER_STATUS_PAGE_H_
#define GATHERD_SERVER_STATUS_PAGE_H_

#include <string>

#include "server/serving_context.h"

namespace gatherd {

// "loading", "serving" or "draining".
const char* ServingPhaseName(ServingPhase phase);

// HTML that needs nothing from elsewhere.
std::string RenderStatusPage(const ServingContext& context,
                             const std::string& backend);

}  // namespace gatherd

#endif  // GATHERD_SERVER_STATUS_PAGE_H_
