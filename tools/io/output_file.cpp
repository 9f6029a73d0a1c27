// SPDX-License-Identifier: Apache-2.0
// output_file.cpp  mkstemp, write, fsync, rename; and what signals may find in between.
#include "tools/io/output_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tools/io/refuse.hpp"

namespace tw {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_output(std::string const& path, std::string got, std::string need) {
  refuse("TW0612", "output " + path, std::move(got), std::move(need));
}

/// The temporary that a signal must remove; its text outlives the pointer.
std::atomic<char const*> pending{nullptr};

extern "C" void remove_pending(int signal) {
  char const* path = pending.load();
  if (path != nullptr) ::unlink(path);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void set_handlers(void (*handler)(int)) {
  for (int s : {SIGINT, SIGTERM, SIGHUP}) {
    if (::signal(s, handler) == SIG_IGN) ::signal(s, SIG_IGN);  // nohup stays nohup
  }
  ::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit is a failed write, not the end
}

fs::path folder_of(fs::path const& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

mode_t default_mode() {
  mode_t const mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

void check_writable(std::string const& path) {
  std::error_code ignored;
  fs::path const folder = folder_of(path);
  if (!fs::is_directory(folder, ignored)) {
    refuse_output(path, "no folder " + folder.string(), "a folder that exists");
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    refuse_output(path, "folder " + folder.string() + ": " + std::strerror(errno),
                  "a folder that can be written");
  }
  auto const status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    refuse_output(path, fs::is_directory(status) ? "a folder" : "something else than a file",
                  "a new name, or a regular file to replace");
  }
}

output_file::output_file(std::string const& path) {
  check_writable(path);
  std::error_code ignored;
  fs::path const real = fs::weakly_canonical(path, ignored);  // through links, to the file itself
  target_ = real.empty() ? path : real.string();
  fs::path const target(target_);
  temporary_ = (folder_of(target) / ("." + target.filename().string() + ".XXXXXX")).string();
  fd_ = ::mkstemp(temporary_.data());
  if (fd_ < 0) refuse_output(path, std::strerror(errno), "a folder that can be written");
  pending = temporary_.c_str();
  set_handlers(remove_pending);
  ::fchmod(fd_, default_mode());
}

output_file::~output_file() {
  if (fd_ >= 0) ::close(fd_);
  if (pending.load() != nullptr) ::unlink(temporary_.c_str());
  pending = nullptr;
  set_handlers(SIG_DFL);
}

void output_file::write(std::span<std::byte const> data) {
  while (!data.empty()) {
    std::size_t const chunk_bytes = std::min<std::size_t>(data.size(), 1U << 30);
    ssize_t const written = ::write(fd_, data.data(), chunk_bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse_output(target_, std::strerror(errno), "room for the whole matrix");
    data = data.subspan(static_cast<std::size_t>(written));
  }
}

void output_file::commit() {
  if (::fsync(fd_) != 0) refuse_output(target_, std::strerror(errno), "a file that can be synced");
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    refuse_output(target_, std::strerror(errno), "a name that can be given to the new file");
  }
  pending = nullptr;
  int const folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;  // the rename stands; only its durability is the system's business now
  ::fsync(folder);
  ::close(folder);
}

}  // namespace tw
