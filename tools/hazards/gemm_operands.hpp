// SPDX-License-Identifier: Apache-2.0
// gemm_operands.hpp  Random operands of the GEMMs that `tilewright check gemm` runs.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <span>
#include <vector>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/problem/gemm.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tools/random_elements.hpp"

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

/// The memory of split-K parts and copies, of which the counters are zero.
class checked_workspace {
 public:
  static constexpr std::int64_t bytes = std::int64_t{16} << 20;
  void give(gemm_operands& o) const {
    o.workspace = memory_.get();
    o.workspace_bytes = bytes;
  }
  /// After a run that failed.
  void clear() const { std::fill_n(memory_.get(), gemm_workspace_zeros, std::byte{0}); }

 private:
  struct release {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{256}); }
  };
  std::unique_ptr<std::byte[], release> const memory_{new (std::align_val_t{256})
                                                          std::byte[bytes]()};
};

}  // namespace tw::hazards
