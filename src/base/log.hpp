// SPDX-License-Identifier: Apache-2.0
// log.hpp  Decisions and performance hints, as loud as the environment says.
#pragma once

#include <string>
#include <string_view>

namespace tw {

enum class log_level { debug, info, warn };

/// Reads the environment; what it says holds from then on. Throws `rejected` TW0614 for a level,
/// an invalid level, subsystem or file.
///   TW_LOG_LEVEL   trace, debug, info, warn, error, off; without it `default_level`
///   TW_LOG_FILE    lines go there too, appended; %p becomes the process id, %h the host's name
///   TW_LOG_SUBSYS  only these, comma-separated: plan (what was chosen and why), hints, tune
///   TW_PRINT_CONFIG=1  lines about chosen plans at any level
/// A program that registers a spdlog logger named "tilewright" first gets all lines there instead.
void start_logging(char const* default_level);

/// Is such a line written? The first call of a program that did not start the log starts it, with
/// "off": a library is silent by default. There an invalid environment is reported once on stderr.
bool log_wanted(log_level level, std::string_view subsystem);

/// All lines go to this function too, whatever the environment says, with the level as a number:
/// 0 debug, 1 info, 2 warn. Any thread may call it, also one that began before another function was
/// set; nullptr: no longer.
using log_function = void (*)(void* context, int level, char const* line);
void set_log_function(log_function f, void* context);

/// Writes the line if it is wanted. Any thread may call it.
void log_line(log_level level, std::string_view subsystem, std::string const& text);

}  // namespace tw
