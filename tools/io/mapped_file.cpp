// SPDX-License-Identifier: Apache-2.0
// mapped_file.cpp  open, look, mmap; every failure names the file and the system's reason.
#include "tools/io/mapped_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "tools/io/output_file.hpp"
#include "tools/io/printable.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

[[noreturn]] void refuse_file(std::string const& path, std::string got) {
  refuse("TW0601", "file " + path, std::move(got), "a readable regular file");
}

/// A file that is mapped now, and the line that is written where it was cut off meanwhile. A slot
/// is filled before its address, which the handler looks at, is set.
struct mapping {
  std::atomic<std::byte const*> data{nullptr};
  std::size_t size_bytes = 0;
  std::string line;
};
constexpr int max_mappings = 32;  // more than the operands of any verb
mapping mappings[max_mappings];
std::mutex mappings_mutex;

extern "C" void report_truncation(int signal, siginfo_t* info, void*) {
  auto const* const at = static_cast<std::byte const*>(info->si_addr);
  for (mapping const& m : mappings) {
    std::byte const* const data = m.data.load();
    if (data == nullptr || at < data || at >= data + m.size_bytes) continue;
    [[maybe_unused]] ssize_t const n = ::write(STDERR_FILENO, m.line.data(), m.line.size());
    remove_pending_outputs();
    ::_exit(static_cast<int>(exit_status::refused));
  }
  ::signal(signal, SIG_DFL);  // not ours: the access is repeated and ends the process
}

void watch(std::string const& path, std::byte const* data, std::size_t size_bytes) {
  std::lock_guard const lock(mappings_mutex);
  struct sigaction act {};
  act.sa_sigaction = report_truncation;
  act.sa_flags = SA_SIGINFO | SA_ONSTACK;
  struct sigaction before {};
  ::sigaction(SIGBUS, nullptr, &before);
  bool const free = (before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_DFL;
  if (free) ::sigaction(SIGBUS, &act, nullptr);
  for (mapping& m : mappings) {
    if (m.data.load() != nullptr) continue;
    rejection const why{"TW0601", "file " + path, "a file that was truncated while it was read",
                        "a file that keeps its size until the command ends", ""};
    m.line = "\ntilewright: " + printable(to_string(why)) + "\n";
    m.size_bytes = size_bytes;
    m.data = data;
    return;
  }
}

void unwatch(std::byte const* data) {
  std::lock_guard const lock(mappings_mutex);
  for (mapping& m : mappings)
    if (m.data.load() == data) m.data = nullptr;
}

}  // namespace

mapped_file::mapped_file(std::string const& path) {
  // O_NONBLOCK: opening a pipe must not wait for a writer before it can be refused.
  int const fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) refuse_file(path, std::strerror(errno));
  struct stat status {};
  bool const known = ::fstat(fd, &status) == 0;
  bool const regular = known && S_ISREG(status.st_mode);
  size_bytes_ = regular ? static_cast<std::size_t>(status.st_size) : 0;
  void* at = nullptr;
  int error = 0;
  if (size_bytes_ != 0) {  // an empty file has nothing to map
    at = ::mmap(nullptr, size_bytes_, PROT_READ, MAP_PRIVATE, fd, 0);
    error = errno;
  }
  ::close(fd);
  if (!regular) {
    refuse_file(path, known && S_ISDIR(status.st_mode) ? "a folder" : "something else than a file");
  }
  if (at == MAP_FAILED) refuse_file(path, std::string("mmap: ") + std::strerror(error));
  data_ = static_cast<std::byte const*>(at);
  if (data_ != nullptr) watch(path, data_, size_bytes_);
}

mapped_file::~mapped_file() {
  if (data_ == nullptr) return;
  unwatch(data_);
  ::munmap(const_cast<std::byte*>(data_), size_bytes_);
}

}  // namespace tw
