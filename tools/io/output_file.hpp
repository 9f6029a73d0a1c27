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

/// Do both names lead to one file, which exists or will?
bool same_file(std::string const& a, std::string const& b);

/// As check_writable, and refuses (TW0612) a file that exists and begins with none of these
/// characters: a name that is meant for another option costs no data. An empty path is no output.
void check_replaceable(std::string const& path, char const* option, char const* first_characters);

/// Removes the temporary files that outputs have now; for handlers of signals.
void remove_pending_outputs();

/// Bytes go to a file without a name in the target's folder (Linux: O_TMPFILE); commit() makes them
/// durable and gives them the target's name in one step. Without commit, also after kill -9,
/// nothing is left and the target is untouched. A file system without O_TMPFILE gets a temporary
/// file with a name, which is removed unless the process is killed by a signal that cannot be
/// handled. A target that exists keeps its mode, and its owner and group as far as the process may
/// set them; a symbolic link keeps pointing to the new file. Throws `rejected` TW0612.
class output_file {
 public:
  explicit output_file(std::string const& path);
  ~output_file();
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;

  void write(std::span<std::byte const> data);
  void commit();

 private:
  void link_or_replace();

  std::string const path_;          // as it was given: for messages
  std::string target_, temporary_;  // no temporary: the file has no name yet
  int fd_ = -1;
  int slot_ = -1;  // in the list of temporaries that a signal removes
};

}  // namespace tw
