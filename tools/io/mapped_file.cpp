// SPDX-License-Identifier: Apache-2.0
// mapped_file.cpp  open, look, mmap; every failure names the file and the system's reason.
#include "tools/io/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/io/refuse.hpp"

namespace tw {
namespace {

[[noreturn]] void refuse_file(std::string const& path, std::string got) {
  refuse("TW0601", "file " + path, std::move(got), "a readable regular file");
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
}

mapped_file::~mapped_file() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_bytes_);
}

}  // namespace tw
