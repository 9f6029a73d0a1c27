// SPDX-License-Identifier: Apache-2.0
// output_file.cpp  O_TMPFILE or mkstemp, write, fsync, link or rename; and what signals may find in
// between.
#include "tools/io/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "tools/io/refuse.hpp"

namespace tw {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_output(std::string const& path, std::string got, std::string need) {
  refuse("TW0612", "output " + path, std::move(got), std::move(need));
}

/// Names of temporaries that a signal must remove; the text of each outlives its pointer.
std::atomic<char const*> pending[8];
std::atomic<int> open_files = 0;

int remember(char const* name) {
  for (int i = 0; i < static_cast<int>(std::size(pending)); ++i) {
    char const* none = nullptr;
    if (pending[i].compare_exchange_strong(none, name)) return i;
  }
  return -1;  // more at once than any verb writes: a signal leaves this one
}
void forget(int& slot) {
  if (slot >= 0) pending[slot] = nullptr;
  slot = -1;
}

extern "C" void remove_pending(int signal) {
  remove_pending_outputs();
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

/// The file that a symbolic link names in the end, also if it does not exist yet.
std::string behind_links(std::string const& path) {
  constexpr int max_links = 40;  // as in the kernel
  fs::path at = path;
  std::error_code error;
  for (int i = 0; i < max_links && fs::is_symlink(fs::symlink_status(at, error)); ++i) {
    fs::path const next = fs::read_symlink(at, error);
    if (error) break;
    at = next.is_absolute() ? next : folder_of(at) / next;
  }
  return at.string();
}

mode_t default_mode() {
  mode_t const mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

/// The mode of a file that is replaced, and its owner where that is allowed. Without its group the
/// group's rights would go to another one.
void take_rights(int fd, std::string const& target) {
  struct stat old {};
  if (::stat(target.c_str(), &old) != 0) {
    ::fchmod(fd, default_mode());
    return;
  }
  mode_t mode = old.st_mode & 07777;
  if (::fchown(fd, old.st_uid, old.st_gid) != 0 &&
      ::fchown(fd, static_cast<uid_t>(-1), old.st_gid) != 0)
    mode &= ~static_cast<mode_t>(S_ISUID | S_ISGID | S_IRWXG);
  ::fchmod(fd, mode);
}

}  // namespace

void remove_pending_outputs() {
  for (auto const& name : pending)
    if (char const* const path = name.load(); path != nullptr) ::unlink(path);
}

void check_writable(std::string const& path) {
  std::error_code ignored;
  std::string const target = behind_links(path);
  fs::path const folder = folder_of(target);
  if (!fs::is_directory(folder, ignored)) {
    refuse_output(path, "no folder " + folder.string(), "a folder that exists");
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    refuse_output(path, "folder " + folder.string() + ": " + std::strerror(errno),
                  "a folder that can be written");
  }
  struct stat status {};
  if (::stat(target.c_str(), &status) != 0) {
    if (errno != ENOENT) refuse_output(path, std::strerror(errno), "a name that a file can have");
    return;
  }
  if (!S_ISREG(status.st_mode)) {
    refuse_output(path, S_ISDIR(status.st_mode) ? "a folder" : "something else than a file",
                  "a new name, or a regular file to replace");
  }
}

// Two paths to one file, which need not exist.
bool same_file(std::string const& a, std::string const& b) {
  std::error_code ignored;
  if (std::filesystem::equivalent(a, b, ignored)) return true;
  auto const place = [&](std::string const& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  return place(a) == place(b);
}

void check_replaceable(std::string const& path, char const* option, char const* first_characters) {
  if (path.empty()) return;
  check_writable(path);
  std::ifstream in(path);
  char first = 0;
  if (!in.get(first) || std::string_view(first_characters).find(first) != std::string_view::npos)
    return;
  refuse("TW0612", fmt::format("output {} of {}", path, option), "a file of another kind",
         "a new name, or an earlier file of this option");
}

output_file::output_file(std::string const& path) : path_(path) {
  check_writable(path);
  target_ = behind_links(path);
  std::string const folder = folder_of(target_).string();
  if (open_files++ == 0) set_handlers(remove_pending);
  fd_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd_ < 0) {  // a file system without such files
    // Not made of the target's name, which may be as long as the file system allows.
    temporary_ = (fs::path(folder) / ".tilewright.XXXXXX").string();
    fd_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
    if (fd_ < 0) {
      int const error = errno;
      if (--open_files == 0) set_handlers(SIG_DFL);
      refuse_output(path_, std::strerror(error), "a folder that can be written");
    }
    slot_ = remember(temporary_.c_str());
  }
  take_rights(fd_, target_);
}

output_file::~output_file() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  forget(slot_);
  if (--open_files == 0) set_handlers(SIG_DFL);
}

void output_file::write(std::span<std::byte const> data) {
  while (!data.empty()) {
    std::size_t const chunk_bytes = std::min<std::size_t>(data.size(), 1U << 30);
    ssize_t const written = ::write(fd_, data.data(), chunk_bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse_output(path_, std::strerror(errno), "room for the whole matrix");
    data = data.subspan(static_cast<std::size_t>(written));
  }
}

/// linkat cannot replace a file: where the target exists, the new file gets another name first.
void output_file::link_or_replace() {
  std::string const self = "/proc/self/fd/" + std::to_string(fd_);
  auto const link_as = [&](std::string const& name) {
    return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  char const* const need = "a name that can be given to the new file";
  if (link_as(target_)) return;
  if (errno != EEXIST) refuse_output(path_, std::strerror(errno), need);
  for (int attempt = 0; temporary_.empty(); ++attempt) {
    std::string const name =
        (folder_of(target_) / fmt::format(".tilewright.{}.{}", ::getpid(), attempt)).string();
    if (link_as(name))
      temporary_ = name;
    else if (errno != EEXIST)
      refuse_output(path_, std::strerror(errno), need);
  }
  slot_ = remember(temporary_.c_str());
}

void output_file::commit() {
  if (::fsync(fd_) != 0) refuse_output(path_, std::strerror(errno), "a file that can be synced");
  if (temporary_.empty()) link_or_replace();
  if (!temporary_.empty()) {
    if (::rename(temporary_.c_str(), target_.c_str()) != 0)
      refuse_output(path_, std::strerror(errno), "a name that can be given to the new file");
    forget(slot_);
    temporary_.clear();
  }
  int const folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;  // the rename stands; only its durability is the system's business now
  ::fsync(folder);
  ::close(folder);
}

}  // namespace tw
