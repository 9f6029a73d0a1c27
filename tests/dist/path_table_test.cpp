// SPDX-License-Identifier: Apache-2.0
// path_table_test.cpp  Lines of measured paths: a stored call is found, other calls are not, and
//                      damaged lines are refused.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tilewright/base/check.hpp"
#include "tilewright/dist/path_table.hpp"

namespace tw::dist {
namespace {

path_key const key{operation::gemm_reduce_scatter, 4, elem::bf16, 64, 8192, "NVIDIA H200"};

/// Sets TILEWRIGHT_TUNE to a file in a new folder; the destructor restores the variable.
struct own_file {
  std::string folder = "/tmp/tilewright-paths-XXXXXX", before;
  own_file() {
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    if (char const* const value = std::getenv("TILEWRIGHT_TUNE")) before = value;
    setenv("TILEWRIGHT_TUNE", (folder + "/tune.db").c_str(), 1);
  }
  ~own_file() {
    setenv("TILEWRIGHT_TUNE", before.c_str(), 1);
    std::filesystem::remove_all(folder);
  }
};

TEST(PathTable, AStoredLineIsOfItsCallAlone) {
  own_file const file;
  store_path(key, path::direct, 33.2);
  std::ifstream in(path_table_file());
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  EXPECT_EQ(line, "reduce-scatter 4 bf16 64 8192 direct 33.20 NVIDIA H200");
  measured_path const read = path_in_line(line);
  EXPECT_EQ(read.call, key);
  EXPECT_EQ(read.found, (stored_path{path::direct, 33.2}));
  for (int change = 0; change < 6; ++change) {
    path_key other = key;
    if (change == 0) other.op = operation::gemm_all_reduce;
    if (change == 1) other.ranks = 2;
    if (change == 2) other.type = elem::f32;
    if (change == 3) ++other.rows;
    if (change == 4) ++other.extent;
    if (change == 5) other.gpu = "NVIDIA H100";
    EXPECT_NE(read.call, other) << change;
  }
  store_path(key, path::pieces, 40);
  store_path(key, path::serial, 36);
  store_path(key, path::pieces, 30);
  // The last line of each path counts. This call reads the file for the first time.
  EXPECT_EQ(tuned_path(key), (stored_path{path::pieces, 30}));
  EXPECT_EQ(
      measured_paths(key),
      (std::vector<stored_path>{{path::serial, 36}, {path::pieces, 30}, {path::direct, 33.2}}));
  path_key other = key;
  other.ranks = 2;
  EXPECT_TRUE(measured_paths(other).empty());
}

TEST(PathTable, DamagedLinesAndNoFileAreRefused) {
  auto const code = [](auto const& call) -> std::string {
    try {
      call();
    } catch (rejected const& e) {
      return e.why().code;
    }
    return "";
  };
  for (char const* const line :
       {"", "all-gather", "gather 2 bf16 1 1 serial 1 H200", "all-gather 2 bf16 1 1 fast 1 H200",
        "all-gather x bf16 1 1 serial 1 H200", "all-gather 2 bf17 1 1 serial 1 H200"})
    EXPECT_EQ(code([&] { path_in_line(line); }), "TW0802") << line;
  own_file const file;
  setenv("TILEWRIGHT_TUNE", "off", 1);
  EXPECT_EQ(path_table_file(), "");
  EXPECT_EQ(code([] { store_path(key, path::serial, 1); }), "TW0802");
}

}  // namespace
}  // namespace tw::dist
