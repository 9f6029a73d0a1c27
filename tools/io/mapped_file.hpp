// SPDX-License-Identifier: Apache-2.0
// mapped_file.hpp  A file's bytes in the address space, read-only and without a copy.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tw {

/// Maps a regular file for as long as the object lives. Throws `rejected` TW0601. Where another
/// process truncates the file meanwhile, an access ends the process with that code and status 2,
/// instead of by SIGBUS.
class mapped_file {
 public:
  explicit mapped_file(std::string const& path);
  ~mapped_file();
  mapped_file(mapped_file const&) = delete;
  mapped_file& operator=(mapped_file const&) = delete;

  std::span<std::byte const> content() const { return {data_, size_bytes_}; }

 private:
  std::byte const* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace tw
