// SPDX-License-Identifier: Apache-2.0
// site_server.hpp  A folder of static files over HTTP, on 127.0.0.1 alone.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace tw {

class site_server {
 public:
  /// Listens; port 0: one that is free. Throws `rejected` TW0613 if the port cannot be used.
  site_server(std::filesystem::path folder, int port);
  ~site_server();
  site_server(site_server const&) = delete;
  site_server& operator=(site_server const&) = delete;

  int port() const { return port_; }
  /// Answers requests until the process ends.
  [[noreturn]] void serve() const;

 private:
  std::filesystem::path folder_;
  int listener_ = -1, port_ = 0;
};

/// The answer to a request, for tests: header and body. GET and HEAD of files below the folder; 404
/// for everything else, 403 for a Host other than 127.0.0.1 or localhost with this port, so that no
/// other site can read the pages under its own name.
std::string http_answer(std::filesystem::path const& folder, int port, std::string const& request);

}  // namespace tw
