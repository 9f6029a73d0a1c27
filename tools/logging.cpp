// SPDX-License-Identifier: Apache-2.0
// logging.cpp  spdlog's default logger with two sinks.
#include "tools/logging.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tools/io/refuse.hpp"

namespace tw {
namespace {

spdlog::level::level_enum wanted_level() {
  char const* text = std::getenv("TW_LOG_LEVEL");
  std::string const level = text == nullptr ? "warn" : text;
  // from_str answers "off" for what it does not know.
  auto const parsed = spdlog::level::from_str(level);
  if (parsed == spdlog::level::off && level != "off") {
    refuse("TW0614", "environment variable TW_LOG_LEVEL", level,
           "trace, debug, info, warn, error or off");
  }
  return parsed;
}

}  // namespace

void start_logging() {
  std::vector<spdlog::sink_ptr> sinks{std::make_shared<spdlog::sinks::stderr_color_sink_mt>()};
  sinks[0]->set_pattern("tilewright: %^%l%$: %v");
  if (char const* file = std::getenv("TW_LOG_FILE"); file != nullptr && *file != '\0') {
    try {
      sinks.push_back(std::make_shared<spdlog::sinks::basic_file_sink_mt>(file));
    } catch (spdlog::spdlog_ex const& e) {
      refuse("TW0614", "environment variable TW_LOG_FILE", e.what(), "a file that can be written");
    }
  }
  auto const logger = std::make_shared<spdlog::logger>("tilewright", sinks.begin(), sinks.end());
  logger->set_level(wanted_level());
  spdlog::set_default_logger(logger);
}

}  // namespace tw
