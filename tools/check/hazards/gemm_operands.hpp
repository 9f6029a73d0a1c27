// SPDX-License-Identifier: Apache-2.0
// gemm_operands.hpp  Random operands of the GEMMs that `tilewright check gemm` runs.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <span>
#include <vector>

#include "tilewright/arch/emu/options.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/problem/gemm.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tools/check/hazards/finding.hpp"
#include "tools/operand/random_elements.hpp"

namespace tw::hazards {

/// A matrix of random values, or of NaN, with a leading dimension that may be padded. Accesses of
/// the margins before and after it are reported (E0052).
struct checked_matrix {
  static constexpr std::size_t margin_bytes = 4096;
  matrix_desc desc;
  std::vector<std::byte> memory;  // with the margins
  std::span<std::byte> bytes;

  checked_matrix(elem type, order ord, std::int64_t rows, std::int64_t cols, std::int64_t pad) {
    std::int64_t const inner = ord == order::row_major ? cols : rows;
    std::int64_t const outer = ord == order::row_major ? rows : cols;
    desc = {type, ord, inner + pad};
    auto const count = static_cast<std::size_t>(desc.pitch_elems * outer * size_bits(type) / 8);
    memory.assign(count + 2 * margin_bytes, std::byte{0xFF});
    bytes = std::span(memory).subspan(margin_bytes, count);
  }
  checked_matrix(checked_matrix const&) = delete;
  checked_matrix& operator=(checked_matrix const&) = delete;
  void fill(std::mt19937_64& random) { fill_normal(desc.type, bytes, random); }
};

/// Enough for the scales of any convention, in units of four bytes; or of block-scaled operands.
inline std::int64_t scale_elems(std::int64_t outer, std::int64_t k, bool block_scaled = false) {
  if (block_scaled) return (outer + 127) / 128 * 128 * ((k + 63) / 64);
  return (outer + 3) / 4 * 4 * ((k + 511) / 512 * 4);
}

/// A convention of the libraries, and scales from 1/16 to 32.
inline scale_desc random_scales(scaled_operand const& x, checked_matrix& scales,
                                std::mt19937_64& random) {
  elem const type = std::array{elem::f32, elem::f32, elem::ue8m0, elem::s32}[random() % 4];
  std::vector<scale_convention> const all = scale_conventions(x, type);
  for (std::size_t i = 0; i + 4 <= scales.bytes.size(); i += 4) {
    float const f = std::ldexp(1.0F + static_cast<float>(random() % 100) / 100,
                               static_cast<int>(random() % 9) - 4);
    std::uint32_t word = __builtin_bit_cast(std::uint32_t, f);
    if (exponents_in(type) > 0)
      word = 0x7B7B7B7BU + (static_cast<std::uint32_t>(random()) & 0x07070707U);
    std::memcpy(&scales.bytes[i], &word, 4);
  }
  return all[random() % all.size()].desc;
}

/// Scales of block-scaled operands in one of the two orders, from 1/16 to 8 or of any finite ue4m3.
inline scale_desc random_block_scales(scaled_operand const& x, block_format format,
                                      checked_matrix& scales, std::mt19937_64& random) {
  bool const nvfp4 = format == block_format::nvfp4;
  for (std::byte& s : scales.bytes)
    s = static_cast<std::byte>(nvfp4 ? random() % 0x7F : 123 + random() % 8);
  auto const order = random() % 2 == 0 ? factor_order::linear : factor_order::swizzled;
  return make_block_scale(x, format, order);
}

/// Scales of D that a kernel computes, in the order of any library, or one that is given.
inline output_scales random_result_scales(scaled_operand const& over, std::mt19937_64& random) {
  if (random() % 4 == 0) return {{}, true, false};
  elem const type = std::array{elem::f32, elem::f32, elem::ue8m0, elem::s32}[random() % 4];
  std::vector<scale_convention> all = scale_conventions(over, type);
  std::erase_if(all, [](scale_convention const& c) { return c.kind != scaling::block_1x128; });
  return {all[random() % all.size()].desc, false, exponents_in(type) > 0 || random() % 2 == 0};
}

/// True if the kernel stores D in float32 without an auxiliary output or scales of D: a plan can
/// then let a second launch quantise D.
inline bool may_stage_d(kernel_facts const& f) {
  return f.d == elem::f32 && !f.epilogue.aux && !f.epilogue.scales && f.groups == group_axis::none;
}

/// A D of 8 or 4 bits with scales over (m, cols), in the order that its scales need, or in any.
struct staged_result {
  elem type;
  order ord;
  output_scales scales;
};
inline staged_result random_staged_result(std::int64_t m, std::int64_t cols,
                                          std::mt19937_64& random) {
  bool const pairs = cols % 2 == 0;
  if (random() % 3 == 0) {
    block_format const formats[] = {block_format::mxfp8, block_format::mxfp4, block_format::nvfp4};
    block_format const f = formats[random() % (pairs ? 3 : 1)];
    auto const in = random() % 2 == 0 ? factor_order::linear : factor_order::swizzled;
    return {traits_of(f).value, order::row_major, make_block_result(f, m, cols, in)};
  }
  elem const types[] = {elem::e4m3, elem::e5m2, elem::s8};
  staged_result r{types[random() % 3], random() % 2 == 0 ? order::row_major : order::col_major,
                  random_result_scales({false, m, cols}, random)};
  if (!r.scales.given && random() % 2 == 0)
    r.scales = {make_scale({false, m, cols}, scaling::row), false, random() % 2 == 0};
  return r;
}

/// The memory of split-K parts, copies and a float32 D, of which the counters are zero.
class checked_workspace {
 public:
  static constexpr std::int64_t bytes = std::int64_t{16} << 20;
  static constexpr std::size_t margin_bytes = checked_matrix::margin_bytes;
  /// For planning.
  void give(gemm_operands& o) const {
    o.workspace = first();
    o.workspace_bytes = bytes;
  }
  /// For a launch: what the plan says that it needs. Accesses of the margins around it are reported
  /// (E0052) where ordinary loads and stores are seen, else kept() finds what was written.
  void give_exactly(gemm_plan const& plan, gemm_operands& o, emu::options& options) const {
    o.workspace = first();
    o.workspace_bytes = plan.workspace_bytes;
    if (plan.workspace_bytes == 0) return;
    options.arrays.push_back(
        {first(), static_cast<std::size_t>(plan.workspace_bytes), margin_bytes});
    for (std::byte* margin : margins(plan)) std::fill_n(margin, margin_bytes, of_margins);
  }
  /// After that launch: are the margins as they were?
  bool kept(gemm_plan const& plan) const {
    if (plan.workspace_bytes == 0) return true;
    return std::ranges::all_of(margins(plan), [](std::byte const* margin) {
      return std::all_of(margin, margin + margin_bytes,
                         [](std::byte x) { return x == of_margins; });
    });
  }
  static finding beyond(gemm_plan const& plan, run_key const& key) {
    std::string const text =
        fmt::format("bytes around the {} of workspace that the plan of {} states were written",
                    plan.workspace_bytes, plan.kernel);
    return {"", "beyond-workspace", text, 1, 0, key, {}};
  }
  /// After a run that failed.
  void clear() const { std::fill_n(first(), gemm_workspace_zeros, std::byte{0}); }

 private:
  static constexpr std::byte of_margins{0x5A};
  std::byte* first() const { return memory_.get() + margin_bytes; }
  std::array<std::byte*, 2> margins(gemm_plan const& plan) const {
    return {memory_.get(), first() + plan.workspace_bytes};
  }

  struct release {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{256}); }
  };
  std::unique_ptr<std::byte[], release> const memory_{new (std::align_val_t{256})
                                                          std::byte[bytes + 2 * margin_bytes]()};
};

}  // namespace tw::hazards
