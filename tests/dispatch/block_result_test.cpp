// SPDX-License-Identifier: Apache-2.0
// block_result_test.cpp  A D in MXFP8, MXFP4 or NVFP4 has the bits of D in float32, quantised.
#include "tilewright/problem/block_result.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/kernel/emu_workspace.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/block_quantize.hpp"

namespace tw::test {
namespace {

using bytes_of_memory = std::vector<std::uint8_t>;

constexpr std::uint8_t untouched = 0xAB;

struct shape {
  std::int64_t m, n, k;
};

/// bf16 operands with sums that float32 holds, C of float32 with what quantisation treats apart.
class product {
 public:
  product(shape const& s, std::int64_t batch, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    auto const element = [&] { return static_cast<float>(static_cast<int>(random() % 17) - 8); };
    for (auto* x : {&a_, &b_}) {
      std::int64_t const lines = x == &a_ ? s.m : s.n;
      for (std::int64_t i = 0; i < batch * lines * s.k; ++i) x->push_back(to_bf16(element()).bits);
    }
    for (std::int64_t i = 0; i < batch * s.m * s.n; ++i) {
      float const far[] = {NAN, INFINITY, -INFINITY, 0x1p100F, 0x1p-120F};
      c_.push_back(random() % 97 == 0 ? far[random() % 5] : element() * 0x1p-6F);
    }
    for (std::int64_t i = 0; i < std::min<std::int64_t>(s.n, 64); ++i) c_[i] = 0.0F;
    p.m = s.m, p.n = s.n, p.k = s.k, p.batch = batch;
    auto const stride = [&](std::int64_t one) { return batch > 1 ? one : 0; };
    p.a = {elem::bf16, order::row_major, s.k, stride(s.m * s.k)};
    p.b = {elem::bf16, order::col_major, s.k, stride(s.n * s.k)};
    p.c = matrix_desc{elem::f32, order::row_major, s.n, stride(s.m * s.n)};
    p.alpha = 0.25F, p.beta = 1.0F;
  }

  gemm_operands operands(void* d) const {
    return {.a = a_.data(), .b = b_.data(), .c = c_.data(), .d = d};
  }

  gemm_problem p;

 private:
  std::vector<std::uint16_t> a_, b_;
  std::vector<float> c_;
};

void run(gemm_problem const& p, gemm_operands o, char const* device) {
  emu_options options;
  options.os_threads = 1;
  test::emulate(plan_gemm(p, o, emulated_device(options, device)), o, options);
}

/// Bytes of a row of D, and of the room for it.
std::int64_t row_bytes(gemm_problem const& p) { return p.n * size_bits(p.d.type) / 8; }

/// Matrix i of D and its scales are those of `wide`, quantised.
void expect_matrix(gemm_problem const& p, matrix_desc const& from, float const* wide,
                   std::int64_t i, bytes_of_memory const& d, std::uint8_t const* scales) {
  block_quantize_problem q{.outer = p.m, .k = p.n, .from = from};
  q.format = result_format(p);
  q.order = p.scale_d->desc.tiled ? factor_order::swizzled : factor_order::linear;
  bytes_of_memory values(static_cast<std::size_t>(q.outer * q.row_bytes()));
  bytes_of_memory factors(static_cast<std::size_t>(q.factor_bytes()));
  float const level = quantize(q, wide, values.data(), factors.data()).second_level;
  for (std::int64_t row = 0; row < p.m; ++row) {
    std::uint8_t const* const line =
        d.data() + (i * p.d.batch_stride_elems + row * p.d.pitch_elems) * size_bits(p.d.type) / 8;
    ASSERT_EQ(std::memcmp(line, values.data() + row * q.row_bytes(),
                          static_cast<std::size_t>(row_bytes(p))),
              0)
        << "row " << row;
    for (std::int64_t j = row_bytes(p); j < p.d.pitch_bytes(); ++j)
      ASSERT_EQ(line[j], untouched) << "after row " << row;
  }
  ASSERT_EQ(std::memcmp(scales + i * p.scale_d->desc.batch_stride, factors.data(), factors.size()),
            0);
  if (q.format == block_format::nvfp4) {
    EXPECT_EQ(bits_of_float(second_level(p, scales, i)), bits_of_float(level));
  }
}

void expect_quantised(product& x, block_format format, factor_order order, char const* device) {
  SCOPED_TRACE(std::string(traits_of(format).name) + " " + name(order) + " on " + device);
  gemm_problem wide = x.p;
  std::int64_t const pitch = (x.p.n + 3) / 4 * 4;  // of the copy in the workspace
  wide.d = {elem::f32, order::row_major, pitch, x.p.batch > 1 ? x.p.m * pitch : 0};
  std::vector<float> in_float32(static_cast<std::size_t>(x.p.batch * x.p.m * pitch));
  run(wide, x.operands(in_float32.data()), device);

  gemm_problem p = x.p;
  elem const type = traits_of(format).value;
  std::int64_t const gap = 6;
  p.d = {type, order::row_major, p.n + gap, p.batch > 1 ? p.m * (p.n + gap) : 0};
  p.scale_d = make_block_result(format, p.m, p.n, order, p.batch);
  ASSERT_FALSE(accept(p)) << accept(p)->what << " " << accept(p)->got;
  bytes_of_memory d(static_cast<std::size_t>(p.batch * p.m * p.d.pitch_bytes()), untouched);
  std::int64_t const scale_bytes = block_result_bytes(p);
  std::vector<std::uint32_t> scales(static_cast<std::size_t>(scale_bytes / 4 + 2), 0xABABABAB);
  gemm_operands o = x.operands(d.data());
  o.scale_d = scales.data();
  run(p, o, device);

  auto const* const factors = reinterpret_cast<std::uint8_t const*>(scales.data());
  for (std::int64_t i = 0; i < p.batch; ++i)
    expect_matrix(p, wide.d, in_float32.data() + i * p.m * pitch, i, d, factors);
  for (std::int64_t j = scale_bytes; j < scale_bytes / 4 * 4 + 8; ++j)
    EXPECT_EQ(factors[j], untouched) << "after the scales";
}

constexpr block_format formats[] = {block_format::mxfp8, block_format::mxfp4, block_format::nvfp4};
constexpr factor_order orders[] = {factor_order::linear, factor_order::swizzled};

TEST(BlockResult, HasTheBitsOfFloat32Quantised) {
  for (shape const& s : {shape{40, 64, 64}, shape{130, 102, 32}, shape{3, 18, 16}})
    for (block_format const f : formats)
      for (factor_order const order : orders) {
        product x(s, 1, static_cast<std::uint64_t>(s.m));
        expect_quantised(x, f, order, "b200");
      }
}

TEST(BlockResult, OfBatchesAndOtherDevices) {
  for (block_format const f : formats) {
    product batch({20, 40, 32}, 3, 5);
    expect_quantised(batch, f, factor_order::swizzled, "b200");
    product x({70, 136, 64}, 1, 6);
    expect_quantised(x, f, factor_order::swizzled, "h200");
    expect_quantised(x, f, factor_order::linear, "a100");
    product one_block({70, traits_of(f).block, 64}, 1, 7);  // no scale of a row for other kernels
    expect_quantised(one_block, f, factor_order::linear, "h200");
  }
}

TEST(BlockResult, OfZerosHasAllScalesOne) {
  product x({2, 32, 16}, 1, 1);
  x.p.alpha = 0, x.p.beta = 0, x.p.c.reset();
  for (block_format const f : formats) expect_quantised(x, f, factor_order::linear, "b200");
}

/// MXFP8 or MXFP4 operands and D: the epilogue of the GEMM writes D and its scales.
void expect_at_once(block_format format, shape const& s, std::int64_t batch, bool relu) {
  SCOPED_TRACE(std::string(traits_of(format).name) + " M " + std::to_string(s.m));
  std::mt19937_64 random(static_cast<std::uint64_t>(s.m));
  product x(s, batch, 3);
  elem const type = traits_of(format).value;
  bytes_of_memory values[2], factors[2];
  for (int of_b = 0; of_b < 2; ++of_b) {
    std::int64_t const lines = (of_b != 0 ? s.n : s.m) * batch;
    std::vector<float> wide(static_cast<std::size_t>(lines * s.k));
    for (float& v : wide) v = static_cast<float>(static_cast<int>(random() % 13) - 6);
    block_quantize_problem q{.outer = lines, .k = s.k, .from = {elem::f32, order::row_major, s.k}};
    q.format = format, q.order = factor_order::linear;
    values[of_b].resize(static_cast<std::size_t>(lines * q.row_bytes()));
    factors[of_b].resize(static_cast<std::size_t>(q.factor_bytes()));
    (void)quantize(q, wide.data(), values[of_b].data(), factors[of_b].data());
  }
  gemm_problem& p = x.p;
  p.a.type = p.b.type = type;
  for (bool const of_b : {false, true}) {
    auto& scale = of_b ? p.scale_b : p.scale_a;
    scale = make_block_scale({of_b, of_b ? s.n : s.m, s.k, batch}, format, factor_order::linear);
  }
  gemm_operands o = x.operands(nullptr);
  o.a = values[0].data(), o.b = values[1].data();
  o.scale_a = factors[0].data(), o.scale_b = factors[1].data();
  if (relu) p.c.reset(), p.beta = 0;

  gemm_problem wide = p;
  std::int64_t const pitch = s.n + 5;
  wide.d = {elem::f32, order::row_major, pitch, batch > 1 ? s.m * pitch : 0};
  std::vector<float> in_float32(static_cast<std::size_t>(batch * s.m * pitch));
  gemm_operands to = o;
  to.d = in_float32.data();
  run(wide, to, "b200");
  if (relu) p.epilogue.act = activation::relu;
  for (float& y : in_float32) y = relu && y < 0 ? 0.0F : y;

  p.d = {type, order::row_major, s.n + 6, batch > 1 ? s.m * (s.n + 6) : 0};
  p.scale_d = make_block_result(format, s.m, s.n, factor_order::swizzled, batch);
  bytes_of_memory d(static_cast<std::size_t>(batch * s.m * p.d.pitch_bytes()), untouched);
  bytes_of_memory scales(static_cast<std::size_t>(block_result_bytes(p) + 64), untouched);
  o.d = d.data(), o.scale_d = scales.data();
  emu_options options;
  options.os_threads = 1;
  auto const plans = plan_candidates(p, o, emulated_device(options, "b200"), kernel_set::built);
  int at_once = 0;
  for (gemm_plan const& plan : plans) {
    if (plan.stage_d) continue;
    SCOPED_TRACE(plan.kernel);
    ++at_once;
    std::ranges::fill(d, untouched);
    std::ranges::fill(scales, untouched);
    test::emulate(plan, o, options);
    for (std::int64_t i = 0; i < batch; ++i)
      expect_matrix(p, wide.d, in_float32.data() + i * s.m * pitch, i, d, scales.data());
    for (std::size_t j = scales.size() - 64; j < scales.size(); ++j)
      ASSERT_EQ(scales[j], untouched) << "after the scales";
  }
  EXPECT_GE(at_once, 2);
}

TEST(BlockResult, OfBlockScaledOperandsIsWrittenByTheEpilogue) {
  for (block_format const f : {block_format::mxfp8, block_format::mxfp4}) {
    expect_at_once(f, {130, 102, 128}, 1, false);
    expect_at_once(f, {40, 300, 64}, 1, true);
    expect_at_once(f, {260, 64, 320}, 2, false);
  }
}

TEST(BlockResult, IsRequestedAsThePageSays) {
  std::int64_t const m = 32, n = 48;
  product x({m, n, 32}, 1, 2);
  gemm_problem p = x.p;
  bytes_of_memory d(m * n / 2);
  gemm_operands o = x.operands(d.data());
  alignas(4) std::uint8_t scales[512 + 4] = {};
  p.d = {tw::elem::e2m1, tw::order::row_major, n};
  p.scale_d = tw::make_block_result(tw::block_format::nvfp4, m, n);
  o.scale_d = scales;  // block_result_bytes(p); the float32 is at second_level_offset(p)
  ASSERT_EQ(block_result_bytes(p), sizeof scales);
  run(p, o, "b200");
  EXPECT_GT(second_level(p, scales, 0), 0.0F);
}

gemm_problem accepted_problem(block_format f) {
  product x({64, 64, 32}, 1, 1);
  gemm_problem p = x.p;
  p.d = {traits_of(f).value, order::row_major, 64, 0};
  p.scale_d = make_block_result(f, 64, 64);
  return p;
}

TEST(BlockResult, RefusesWhatItCannotWrite) {
  auto const code = [](gemm_problem const& p) {
    auto const why = accept(p);
    return why ? why->code : std::string("accepted");
  };
  for (block_format const f : formats) EXPECT_EQ(code(accepted_problem(f)), "accepted");
  gemm_problem p = accepted_problem(block_format::nvfp4);
  p.scale_d->desc.second_level = false;  // NVFP4's values and scales alone are not the numbers
  EXPECT_EQ(code(p), "TW0458");
  p = accepted_problem(block_format::mxfp4);
  p.scale_d->desc.second_level = true;
  EXPECT_EQ(code(p), "TW0458");
  p = accepted_problem(block_format::mxfp8);
  p.d.type = elem::e5m2;
  EXPECT_EQ(code(p), "TW0405");
  p = accepted_problem(block_format::mxfp8);
  p.d.type = elem::e2m1, p.d.pitch_elems = 65;
  EXPECT_EQ(code(p), "TW0458");
  p = accepted_problem(block_format::mxfp8);
  p.d.ord = order::col_major;
  EXPECT_EQ(code(p), "TW0458");
  p = accepted_problem(block_format::mxfp8);
  p.scale_d->given = true;
  EXPECT_EQ(code(p), "TW0458");
  p = accepted_problem(block_format::mxfp8);
  p.scale_d->desc.stride_k = 4;  // tiles of 512 bytes
  p.scale_d->desc.block_k = 16;
  EXPECT_EQ(code(p), "TW0458");
  p = accepted_problem(block_format::mxfp8);
  p.m = 200, p.n = p.d.pitch_elems = p.c->pitch_elems = 300;
  EXPECT_EQ(code(p), "TW0458") << "scales of 64 columns for 300: tiles share bytes";
  p = accepted_problem(block_format::mxfp8);
  p.aux = p.d;
  EXPECT_EQ(code(p), "TW0458");
  p = accepted_problem(block_format::mxfp8);
  p.scale_d->desc.block_outer = 128;
  EXPECT_EQ(code(p), "TW0458");
  p = accepted_problem(block_format::nvfp4);
  p.scale_d->power_of_two = true;
  EXPECT_EQ(code(p), "TW0458");
}

}  // namespace
}  // namespace tw::test
