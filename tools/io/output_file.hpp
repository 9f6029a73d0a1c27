// SPDX-License-Identifier: Apache-2.0
// output_file.hpp  A file that appears whole or not at all.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tw {

/// Refuses (TW0612) a path whose folder is missing or not writable, or that names something else
/// than a regular file.
void check_writable(std::string const& path);

/// Bytes go to a temporary file in the target's folder; commit() makes them durable and gives them
/// the target's name in one step. Without commit, and on SIGINT, SIGTERM or SIGHUP, the temporary
/// is removed and the target untouched. One at a time per process. Throws `rejected` TW0612.
class output_file {
 public:
  explicit output_file(std::string const& path);
  ~output_file();
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;

  void write(std::span<std::byte const> data);
  void commit();

 private:
  std::string target_, temporary_;
  int fd_ = -1;
};

}  // namespace tw
