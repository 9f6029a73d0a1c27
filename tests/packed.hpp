// SPDX-License-Identifier: Apache-2.0
// packed.hpp  Data files of tests that are stored with gzip.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <sstream>
#include <string>

namespace tw {

/// The text of FILE.gz, a path from the root of the source tree; the test fails if gzip does.
inline std::istringstream unpacked(std::string const& file) {
  std::string const command = "gzip -dc '" + (TW_SOURCE_DIR "/" + file) + ".gz'";
  std::string text;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) {
    ADD_FAILURE() << command;
    return {};
  }
  std::array<char, 65536> part;
  for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;)
    text.append(part.data(), n);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return std::istringstream(std::move(text));
}

}  // namespace tw
