// SPDX-License-Identifier: Apache-2.0
// site_server.cpp  One connection after the other; a browser on this machine is the only client.
#include "tools/command/playground/site_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "tools/io/refuse.hpp"

namespace tw {
namespace {

constexpr std::size_t longest_request_bytes = 16 * 1024;
constexpr int wait_seconds = 5;  // for a client that says nothing

std::string status_only(std::string_view status) {
  return fmt::format(
      "HTTP/1.1 {0}\r\nContent-Type: text/plain\r\nContent-Length: {1}\r\n"
      "Connection: close\r\n\r\n{0}\n",
      status, status.size() + 1);
}

std::string_view content_type(std::string const& extension) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> types{
      {{".html", "text/html; charset=utf-8"},
       {".css", "text/css; charset=utf-8"},
       {".js", "text/javascript; charset=utf-8"},
       {".svg", "image/svg+xml"}}};
  auto const known = std::find_if(types.begin(), types.end(),
                                  [&](auto const& type) { return type.first == extension; });
  return known == types.end() ? "application/octet-stream" : known->second;
}

/// Names of files and folders of the site; "" is index.html. Empty if it can be none.
std::string file_of(std::string_view target) {
  target = target.substr(0, target.find_first_of("?#"));
  if (!target.starts_with('/')) return "";
  target.remove_prefix(1);
  if (target.empty()) return "index.html";
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
  bool const fine = target.find_first_not_of(allowed) == target.npos &&
                    target.find("..") == target.npos && !target.starts_with('/');
  return fine ? std::string(target) : "";
}

std::string header_of(std::string_view request, std::string_view name) {
  for (std::size_t at = request.find("\r\n"); at != request.npos; at = request.find("\r\n", at)) {
    at += 2;
    std::string_view const line = request.substr(at, request.find("\r\n", at) - at);
    if (line.size() <= name.size() || line[name.size()] != ':') continue;
    if (!std::equal(name.begin(), name.end(), line.begin(),
                    [](char a, char b) { return (a | 0x20) == (b | 0x20); }))
      continue;
    std::string_view value = line.substr(name.size() + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    return std::string(value);
  }
  return "";
}

void send_all(int client, std::string_view text) {
  while (!text.empty()) {
    ssize_t const sent = ::send(client, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the browser has left
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string received(int client) {
  std::string request;
  std::array<char, 4096> part;
  while (request.find("\r\n\r\n") == request.npos && request.size() < longest_request_bytes) {
    ssize_t const got = ::recv(client, part.data(), part.size(), 0);
    if (got <= 0) break;
    request.append(part.data(), static_cast<std::size_t>(got));
  }
  return request;
}

}  // namespace

std::string http_answer(std::filesystem::path const& folder, int port, std::string const& request) {
  std::string_view const line = std::string_view(request).substr(0, request.find("\r\n"));
  bool const head = line.starts_with("HEAD ");
  if (!head && !line.starts_with("GET ")) return status_only("405 Method Not Allowed");
  std::string const host = header_of(request, "Host");
  if (host != fmt::format("127.0.0.1:{}", port) && host != fmt::format("localhost:{}", port))
    return status_only("403 Forbidden");
  std::string_view target = line.substr(line.find(' ') + 1);
  target = target.substr(0, target.find(' '));
  std::string const name = file_of(target);
  std::error_code none;
  std::filesystem::path const path = folder / name;
  if (name.empty() || !std::filesystem::is_regular_file(path, none))
    return status_only("404 Not Found");
  std::ifstream file(path, std::ios::binary);
  std::string const body{std::istreambuf_iterator<char>(file), {}};
  return fmt::format(
             "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
             "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\n"
             "Referrer-Policy: no-referrer\r\nConnection: close\r\n\r\n",
             content_type(path.extension().string()), body.size()) +
         (head ? "" : body);
}

site_server::site_server(std::filesystem::path folder, int port) : folder_(std::move(folder)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int const yes = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  socklen_t bytes = sizeof address;
  if (listener_ < 0 || ::bind(listener_, any, bytes) != 0 || ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, any, &bytes) != 0) {
    std::string const why = std::strerror(errno);
    if (listener_ >= 0) ::close(listener_);
    refuse("TW0613", fmt::format("port {} of 127.0.0.1", port), why, "a port that is free",
           "--port 0 takes one that is");
  }
  port_ = ntohs(address.sin_port);
}

site_server::~site_server() { ::close(listener_); }

void site_server::serve() const {
  for (;;) {
    int const client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    timeval const wait{wait_seconds, 0};
    ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    ::setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    if (std::string const request = received(client); !request.empty())
      send_all(client, http_answer(folder_, port_, request));
    ::close(client);
  }
}

}  // namespace tw
