// SPDX-License-Identifier: Apache-2.0
// repitch_test.cpp  Copies of operands to padded lines: each element, zeros after each line, and
//                   nothing else written, for any address, pitch and size.
#include "tilewright/kernel/repitch/repitch.hpp"
#include "tests/effort.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tw::test {
namespace {

/// An operand that fills its memory to the last element, at any address, and its copy between
/// guards.
struct copied {
  copied(std::mt19937_64& rng, int most, bool pointers) {
    auto const any = [&](int lo, int hi) {
      return lo + static_cast<int>(rng() % static_cast<unsigned>(hi - lo + 1));
    };
    inner = any(1, most), outer = any(1, 9), matrices = any(0, 1) != 0 ? 1 : any(2, 5);
    pitch = inner + (any(0, 1) != 0 ? any(0, 9) : 0);
    stride = pitch * outer + any(0, 9);
    base = any(0, 8);
    chunks = (inner + 7) / 8 + any(0, 2);
    from.resize(
        static_cast<std::size_t>(base + (matrices - 1) * stride + (outer - 1) * pitch + inner));
    for (auto& x : from) x = static_cast<std::uint16_t>(rng() | 1);
    to.assign(static_cast<std::size_t>(8 * chunks * outer * matrices) + 16, 0x5A5A);
    if (pointers)
      for (int i = matrices - 1; i >= 0; --i) addresses.push_back(&from[index(0, 0, i)]);
  }
  std::size_t index(int col, int line, int matrix) const {
    return static_cast<std::size_t>(base + matrix * stride + line * pitch + col);
  }
  std::uint16_t* first() {  // at a multiple of 16 bytes
    auto const address = reinterpret_cast<std::uintptr_t>(to.data());
    return to.data() + (16 - address % 16) / 2;
  }
  repitch_of params() {
    auto const u = [](int x) { return static_cast<std::uint32_t>(x); };
    return {from.data() + base,
            addresses.empty() ? nullptr : addresses.data(),
            first(),
            pitch,
            stride,
            u(inner),
            u(outer),
            u(matrices),
            u(chunks)};
  }
  void expect_right() {
    std::uint16_t const* at = first();
    for (std::uint16_t const* x = to.data(); x < at; ++x) ASSERT_EQ(*x, 0x5A5A);
    for (int i = 0; i < matrices; ++i)
      for (int line = 0; line < outer; ++line)
        for (int col = 0; col < 8 * chunks; ++col, ++at) {
          int const matrix = addresses.empty() ? i : matrices - 1 - i;
          ASSERT_EQ(*at, col < inner ? from[index(col, line, matrix)] : 0)
              << inner << " x " << outer << " x " << matrices << " ld " << pitch << " stride "
              << stride << " base " << base << ": element " << col << " of line " << line
              << " of matrix " << i;
        }
    for (; at < to.data() + to.size(); ++at) ASSERT_EQ(*at, 0x5A5A);
  }

  int inner, outer, matrices, pitch, stride, base, chunks;
  std::vector<std::uint16_t> from, to;
  std::vector<void const*> addresses;
};

TEST(Repitch, RandomOperandsAreCopied) {
  std::mt19937_64 rng(20261122);
  for (int i = 0; i < sample(300, 60); ++i) {
    copied a(rng, i % 3 == 0 ? 2000 : 40, i % 4 == 1), b(rng, 100, i % 5 == 1);
    repitch::params p{};
    if (i % 3 != 1) p.operand[0] = a.params();
    if (i % 3 != 2) p.operand[1] = b.params();
    auto const report = emu::run(repitch{}, repitch::ctas(p), p);
    ASSERT_TRUE(report.clean()) << report.text();
    if (i % 3 != 1) a.expect_right();
    if (i % 3 != 2) b.expect_right();
    ASSERT_FALSE(HasFailure()) << "case " << i;
  }
}

TEST(Repitch, CtasAreWhatTheCopiesNeed) {
  repitch::params p{};
  EXPECT_EQ(repitch::ctas(p), 0);
  p.operand[1].to = &p;
  p.operand[1].outer = 100, p.operand[1].matrices = 3, p.operand[1].chunks = 7;
  EXPECT_EQ(repitch::ctas(p), 10);  // 300 lines, 4 lanes each
  p.operand[0] = p.operand[1];
  p.operand[0].chunks = 97;  // a chunk more than a piece
  EXPECT_EQ(repitch::ctas(p), 160);
}

}  // namespace
}  // namespace tw::test
