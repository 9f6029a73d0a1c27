// SPDX-License-Identifier: Apache-2.0
// probe_operand.hpp  Operands of the probes of tcgen05.mma: small integers of any type, in shared
//                    memory without a swizzle.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw::selftest {

struct probe_params {
  std::uint32_t* out;
};
inline constexpr int probe_words = 128 * 64;

/// From -2 to 2: element k of row i of A (which = 0) or of column i of B (1).
TW_HD constexpr int operand_value(int i, int k, int which) {
  return (i * (3 + which) + k * (5 - which) + which) % 5 - 2;
}

/// 2^exponent in a float type: a mantissa of zeros.
template <elem E>
TW_HD constexpr std::uint32_t code_of_power(int exponent) {
  if (is_exponent(E)) return static_cast<std::uint32_t>(127 + exponent);
  float_format const f = traits_of(with_sign(E)).format;
  return static_cast<std::uint32_t>(f.bias() + exponent)
         << (f.mantissa_bits + bits_below_mantissa(E));
}
/// -2, -1, 0, 1 or 2; the sign is the highest bit.
template <elem E>
TW_HD constexpr std::uint32_t code_of(int x) {
  if (x == 0) return 0;
  std::uint32_t const sign = x < 0 ? 1U << (size_bits(E) - 1) : 0;
  return sign | code_of_power<E>(x == 2 || x == -2 ? 1 : 0);
}

/// The code of a type in an instruction descriptor (PTX ISA, "Instruction Descriptor").
TW_HD constexpr int format_of(umma_kind kind, elem e) {
  switch (e) {
    case elem::tf32: return 2;
    case elem::bf16:
    case elem::e5m2: return 1;
    case elem::e2m3: return 3;
    case elem::e3m2: return 4;
    case elem::e2m1: return kind >= umma_kind::mxf4 ? 1 : 5;
    default: return 0;
  }
}

/// 32 bytes of K of each row. Two columns of 16 bytes follow one another; in each, rows of 16
/// bytes. Elements below 8 bits lie packed, 16 of them and padding in 16 bytes; dense: 32.
template <elem E, bool Dense = false>
struct probe_operand {
  static constexpr int row_bytes = 32, chunks = 2;
  static constexpr int bits = size_bits(E);
  static constexpr int per_chunk = Dense ? 32 : bits < 8 ? 16 : 128 / bits;

  TW_HD static constexpr int words(int rows) { return rows * row_bytes / 4; }
  TW_DEVICE static umma_desc desc(void const* tile, int rows) {
    return make_umma_desc(smem_addr(tile), static_cast<std::uint32_t>(16 * rows), 128,
                          swizzle_mode::none);
  }
  /// Word w of a tile whose first row is row `first` of the operand.
  TW_DEVICE static std::uint32_t word(int w, int rows, int first, int which) {
    int const chunk = w / (4 * rows), row = first + w / 4 % rows, lowest = w % 4 * 32;
    std::uint32_t x = 0;
    for (int i = 0; i < per_chunk; ++i) {
      int const at = i * bits - lowest;
      if (at <= -bits || at >= 32) continue;
      std::uint32_t const code = code_of<E>(operand_value(row, chunk * per_chunk + i, which));
      x |= at >= 0 ? code << at : code >> -at;
    }
    return x;
  }
  TW_DEVICE static void fill(std::uint32_t* tile, int rows, int first, int which) {
    for (int w = thread_id(); w < words(rows); w += 128) tile[w] = word(w, rows, first, which);
  }
};

/// Begins a probe of one CTA whose operands are in shared memory: the barrier waits for one commit,
/// the columns are allocated, and the tensor core may read the operands.
template <int Columns, class Smem>
TW_DEVICE void begin_multiply(Smem& s) {
  if (thread_id() == 0) {
    s.done.init(1);
    fence_mbarrier_init();
  }
  if (warp_id() == 0) {
    tmem_alloc(&s.tensor_at, Columns);
    tmem_relinquish();
  }
  fence_proxy_async();
  cta_sync();
}

}  // namespace tw::selftest
