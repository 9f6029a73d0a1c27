// SPDX-License-Identifier: Apache-2.0
// source_path_test.cpp  A report names a source file alike whether its line table has the whole
//                       path or one relative to the build folder.
#include <gtest/gtest.h>

#include "emu/host/source_lines.hpp"

namespace tw::emu {
namespace {

TEST(SourcePath, WholeAndRelativePathsHaveOneName) {
  for (char const* const file : {"include/tilewright/atom/execute.hpp", "ladder/01.hpp"}) {
    std::string const whole = std::string("/home/me/project/") + file;
    EXPECT_EQ(path_in_reports(whole, "/home/me/project/"), file);
    EXPECT_EQ(
        path_in_reports("/home/me/project/build/../" + std::string(file), "/home/me/project/"),
        file);
    EXPECT_EQ(path_in_reports("../" + std::string(file), "/home/me/project/"), file);
    EXPECT_EQ(path_in_reports("../../" + std::string(file), "/elsewhere/"), file);
  }
}

TEST(SourcePath, HeadersOfTheLibraryHaveOneNameInEachFolder) {
  for (char const* const here : {"/home/me/project/", "/tmp/", "/"})
    for (char const* const prefix : {"/home/me/project/", "/usr/local/"})
      EXPECT_EQ(path_in_reports(std::string(prefix) + "include/tilewright/atom/execute.hpp", here),
                "include/tilewright/atom/execute.hpp");
}

TEST(SourcePath, OtherFilesAreNamedByThreeParts) {
  EXPECT_EQ(path_in_reports("/usr/include/c++/12/bits/stl_algo.h", "/home/me/project/"),
            "12/bits/stl_algo.h");
  EXPECT_EQ(path_in_reports("/a.cpp", "/home/me/project/"), "/a.cpp");
}

}  // namespace
}  // namespace tw::emu
