// SPDX-License-Identifier: Apache-2.0
// log.cpp  Empty functions instead of src/base/log.cpp: no environment variable of a page
//          requests a log.
#include "base/log.hpp"

namespace tw {

void start_logging(char const*) {}
bool log_wanted(log_level, std::string_view) { return false; }
void set_log_function(log_function, void*) {}
void log_line(log_level, std::string_view, std::string const&) {}

}  // namespace tw
