// SPDX-License-Identifier: Apache-2.0
// to_stdout.cpp  Instead of tools/io/to_stdout.cpp, for a module without the streams of C++: what
//                is written to a module's standard output is kept in memory.
#include "tools/io/to_stdout.hpp"

#include <cstdio>
#include <cstring>

namespace tw {

rejection no_room_on_stdout(int error) {
  return {"TW0612", "standard output", std::strerror(error), "room to write", ""};
}

void flush_stdout() { std::fflush(stdout); }

}  // namespace tw
