// SPDX-License-Identifier: Apache-2.0
// protocol.cpp  The checks of the reports of a kernel's two forms. Compiled once, see expect.cpp.
#include "tests/hazard/protocol.hpp"

namespace tw::test {

void expect_clean_report(emu::report const& r) { EXPECT_TRUE(r.clean()) << r.text(); }

void expect_code(char const* code, char const* part, emu::report const& good,
                 emu::report const& bad) {
  expect_clean_report(good);
  ASSERT_FALSE(bad.clean()) << code << " was not seen";
  EXPECT_EQ(bad.diagnoses.front().code, code) << bad.text();
  EXPECT_NE(bad.diagnoses.front().text.find(part), std::string::npos) << bad.text();
  expect_readable(bad);
}

}  // namespace tw::test
