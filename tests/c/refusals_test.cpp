// SPDX-License-Identifier: Apache-2.0
// refusals_test.cpp  Each status, and bad input of each kind: a refusal with a code that names the
//                    argument, and nothing is written.
#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>

#include "tests/c/tensors.hpp"
#include "tilewright/arch/emu/options.hpp"

namespace tw_c_test {
namespace {

using tw::elem;

struct gemm {
  tensor a{elem::bf16, {24, 32}}, b{elem::bf16, {32, 16}}, d{elem::bf16, {24, 16}};
  tw_gemm_args args() { return args_of(a, b, d); }
};

/// The refusal of tw_gemm() after a change of the arguments.
template <class Change>
std::string with(Change const& change) {
  gemm x;
  tw_gemm_args g = x.args();
  change(x, g);
  std::string const text = refusal(tw_gemm(&g));
  EXPECT_EQ(x.d.changed_outside(), 0);
  return text;
}

DLTensor typed(DLTensor const* t, unsigned code, unsigned bits) {
  DLTensor x = *t;
  x.dtype = {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1};
  return x;
}

TEST(CRefusals, ShapesAreNamed) {
  EXPECT_EQ(with([](gemm&, tw_gemm_args&) {}), "");
  EXPECT_EQ(with([](gemm& x, tw_gemm_args&) { x.a.view().ndim = 1; }), "TW0481 dimensions of a");
  EXPECT_EQ(with([](gemm& x, tw_gemm_args&) { x.b.view().ndim = 0; }), "TW0481 dimensions of b");
  EXPECT_EQ(with([](gemm& x, tw_gemm_args&) { x.b.view().ndim = -1; }), "TW0481 dimensions of b");
  EXPECT_EQ(with([](gemm& x, tw_gemm_args&) { x.b.view().shape = nullptr; }), "TW0484 shape of b");
  EXPECT_EQ(with([](gemm& x, tw_gemm_args&) { x.b.shape()[0] = 31; }),
            "TW0616 inner dimensions of a b");
  EXPECT_EQ(with([](gemm& x, tw_gemm_args&) { x.d.shape()[1] = 15; }), "TW0616 shape of d");
  EXPECT_EQ(with([](gemm& x, tw_gemm_args&) { x.a.shape()[0] = -24; }), "TW0481 shape of a");
  EXPECT_EQ(with([](gemm&, tw_gemm_args& g) { g.b = nullptr; }), "TW0484 b");
  EXPECT_EQ(with([](gemm&, tw_gemm_args& g) { g.d = nullptr; }), "TW0484 d");
  EXPECT_EQ(with([](gemm& x, tw_gemm_args&) { x.a.view().data = nullptr; }), "TW0408 address of a");
  // Batches of 2 and of 3 matrices.
  tensor a(elem::bf16, {2, 24, 32}), b(elem::bf16, {3, 32, 16}), d(elem::bf16, {3, 24, 16});
  tw_gemm_args g = args_of(a, b, d);
  EXPECT_EQ(refusal(tw_gemm(&g)), "TW0616 matrices in a");
}

TEST(CRefusals, StridesAreNamedWithARemedy) {
  struct strided {
    extents strides;
    char const* refusal;
  };
  for (strided const& s : {strided{{64, 2}, "TW0482 strides of a"},
                           {{-32, 1}, "TW0482 strides of a"},
                           {{0, 1}, "TW0482 strides of a"},
                           {{32, 0}, "TW0482 strides of a"},
                           {{1, -24}, "TW0482 strides of a"},
                           {{1, 1}, "TW0402 strides of a"},
                           {{31, 1}, "TW0402 strides of a"},
                           {{32, 1}, ""},
                           {{1, 24}, ""}}) {
    EXPECT_EQ(with([&](gemm& x, tw_gemm_args&) {
                x.a.view().strides = const_cast<std::int64_t*>(s.strides.data());
              }),
              s.refusal);
    if (*s.refusal != 0) {
      EXPECT_NE(std::string(tw_last_error()->hint), "");
    }
  }
}

TEST(CRefusals, TypesAreNamed) {
  DLTensor t{};
  auto const a_is = [&](unsigned code, unsigned bits) {
    return with([&](gemm& x, tw_gemm_args& g) { t = typed(x.a.dl(), code, bits), g.a = &t; });
  };
  EXPECT_EQ(a_is(kDLFloat, 64), "TW0483 type of a");
  EXPECT_NE(std::string(tw_last_error()->got).find("float64"), std::string::npos);
  EXPECT_EQ(a_is(kDLComplex, 64), "TW0483 type of a");
  EXPECT_NE(std::string(tw_last_error()->got).find("complex64"), std::string::npos);
  EXPECT_EQ(a_is(kDLInt, 64), "TW0483 type of a");
  EXPECT_EQ(a_is(kDLBool, 8), "TW0483 type of a");
  EXPECT_EQ(a_is(kDLFloat8_e4m3fnuz, 8), "TW0483 type of a");
  EXPECT_EQ(a_is(kDLFloat, 16), "TW0404 operand types");  // beside a b of bfloat16
  EXPECT_EQ(std::string(tw_last_error()->got), "a f16, b bf16");
  EXPECT_EQ(with([&](gemm& x, tw_gemm_args& g) {
              t = typed(x.d.dl(), kDLInt, 32);
              g.d = &t;
            }),
            "TW0405 type of d");
}

TEST(CRefusals, DevicesAndMemoryAreNamed) {
  DLTensor t{};
  auto const b_is_on = [&](DLDeviceType type, int index) {
    return with([&](gemm& x, tw_gemm_args& g) {
      t = *x.b.dl(), t.device = {type, index};
      g.b = &t;
    });
  };
  EXPECT_EQ(b_is_on(kDLCUDA, 0), "TW0485 device of b");
  EXPECT_EQ(b_is_on(kDLMetal, 0), "TW0485 device of b");
  EXPECT_EQ(b_is_on(kDLCUDAHost, 0), "");
  // A scale on the host beside data on a GPU.
  tensor a(elem::e4m3, {16, 128}), b(elem::e4m3, {128, 16}, {1, 128}), d(elem::bf16, {16, 16}),
      scale(elem::f32, {1});
  tw_gemm_args g = args_of(a, b, d);
  for (tensor* x : {&a, &b, &d}) x->view().device = {kDLCUDA, 0};
  g.scale_a = scale.dl();
  EXPECT_EQ(refusal(tw_gemm(&g)), "TW0485 device of scale_a");
  EXPECT_EQ(with([&](gemm& x, tw_gemm_args& h) { h.d = x.a.dl(), t = *x.a.dl(); }),
            "TW0616 shape of d");
  // D within A.
  tensor square(elem::bf16, {32, 32}), other(elem::bf16, {32, 32});
  g = args_of(square, other, square);
  EXPECT_EQ(refusal(tw_gemm(&g)), "TW0446 memory of d");
  EXPECT_NE(std::string(tw_last_error()->got).find("overlap with a"), std::string::npos);
  tensor odd(elem::bf16, {32, 32}), d2(elem::bf16, {32, 32});
  g = args_of(odd, other, d2);
  t = *odd.dl(), t.byte_offset = 1, g.a = &t;
  EXPECT_EQ(refusal(tw_gemm(&g)), "TW0409 address of a");
}

TEST(CRefusals, AmbiguousScalesNameTheArgumentToAdd) {
  tensor a(elem::e4m3, {64, 512}), b(elem::e4m3, {512, 512}, {1, 512}), d(elem::bf16, {64, 512}),
      sa(elem::f32, {64, 4}), sb(elem::f32, {4, 4});
  for (tensor* t : {&a, &b, &sa, &sb}) t->fill([] { return 1.0F; });
  tw_gemm_args g = args_of(a, b, d);
  g.scale_a = sa.dl(), g.scale_b = sb.dl();
  EXPECT_EQ(refusal(tw_gemm(&g)), "TW0451 scale_b");
  EXPECT_NE(std::string(tw_last_error()->hint).find("scale_b_as = "), std::string::npos);
  EXPECT_EQ(std::string(tw_last_error()->text).find("--"), std::string::npos);
  g.scale_b_as = "torch:128x128";
  EXPECT_EQ(refusal(tw_gemm(&g)), "") << tw_last_error()->text;
  EXPECT_EQ(d.get(0), 512);
  sb.shape()[1] = 5;
  EXPECT_EQ(refusal(tw_gemm(&g)), "TW0450 scale_b");
  sb.shape()[1] = 4, sa.view().dtype = {kDLFloat, 64, 1};
  EXPECT_EQ(refusal(tw_gemm(&g)), "TW0483 type of scale_a");
}

TEST(CRefusals, WordsAndNumbersAreNamed) {
  using args = tw_gemm_args;
  EXPECT_EQ(with([](gemm&, args& g) { g.activation = "swoosh"; }), "TW0486 activation");
  EXPECT_EQ(with([](gemm&, args& g) { g.gate = "half"; }), "TW0486 gate");
  EXPECT_EQ(with([](gemm&, args& g) { g.device = "h900"; }), "TW0434 device");
  EXPECT_EQ(with([](gemm&, args& g) { g.flags = 1U << 31; }), "TW0486 flags");
  EXPECT_EQ(with([](gemm&, args& g) { g.threads = -1; }), "TW0486 threads");
  EXPECT_EQ(with([](gemm&, args& g) { g.promote = 5; }), "TW0437 promotion interval");
  EXPECT_EQ(with([](gemm&, args& g) { g.scale_d_as = "row"; }), "TW0484 scale_d");
  float const nan = NAN;
  EXPECT_EQ(with([&](gemm&, args& g) { g.alpha = &nan; }), "TW0406 alpha and beta");
  float const one = 1;
  EXPECT_EQ(with([&](gemm&, args& g) { g.beta = &one; }), "TW0407 beta");
  tensor bias(elem::bf16, {24});
  EXPECT_EQ(with([&](gemm&, args& g) { g.bias = bias.dl(); }), "TW0616 shape of bias");
  EXPECT_EQ(with([&](gemm&, args& g) { g.gate = "split"; }), "TW0616 shape of d");
}

TEST(CRefusals, SizesOfStructsAreChecked) {
  using args = tw_gemm_args;
  EXPECT_EQ(with([](gemm&, args& g) { g.size = 0; }), "TW0487 tw_gemm_args.size");
  constexpr std::size_t first_size = offsetof(args, groups);  // of the first header
  EXPECT_EQ(with([](gemm&, args& g) { g.size = first_size - 8; }), "TW0487 tw_gemm_args.size");
  EXPECT_EQ(with([](gemm&, args& g) { g.size = first_size; }), "");
  EXPECT_EQ(with([](gemm&, args& g) { g.size = 1U << 20; }), "TW0487 tw_gemm_args.size");
  struct newer {
    tw_gemm_args known;
    std::int64_t added;
  };
  gemm x;
  newer n{x.args(), 0};
  n.known.size = sizeof n;
  EXPECT_EQ(refusal(tw_gemm(&n.known)), "");
  n.added = 7;
  EXPECT_EQ(refusal(tw_gemm(&n.known)), "TW0487 tw_gemm_args.size");
  EXPECT_EQ(refusal(tw_gemm(nullptr)), "TW0484 tw_gemm_args");
  tw_gemm_args g = x.args();
  tw_result r{};
  EXPECT_EQ(refusal(tw_result_shape(&g, &r)), "TW0487 tw_result.size");
  EXPECT_EQ(refusal(tw_result_shape(&g, nullptr)), "TW0484 result");
  EXPECT_EQ(refusal(tw_plan_make(&g, nullptr)), "TW0484 plan");
  EXPECT_EQ(refusal(tw_plan_run(nullptr, &g)), "TW0484 plan");
  EXPECT_EQ(refusal(tw_layout_eval(nullptr, nullptr)), "TW0484 json");
  tw_quantize_args q{};
  EXPECT_EQ(refusal(tw_quantize(&q)), "TW0487 tw_quantize_args.size");
}

TEST(CRefusals, EachStatusOccurs) {
  gemm x;
  tw_gemm_args g = x.args();
  EXPECT_EQ(tw_gemm(&g), TW_OK);
  g.gate = "half";
  EXPECT_EQ(tw_gemm(&g), TW_REFUSED);
  constexpr std::int64_t n = 1280;
  tensor a(elem::bf16, {n, n}), b(elem::bf16, {n, n}), d(elem::bf16, {n, n});
  tw_gemm_args large = args_of(a, b, d);
  // No such GPU.
  for (tensor* t : {&a, &b, &d}) t->view().device = {kDLCUDA, 61};
  EXPECT_EQ(tw_gemm(&large), TW_NO_DEVICE) << tw_last_error()->text;
  for (tensor* t : {&a, &b, &d}) t->view().device = {kDLCPU, 0};
  // Exceptions of a function of the caller; a fault as the emulator throws it for a kernel.
  tw_set_interrupt(
      [](void*) -> int {
        tw::emu::diagnosis race{"E0024", "smem-race", "two threads"};
        throw tw::emu::fault({race});
      },
      nullptr);
  EXPECT_EQ(tw_gemm(&large), TW_FAULT);
  EXPECT_STREQ(tw_last_error()->code, "E0024");
  EXPECT_STREQ(tw_last_error()->got, "smem-race");
  EXPECT_NE(std::string(tw_last_error()->text).find("two threads"), std::string::npos);
  tw_set_interrupt([](void*) -> int { throw std::runtime_error("of the caller"); }, nullptr);
  EXPECT_EQ(tw_gemm(&large), TW_INTERNAL);
  EXPECT_STREQ(tw_last_error()->code, "TW0490");
  tw_set_interrupt([](void*) { return 1; }, nullptr);
  EXPECT_EQ(tw_gemm(&large), TW_INTERRUPTED);
  EXPECT_STREQ(tw_last_error()->code, "TW0489");
  tw_set_interrupt(nullptr, nullptr);
  EXPECT_EQ(tw_gemm(&large), TW_OK);
}

TEST(CRefusals, PlansAreForTheirProblem) {
  gemm x;
  tw_gemm_args g = x.args();
  tw_plan* plan = nullptr;
  ASSERT_EQ(tw_plan_make(&g, &plan), TW_OK);
  EXPECT_EQ(refusal(tw_plan_run(plan, &g)), "");
  g.activation = "relu";
  EXPECT_EQ(refusal(tw_plan_run(plan, &g)), "TW0488 arguments of tw_plan_run()");
  tw_plan_free(plan);
  // Of any device, run by the emulator.
  g = x.args(), g.device = "h200";
  ASSERT_EQ(tw_plan_make(&g, &plan), TW_OK);
  EXPECT_EQ(refusal(tw_plan_run(plan, &g)), "");
  tw_plan_free(plan);
  // 2^31 rows: refused, not crashed.
  tensor a(elem::bf16, {1, 32}), d(elem::bf16, {1, 16});
  a.shape()[0] = d.shape()[0] = std::int64_t{1} << 31;
  g = args_of(a, x.b, d);
  EXPECT_EQ(refusal(tw_plan_make(&g, &plan)), "TW0401 extent M");
  EXPECT_EQ(plan, nullptr);
}

/// A call with the bytes of the plan's is not read again: each argument is in the bytes.
TEST(CRefusals, APlanReadsWhatHasChanged) {
  std::string const other = "TW0488 arguments of tw_plan_run()";
  gemm x;
  tensor c(elem::bf16, {24, 16}), bias(elem::f32, {16}), wide(elem::bf16, {24, 16}, {24, 1});
  float alpha = 1, beta = 1;
  tw_gemm_args first = x.args();
  first.c = c.dl(), first.alpha = &alpha, first.beta = &beta;
  tw_plan* plan = nullptr;
  ASSERT_EQ(tw_plan_make(&first, &plan), TW_OK);
  auto const after = [&](auto const& change) {
    tw_gemm_args g = first;
    change(g);
    std::string const text = refusal(tw_plan_run(plan, &g));
    alpha = beta = 1;
    return text;
  };
  EXPECT_EQ(after([](tw_gemm_args&) {}), "");
  EXPECT_EQ(after([&](tw_gemm_args&) { alpha = 2; }), other);
  EXPECT_EQ(after([](tw_gemm_args& g) { g.alpha = nullptr; }), "");
  EXPECT_EQ(after([&](tw_gemm_args&) { beta = 2; }), other);
  EXPECT_EQ(after([](tw_gemm_args& g) { g.beta = nullptr; }), "");
  EXPECT_EQ(after([](tw_gemm_args& g) { g.c = nullptr; }), other);
  EXPECT_EQ(after([](tw_gemm_args& g) { g.flags = TW_INVARIANT; }), other);
  EXPECT_EQ(after([](tw_gemm_args& g) { g.flags = 1U << 30; }), "TW0486 flags");
  EXPECT_EQ(after([](tw_gemm_args& g) { g.activation = "relu"; }), other);
  EXPECT_EQ(after([](tw_gemm_args& g) { g.activation = "relo"; }), "TW0486 activation");
  EXPECT_EQ(after([](tw_gemm_args& g) { g.gate = "split"; }), "TW0616 shape of c");
  EXPECT_EQ(after([](tw_gemm_args& g) { g.group_axis = "m"; }), "TW0484 groups");
  EXPECT_EQ(after([&](tw_gemm_args& g) { g.bias = bias.dl(); }), other);
  EXPECT_EQ(after([&](tw_gemm_args& g) { g.scale_a = bias.dl(); }), "TW0450 scale_a");
  EXPECT_EQ(after([&](tw_gemm_args& g) { g.d = wide.dl(); }), other);
  EXPECT_EQ(after([](tw_gemm_args& g) { g.size = 8; }), "TW0487 tw_gemm_args.size");
  DLTensor moved = *x.a.dl(), odd = moved, on_gpu = moved;
  odd.dtype.code = kDLFloat, on_gpu.device = {kDLCUDA, 0};
  EXPECT_EQ(after([&](tw_gemm_args& g) { g.a = &odd; }), other);
  EXPECT_EQ(after([&](tw_gemm_args& g) { g.a = &on_gpu; }), "TW0485 device of b");
  // Other memory, the same problem.
  x.a.fill([] { return 1.0F; }), x.b.fill([] { return 1.0F; }), c.fill([] { return 0.0F; });
  moved.data = static_cast<char*>(moved.data) - 64, moved.byte_offset = 64;
  x.d.fill([] { return 0.0F; });
  EXPECT_EQ(after([&](tw_gemm_args& g) { g.a = &moved; }), "");
  EXPECT_EQ(x.d.get(0), 32.0);
  moved.data = nullptr;
  EXPECT_EQ(after([&](tw_gemm_args& g) { g.a = &moved; }), "TW0408 address of a");
  tw_plan_free(plan);
}

}  // namespace
}  // namespace tw_c_test
