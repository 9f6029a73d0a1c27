// SPDX-License-Identifier: Apache-2.0
// add_c_test.cpp  beta * C for a thread's results: each element of C at its place, none from beyond
//                 C, whose memory ends with its last element.
#include "tilewright/kernel/epilogue/add_c.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tilewright/base/convert.hpp"

namespace tw::test {
namespace {

enum class batches { one_for_all, strided, by_pointers };

/// C of GEMMs m x n with m, n <= 40, in memory of exactly its size.
class any_c {
 public:
  any_c(std::mt19937& rng, elem type, bool row_major, batches form) : type_(type) {
    auto const any = [&](int least, int most) {
      return least + static_cast<int>(rng() % static_cast<unsigned>(most - least + 1));
    };
    params.m = any(0, 4) == 0 ? 1 : any(1, 40);
    params.n = any(0, 4) == 0 ? 1 : any(1, 40);
    params.beta = 0.75F;
    count = any(1, 3);
    std::int64_t const inner = row_major ? params.n : params.m;
    std::int64_t const outer = row_major ? params.m : params.n, pitch = inner + any(0, 3);
    std::int64_t const one = (outer - 1) * pitch + inner;
    std::int64_t const stride = form == batches::one_for_all ? 0 : pitch * outer + any(0, 4);
    params.c = {nullptr, row_major ? pitch : 1, row_major ? 1 : pitch, stride, type, nullptr};
    bool const pointers = form == batches::by_pointers;
    for (int i = 0; i < (pointers ? count : 1); ++i) {
      std::int64_t const elems = pointers ? one : stride * (count - 1) + one;
      memory_.emplace_back(static_cast<std::size_t>(elems * size_bytes(type)));
      for (std::int64_t e = 0; e < elems; ++e)
        put(memory_.back().data(), e, static_cast<float>(any(-1000, 1000)) / 64);
      addresses_.push_back(memory_.back().data());
    }
    params.c.data = memory_[0].data();
    if (!pointers) return;
    params.c.matrices = addresses_.data();
    params.c.batch_stride = std::numeric_limits<std::int64_t>::min();
  }

  float at(int product, int row, int col) const {
    std::int64_t const i = row * params.c.row_stride + col * params.c.col_stride;
    bool const pointers = params.c.matrices != nullptr;
    std::int64_t const first = pointers ? 0 : product * params.c.batch_stride;
    std::byte const* const from = memory_[pointers ? static_cast<std::size_t>(product) : 0].data() +
                                  (first + i) * size_bytes(type_);
    if (type_ == elem::f32) return read<float>(from);
    auto const bits = read<std::uint16_t>(from);
    return type_ == elem::bf16 ? to_float(bf16{bits}) : to_float(f16{bits});
  }

  epilogue_params params{};
  int count = 1;  // GEMMs

 private:
  template <class T>
  static T read(std::byte const* from) {
    T x;
    std::memcpy(&x, from, sizeof x);
    return x;
  }
  void put(std::byte* to, std::int64_t i, float x) const {
    std::uint16_t const bits = type_ == elem::bf16 ? to_bf16(x).bits : to_f16(x).bits;
    if (type_ == elem::f32)
      std::memcpy(to + 4 * i, &x, 4);
    else
      std::memcpy(to + 2 * i, &bits, 2);
  }

  elem type_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<void const*> addresses_;
};

/// Results of a thread anywhere on D and beyond its edges.
template <int Results>
void expect_right(any_c const& c, std::mt19937& rng) {
  for (int product = 0; product < c.count; ++product)
    for (int row = 0; row < c.params.m + 70; row += 1 + static_cast<int>(rng() % 9))
      for (int col = static_cast<int>(rng() % 2); col < c.params.n + 40;
           col += 2 + 2 * static_cast<int>(rng() % 5)) {
        float acc[2 * Results];
        for (int i = 0; i < 2 * Results; ++i) acc[i] = static_cast<float>(i + 1);
        int const to = static_cast<int>(rng() % Results);
        add_c<Results, true>(c.params, {row, col, product}, c.params.n, acc, to);
        for (int i = 0; i < 2 * Results; ++i) {
          int const result = i - to;
          float want = static_cast<float>(i + 1);
          if (result >= 0 && result < Results) {
            int const r = row + 8 * (result >> 1 & 1), k = col + 8 * (result >> 2) + (result & 1);
            if (r >= c.params.m || k >= c.params.n) continue;  // not stored
            want = fmaf(c.params.beta, c.at(product, r, k), want);
          }
          ASSERT_EQ(acc[i], want) << "result " << result << " at " << row << ", " << col;
        }
      }
}

TEST(AddC, AnyTypeOrderPitchAndBatch) {
  std::mt19937 rng(7);
  for (int i = 0; i < 10; ++i)
    for (elem const type : {elem::f32, elem::bf16, elem::f16})
      for (bool const row_major : {false, true})
        for (batches const form : {batches::one_for_all, batches::strided, batches::by_pointers}) {
          any_c const c(rng, type, row_major, form);
          expect_right<4>(c, rng);
          expect_right<12>(c, rng);
          expect_right<32>(c, rng);
          if (HasFailure()) return;
        }
}

}  // namespace
}  // namespace tw::test
