// SPDX-License-Identifier: Apache-2.0
// environment.cpp  The facts that make a result file reproducible, and the file itself.
#include "tools/measure/environment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <span>

#include "tilewright/base/check.hpp"
#include "tools/io/output_file.hpp"

namespace tw::bench {
namespace {

/// Output of a shell command without the final line break; empty if it fails.
std::string output_of(char const* command) {
  std::FILE* const pipe = popen(command, "r");
  if (pipe == nullptr) return "";
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  if (pclose(pipe) != 0) return "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string commit_here() {
  std::string const commit = output_of("git rev-parse --short=12 HEAD 2>/dev/null");
  if (commit.empty()) return "";
  return commit + (output_of("git status --porcelain -uno 2>/dev/null").empty() ? "" : "+");
}

std::string host_name() {
  char text[256] = {};
  return gethostname(text, sizeof text - 1) == 0 ? text : "";
}

std::string utc_now() {
  std::time_t const now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// Compact; bytes of names that are no UTF-8 are replaced.
std::string text_of(nlohmann::json const& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// A list with one element per line, so that two result files can be compared line by line.
std::string lines_of(nlohmann::json const& list) {
  std::string text;
  for (auto const& element : list) text += (text.empty() ? "\n  " : ",\n  ") + text_of(element);
  return "[" + text + "\n ]";
}

nlohmann::json command_line() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  nlohmann::json words = nlohmann::json::array();
  for (std::string word; std::getline(in, word, '\0');) words.push_back(word);
  return words;
}

}  // namespace

nlohmann::json environment_json(std::string const& commit) {
  return {{"host", host_name()},
          {"date", utc_now()},
          {"commit", commit.empty() ? commit_here() : commit},
          {"argv", command_line()}};
}

nlohmann::json to_json(device_facts const& f) {
  return {{"card", f.card},
          {"sms", f.sms},
          {"memory_gb", f.memory_gb},
          {"driver", f.driver},
          {"cuda_driver", f.cuda_driver},
          {"cuda_runtime", f.cuda_runtime},
          {"cublaslt", f.cublaslt},
          {"cublaslt_path", f.cublaslt_path},
          {"power_limit_w", f.power_limit_w},
          {"max_sm_mhz", f.max_sm_mhz}};
}

void write_text(std::string const& path, char const* option, std::string const& text) {
  try {
    output_file out(path);
    out.write(std::as_bytes(std::span(text)));
    out.commit();
  } catch (rejected const& why) {
    throw rejected({"TW0713", std::string(option) + " " + path, why.why().got,
                    "a file that can be written", why.why().hint});
  }
}

void check_own_file(std::string const& path, char const* option, std::string const& mark) {
  if (path.empty()) return;
  check_writable(path);
  std::ifstream in(path, std::ios::binary);
  std::string head(64 * 1024, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  if (!head.empty() && head.find(mark) == head.npos)
    throw rejected({"TW0612", fmt::format("output {} of {}", path, option),
                    "a file of another kind", "a new name, or an earlier file of this option", ""});
}

void check_json_file(std::string const& path) {
  check_own_file(path, "--json", "\"tilewright.bench.");
}

void write_json(std::string const& path, nlohmann::json const& content) {
  std::string text;
  for (auto const& [key, value] : content.items())
    text += (text.empty() ? "{\n " : ",\n ") + text_of(key) + ": " +
            (value.is_array() ? lines_of(value) : text_of(value));
  write_text(path, "--json", text + "\n}\n");
}

}  // namespace tw::bench
