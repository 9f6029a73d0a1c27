// SPDX-License-Identifier: Apache-2.0
// log.cpp  One spdlog logger with two sinks.
#include "base/log.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <mutex>
#include <sstream>

#include "base/fork_safe.hpp"
#include "tilewright/base/check.hpp"

namespace tw {
namespace {

constexpr char const* name_of_logger = "tilewright";
constexpr std::string_view known_subsystems[] = {"plan", "hints", "tune"};

struct log_state {
  std::shared_ptr<spdlog::logger> logger;
  std::vector<std::string> subsystems;  // empty: all
  bool print_config = false;
  bool own = true;  // not the program's logger: `writing` guards its sinks
};

std::string variable(char const* name) {
  char const* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

[[noreturn]] void refuse_variable(std::string const& name, std::string const& got,
                                  std::string const& need) {
  throw rejected({"TW0614", "environment variable " + name, got, need, ""});
}

spdlog::level::level_enum wanted_level(char const* default_level) {
  std::string const asked = variable("TW_LOG_LEVEL");
  std::string level = asked.empty() ? default_level : asked;
  for (char& c : level) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  // from_str answers "off" for what it does not know.
  auto const parsed = spdlog::level::from_str(level);
  if (parsed == spdlog::level::off && level != "off")
    refuse_variable("TW_LOG_LEVEL", asked, "trace, debug, info, warn, error or off");
  return parsed;
}

std::vector<std::string> wanted_subsystems() {
  std::vector<std::string> wanted;
  std::istringstream words(variable("TW_LOG_SUBSYS"));
  for (std::string word; std::getline(words, word, ',');) {
    if (std::ranges::find(known_subsystems, word) == std::end(known_subsystems))
      refuse_variable("TW_LOG_SUBSYS", word, "plan, hints, tune, with commas between them");
    wanted.push_back(word);
  }
  return wanted;
}

std::string file_name() {
  std::string name = variable("TW_LOG_FILE");
  auto const replace = [&](char const* what, std::string const& with) {
    for (std::size_t at = name.find(what); at != std::string::npos; at = name.find(what))
      name.replace(at, 2, with);
  };
  replace("%p", std::to_string(::getpid()));
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  replace("%h", host);
  return name;
}

log_state state_of_environment(char const* default_level) {
  log_state s;
  s.subsystems = wanted_subsystems();
  s.print_config = variable("TW_PRINT_CONFIG") == "1";
  auto const level = wanted_level(default_level);
  if ((s.logger = spdlog::get(name_of_logger))) {
    s.own = false;
    return s;
  }
  std::vector<spdlog::sink_ptr> sinks{std::make_shared<spdlog::sinks::stderr_color_sink_st>()};
  sinks[0]->set_pattern("tilewright: %^%l%$: %v");
  if (std::string const file = file_name(); !file.empty()) {
    // spdlog would make a folder that was only misspelt.
    std::filesystem::path const folder = std::filesystem::path(file).parent_path();
    if (std::error_code ignored; !folder.empty() && !std::filesystem::is_directory(folder, ignored))
      refuse_variable("TW_LOG_FILE", file, "a file in a folder that exists");
    try {
      sinks.push_back(std::make_shared<spdlog::sinks::basic_file_sink_st>(file));
    } catch (spdlog::spdlog_ex const& e) {
      refuse_variable("TW_LOG_FILE", e.what(), "a file that can be written");
    }
  }
  s.logger = std::make_shared<spdlog::logger>(name_of_logger, sinks.begin(), sinks.end());
  s.logger->set_level(level);
  s.logger->flush_on(spdlog::level::info);
  return s;
}

fork_safe_mutex mutex, writing;
log_state const* started = nullptr;

struct log_listener {
  log_function function = nullptr;
  void* context = nullptr;
};
fork_safe_mutex listener_mutex;
log_listener listener;  // guarded by the mutex

log_listener listening() {
  std::scoped_lock const lock(listener_mutex);
  return listener;
}

/// A state stays until the program ends: other threads may be writing a line with it.
log_state const* keep(log_state s) {
  static auto* const all = new std::deque<log_state>;
  all->push_back(std::move(s));
  return &all->back();
}

log_state const& state() {
  std::scoped_lock const lock(mutex);
  if (started == nullptr) {
    try {
      started = keep(state_of_environment("off"));
    } catch (rejected const& r) {
      std::fputs(fmt::format("tilewright: {}; nothing is logged\n", r.what()).c_str(), stderr);
      started = keep({std::make_shared<spdlog::logger>(name_of_logger), {}});
    }
  }
  return *started;
}

spdlog::level::level_enum of(log_level level) {
  return level == log_level::debug  ? spdlog::level::debug
         : level == log_level::info ? spdlog::level::info
                                    : spdlog::level::warn;
}

bool wanted(log_state const& s, log_level level, std::string_view subsystem) {
  if (s.print_config && level == log_level::info && subsystem == "plan") return true;
  bool const here =
      s.subsystems.empty() || std::ranges::find(s.subsystems, subsystem) != s.subsystems.end();
  return here && s.logger->should_log(of(level));
}

}  // namespace

void start_logging(char const* default_level) {
  log_state s = state_of_environment(default_level);
  std::scoped_lock const lock(mutex);
  started = keep(std::move(s));
}

void set_log_function(log_function f, void* context) {
  std::scoped_lock const lock(listener_mutex);
  listener = {f, context};
}

bool log_wanted(log_level level, std::string_view subsystem) {
  return listening().function != nullptr || wanted(state(), level, subsystem);
}

void log_line(log_level level, std::string_view subsystem, std::string const& text) {
  if (log_listener const to = listening(); to.function != nullptr)
    to.function(to.context, static_cast<int>(level), text.c_str());
  log_state const& s = state();
  if (!wanted(s, level, subsystem)) return;
  std::unique_lock lock(writing, std::defer_lock);
  if (s.own) lock.lock();
  if (s.logger->should_log(of(level))) {
    s.logger->log(of(level), "{}", text);
    return;
  }
  // Only TW_PRINT_CONFIG wants it: past the logger's level.
  spdlog::details::log_msg const line(name_of_logger, of(level), text);
  for (auto const& sink : s.logger->sinks()) {
    sink->log(line);
    sink->flush();
  }
}

}  // namespace tw
