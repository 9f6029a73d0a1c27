// SPDX-License-Identifier: Apache-2.0
// to_stdout.cpp  The end of an output: was all of it written?
#include "tools/io/to_stdout.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace tw {

rejection no_room_on_stdout(int error) {
  return {"TW0612", "standard output", std::strerror(error), "room to write", ""};
}

void flush_stdout() {
  errno = 0;
  bool const fine = std::cout.flush().good();
  if (std::fflush(stdout) != 0 || !fine || std::ferror(stdout) != 0)
    throw rejected(no_room_on_stdout(errno != 0 ? errno : EIO));
}

}  // namespace tw
