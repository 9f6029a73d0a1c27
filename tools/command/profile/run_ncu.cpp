// SPDX-License-Identifier: Apache-2.0
// run_ncu.cpp  A child process, a temporary file for the CSV.
#include "tools/command/profile/run_ncu.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tools/io/program.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/shell_word.hpp"

namespace tw::profile {
namespace {

/// A file that goes with the object.
class temporary_file {
 public:
  temporary_file() {
    std::string const folder = std::filesystem::temp_directory_path() / "tilewright-profile-XXXXXX";
    path_ = folder;
    int const fd = ::mkstemp(path_.data());
    if (fd < 0) refuse("TW0655", "temporary file " + folder, "no permission", "a writable folder");
    ::close(fd);
  }
  ~temporary_file() { ::unlink(path_.c_str()); }
  temporary_file(temporary_file const&) = delete;
  temporary_file& operator=(temporary_file const&) = delete;

  std::string const& path() const { return path_; }
  std::string content() const {
    std::ifstream const file(path_, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

/// Lines of ncu that begin with ==ERROR==, or the last line.
std::string complaint_in(std::string const& text) {
  std::istringstream lines(text);
  std::string found, last;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("==ERROR==")) found += (found.empty() ? "" : " ") + line.substr(9);
    if (!line.empty()) last = line;
  }
  return found.empty() ? last : found;
}

}  // namespace

std::vector<std::string> ncu_words(ncu_request const& r, std::string const& ncu,
                                   std::string const& log_path) {
  std::vector<std::string> words = {ncu, "--csv", "--page", "raw", "--target-processes", "all"};
  if (!log_path.empty()) words.insert(words.end(), {"--log-file", log_path});
  words.insert(words.end(), {"--metrics", fmt::format("{}", fmt::join(r.metrics, ","))});
  if (!r.kernel_name.empty())
    words.insert(words.end(), {"--kernel-name", "regex:" + r.kernel_name});
  if (r.skip > 0) words.insert(words.end(), {"--launch-skip", std::to_string(r.skip)});
  if (r.launches > 0) words.insert(words.end(), {"--launch-count", std::to_string(r.launches)});
  words.insert(words.end(), r.command.begin(), r.command.end());
  return words;
}

std::string shell_line(std::vector<std::string> const& words) {
  std::string line;
  for (std::string const& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

std::string run_ncu(ncu_request const& r, std::string const& ncu) {
  temporary_file const log;
  program_end const end = run_program(ncu_words(r, ncu, log.path()));
  if (end.error != 0) refuse("TW0655", "start of " + ncu, end.text(), "a program that starts");
  std::string text = log.content();
  if (!end.good()) {
    std::string const why = complaint_in(text);
    bool const permission = why.find("ERR_NVGPUCTRPERM") != std::string::npos;
    refuse("TW0655", "run of ncu", end.text() + (why.empty() ? "" : ": " + why), "exit status 0",
           permission ? "the driver lets administrators read counters only: run as root, or set "
                        "NVreg_RestrictProfilingToAdminUsers=0"
                      : "run the line of --show by hand");
  }
  return text;
}

}  // namespace tw::profile
