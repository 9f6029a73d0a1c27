// SPDX-License-Identifier: Apache-2.0
// stream.cpp  open, read until there is no more.
#include "tools/io/stream.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "tools/io/refuse.hpp"

namespace tw {

bool is_stream(std::string const& path) {
  return path == "-" || path == "/dev/stdin" || path.starts_with("/dev/fd/");
}

std::vector<std::byte> read_stream(std::string const& path) {
  bool const is_stdin = path == "-" || path == "/dev/stdin" || path == "/dev/fd/0";
  static std::set<std::string> seen;
  if (!seen.insert(is_stdin ? "-" : path).second)
    refuse("TW0601", "stream " + path, "a stream that another operand was read from",
           "a stream for each operand, or a file");
  int const fd = is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) refuse("TW0601", "stream " + path, std::strerror(errno), "a stream that is open");
  std::vector<std::byte> content;
  constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
  while (true) {
    std::size_t const used = content.size();
    content.resize(used + chunk_bytes);
    ssize_t const got = ::read(fd, content.data() + used, chunk_bytes);
    if (got < 0 && errno != EINTR)
      refuse("TW0601", "stream " + path, std::strerror(errno), "a stream that can be read");
    content.resize(used + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got == 0) break;
  }
  if (!is_stdin) ::close(fd);
  return content;
}

}  // namespace tw
