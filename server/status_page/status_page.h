// The page at /, for a person with a browser: what this server is and does,
// with charts that its script draws from /status.json. Thread-safe.
#ifndef GATHERD_SERVER_STATUS_PAGE_STATUS_PAGE_H_
#define GATHERD_SERVER_STATUS_PAGE_STATUS_PAGE_H_

#include <utility>

#include "server/http_server.h"
#include "server/serving_context.h"
#include "server/status_page/status_document.h"

namespace gatherd {

class StatusPage {
 public:
  // What the context refers to outlives this.
  StatusPage(const ServingContext& context, ServerIdentity identity)
      : context_(context), identity_(std::move(identity)) {}

  // Needs nothing from elsewhere, and its headers allow nothing else.
  HttpPage Html() const;
  HttpPage Json() const;

 private:
  const ServingContext& context_;
  const ServerIdentity identity_;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_STATUS_PAGE_STATUS_PAGE_H_
