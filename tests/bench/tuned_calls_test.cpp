// SPDX-License-Identifier: Apache-2.0
// tuned_calls_test.cpp  A call with tensors has the key under which `tilewright tune` stores.
#include <gtest/gtest.h>

#include <array>
#include <deque>

#include "dispatch/tuning/tuning_key.hpp"
#include "tilewright/dispatch/tensors.hpp"
#include "tilewright/kernel/weights/weights.hpp"
#include "tools/measure/support.hpp"

namespace tw::bench {
namespace {

/// Tensors in C order, or transposed.
class bf16_tensors {
 public:
  tensor_argument const* add(std::vector<std::int64_t> shape, bool transposed = false,
                             tensor_type type = type_in_tensors(elem::bf16)) {
    std::size_t const rank = shape.size();
    std::vector<std::int64_t> strides(rank, 1);
    std::array<std::size_t, 3> outermost{};  // dimensions, from the one with the largest stride
    for (std::size_t i = 0; i < rank; ++i) outermost[i] = i;
    if (transposed) std::swap(outermost[rank - 1], outermost[rank - 2]);
    for (std::size_t i = rank - 1; i > 0; --i)
      strides[outermost[i - 1]] = strides[outermost[i]] * shape[outermost[i]];
    auto const& s = lists_.emplace_back(std::move(shape));
    auto const& d = lists_.emplace_back(std::move(strides));
    return &all_.emplace_back(
        tensor_argument{&byte_, static_cast<int>(rank), s.data(), d.data(), type, {}});
  }

 private:
  char byte_ = 0;
  std::deque<std::vector<std::int64_t>> lists_;
  std::deque<tensor_argument> all_;
};

constexpr std::int64_t m = 256, n = 128, k = 512, count = 4;

gemm_shape shape_with(group_axis axis, std::string const& layout) {
  gemm_shape s;
  s.m = m, s.n = n, s.k = k, s.dtype = "bf16", s.layout = layout;
  if (axis != group_axis::none) s.groups = {.count = count, .axis = axis};
  return s;
}
std::string key_of(gemm_arguments const& g) { return problem_key(gemm_of_tensors(g).problem); }
std::string key_of(gemm_shape const& s) { return problem_key(problem_of(s)); }

TEST(TunedCalls, GroupsOfEachExtentHaveTheKey) {
  bf16_tensors t;
  tensor_type const int32 = type_in_tensors(elem::s32);
  gemm_arguments g;
  g.groups = t.add({count}, false, int32);
  g.a = t.add({m, k}), g.b = t.add({count, k, n}, true), g.d = t.add({m, n});
  EXPECT_EQ(key_of(g), key_of(shape_with(group_axis::m, "TN")));
  g.a = t.add({count, m, k}), g.b = t.add({k, n}, true);
  EXPECT_EQ(key_of(g), key_of(shape_with(group_axis::n, "TN")));
  g.a = t.add({m, k}, true), g.b = t.add({k, n}), g.d = t.add({count, m, n});
  EXPECT_EQ(key_of(g), key_of(shape_with(group_axis::k, "NT")));
}

TEST(TunedCalls, PreparedWeightsAndGatesHaveTheKey) {
  struct {
    std::string epilogue;
    gating gate;
    std::int64_t cols;
  } const cases[] = {{"", gating::none, n}, {"swiglu", gating::split, n / 2}};
  for (auto const& c : cases)
    for (group_axis const axis : {group_axis::none, group_axis::m}) {
      bf16_tensors t;
      bool const groups = axis == group_axis::m;
      gemm_shape s = shape_with(axis, "TN");
      s.weights = "int4", s.epilogue = c.epilogue;
      weight_format format = parse_weights("int4", elem::bf16).value();
      format.gate = c.gate;
      weights_desc const w{n, k, groups ? count : 1, format};
      std::array<std::byte, weights_header_bytes> header;
      write_weights_header(w, header.data());
      gemm_arguments g;
      g.a = t.add({m, k}), g.b = t.add({w.bytes()}, false, type_in_tensors(elem::u8));
      g.weights_b = header.data(), g.d = t.add({m, c.cols});
      if (groups) g.groups = t.add({count}, false, type_in_tensors(elem::s32));
      if (c.gate != gating::none) g.gate = "split", g.activation = "silu";
      EXPECT_EQ(key_of(g), key_of(s)) << c.epilogue;
      EXPECT_FALSE(accept(problem_of(s)));
    }
}

}  // namespace
}  // namespace tw::bench
