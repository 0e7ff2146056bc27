// A small HTTP server for pages that cost little: metrics, probes, status.
#ifndef GATHERD_SERVER_HTTP_SERVER_H_
#define GATHERD_SERVER_HTTP_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace gatherd {

struct HttpPage {
  int status = 200;
  std::string content_type;
  std::string body;
  std::map<std::string, std::string> headers;  // besides Content-Type
};

// By path, called on any of the server's threads, several at a time.
using HttpPages = std::map<std::string, std::function<HttpPage()>>;

// Serves until destroyed, which waits for no client. A connection has a thread
// of its own, 2 s to ask, 10 s to read the answer, and is closed after it: a
// scrape or a probe makes a new one. At the bound of 512 connections a new one
// ends the oldest, so that slow clients keep nobody out.
class HttpServer {
 public:
  virtual ~HttpServer() = default;

  // Opens `address`, HOST:PORT. UNAVAILABLE naming it if it cannot be had.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Listen(
      const std::string& address, HttpPages pages);

  // Where it listens, with the port that was picked for port 0.
  virtual const std::string& address() const = 0;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_HTTP_SERVER_H_
