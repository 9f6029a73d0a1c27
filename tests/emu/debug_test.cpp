// SPDX-License-Identifier: Apache-2.0
// debug_test.cpp  Kernels that stop themselves have a report, and printf prints.
#include <gtest/gtest.h>

#include <cstdio>

#include "tilewright/arch/select.hpp"

namespace tw::test {
namespace {

struct nothing {};

template <auto Body>
struct debug_kernel {
  using params = nothing;
  static constexpr int threads = 32, cluster = 1, smem_bytes = 0;
  static void run(params const&) { Body(); }
};
template <auto Body>
emu::report report_of() {
  return emu::run(debug_kernel<Body>{}, 1, nothing{});
}
void expect(emu::report const& r, char const* code, char const* part) {
  ASSERT_FALSE(r.clean()) << code;
  EXPECT_EQ(r.diagnoses.front().code, code);
  EXPECT_NE(r.diagnoses.front().text.find(part), std::string::npos) << r.text();
  EXPECT_NE(r.diagnoses.front().text.find("debug_test.cpp"), std::string::npos) << r.text();
}

TEST(Debug, TrapEndsTheRun) {
  EXPECT_TRUE(report_of<[] {
                if (thread_id() == 32) trap();
              }>()
                  .clean());
  emu::report const r = report_of<[] {
    if (thread_id() == 7) trap();
  }>();
  expect(r, "E0073", "by thread 7");
}

TEST(Debug, AssertionThatDoesNotHoldEndsTheRun) {
  EXPECT_TRUE(report_of<[] { device_assert(thread_id() < 32, "few threads"); }>().clean());
  emu::report const r = report_of<[] { device_assert(thread_id() < 9, "few threads"); }>();
  expect(r, "E0074", "does not hold: few threads");
}

TEST(Debug, PrintfPrints) {
  testing::internal::CaptureStdout();
  emu::report const r = report_of<[] {
    if (thread_id() % 16 == 3) std::printf("thread %d has %g\n", thread_id(), 0.5 * thread_id());
  }>();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "thread 3 has 1.5\nthread 19 has 9.5\n");
  EXPECT_TRUE(r.clean()) << r.text();
}

}  // namespace
}  // namespace tw::test
