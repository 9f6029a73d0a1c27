// SPDX-License-Identifier: Apache-2.0
// program.cpp  PATH, posix_spawn and waitpid.
#include "tools/io/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

extern char** environ;

namespace tw {

bool program_end::good() const {
  return error == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string program_end::text() const {
  if (error != 0) return std::strerror(error);
  return WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                           : "signal " + std::to_string(WTERMSIG(status));
}

std::string find_program(std::string const& name) {
  char const* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string const candidate = (folder.empty() ? "." : folder) + "/" + name;
    bool const file = std::filesystem::is_regular_file(candidate);
    if (file && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

program_end run_program(std::vector<std::string> words, std::string const& log) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (!log.empty()) {
    ::posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                       0600);
    ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  }
  pid_t child = 0;
  program_end end;
  end.error = ::posix_spawn(&child, words[0].c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (end.error != 0) return end;
  while (::waitpid(child, &end.status, 0) < 0 && errno == EINTR) {
  }
  return end;
}

}  // namespace tw
