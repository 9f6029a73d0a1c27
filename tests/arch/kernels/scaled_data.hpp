// SPDX-License-Identifier: Apache-2.0
// scaled_data.hpp  Operands of block-scaled multiplies as they lie in shared memory, with their
//                  scale factors, and the values that they stand for.
#pragma once

#include <random>
#include <vector>

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/umma_idesc.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::test {

inline constexpr int row_bytes = 128, most_n = 256;

struct scaled_problem {
  umma_kind kind;
  int block;
  elem a, b, scale;
  int n;
  bool a_in_tmem = false;
  bool a_copied = false;   // to tensor memory by tcgen05.cp; else stored there
  bool a_missing = false;  // from tensor memory: nothing puts it there
};
inline int factors_of(scaled_problem const& q) { return umma_k(q.kind) / q.block; }
/// Factors of a row of 128 bytes: four multiplies.
inline int row_factors(scaled_problem const& q) { return 4 * factors_of(q); }

inline float value_of(elem type, int code) {
  auto const bits = static_cast<std::uint8_t>(code);
  switch (type) {
    case elem::e4m3: return to_float(e4m3{bits});
    case elem::e5m2: return to_float(e5m2{bits});
    case elem::e2m3: return to_float(e2m3{bits});
    case elem::e3m2: return to_float(e3m2{bits});
    case elem::ue4m3: return to_float(ue4m3{bits});
    case elem::ue8m0: return to_float(ue8m0{bits});
    default: return to_float(e2m1{bits});
  }
}
/// A code of a small number: sums of products of such are exact.
inline int small_code(elem type, std::mt19937& random) {
  static constexpr float values[] = {0, 0.5F, 1, -1, 1.5F, -2, 3};
  float const x = values[random() % 7];
  switch (type) {
    case elem::e4m3: return to_e4m3(x, saturation::finite).bits;
    case elem::e5m2: return to_e5m2(x, saturation::finite).bits;
    case elem::e2m3: return to_e2m3(x).bits;
    case elem::e3m2: return to_e3m2(x).bits;
    default: return to_e2m1(x).bits;
  }
}

/// An operand of `rows` rows: values, factors, and both as they lie in shared memory.
struct operand_data {
  std::vector<float> value, factor;  // [row][k], [row][block]
  std::vector<std::uint8_t> image, factors;
};
inline operand_data make_operand(scaled_problem const& q, elem type, int rows, int image_rows,
                                 std::mt19937& random) {
  operand_data d;
  int const k = 4 * umma_k(q.kind), n_factors = row_factors(q);
  bool const dense = q.kind >= umma_kind::mxf4;
  d.image.resize(static_cast<std::size_t>(image_rows * row_bytes));
  d.factors.resize(static_cast<std::size_t>((image_rows + 127) / 128 * 2048), 0xFF);
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < k; ++i) {
      int const code = small_code(type, random);
      d.value.push_back(value_of(type, code));
      int const bits = size_bits(type), per_chunk = dense ? 32 : 16;
      int const chunk = r * row_bytes + i / per_chunk * 16;
      std::uint32_t const at = swizzled(static_cast<std::uint32_t>(chunk), swizzle_mode::b128);
      for (int b = 0; b < bits; ++b) {
        int const bit = i % per_chunk * bits + b;
        d.image[at + static_cast<std::uint32_t>(bit / 8)] |=
            static_cast<std::uint8_t>((code >> b & 1) << bit % 8);
      }
    }
    for (int f = 0; f < n_factors; ++f) {
      int const code = q.scale == elem::ue8m0 ? 125 + static_cast<int>(random() % 5)
                                              : 0x30 + static_cast<int>(random() % 16);
      d.factor.push_back(value_of(q.scale, code));
      d.factors[static_cast<std::size_t>(r / 128 * 2048 + f / 4 * 512 + r % 32 * 16 +
                                         r % 128 / 32 * 4 + f % 4)] =
          static_cast<std::uint8_t>(code);
    }
  }
  return d;
}

/// A row of A in words, as it lies in tensor memory: of elements below 8 bits that are not dense,
/// each has a byte, e2m1 in the bits from 2 on and those of 6 bits in the bits from 0 on.
inline std::vector<std::uint32_t> rows_in_words(scaled_problem const& q, operand_data const& x,
                                                int rows) {
  int const bits = size_bits(q.a);
  bool const padded = bits < 8 && q.kind < umma_kind::mxf4;
  auto const byte_at = [&](int row, int byte) {
    auto const plain = static_cast<std::uint32_t>(row * row_bytes + byte);
    if (!padded) return static_cast<std::uint32_t>(x.image[swizzled(plain, swizzle_mode::b128)]);
    std::uint32_t const chunk = swizzled(plain & ~15U, swizzle_mode::b128);
    std::uint32_t code = 0;
    for (int b = 0; b < bits; ++b) {
      auto const bit = static_cast<std::uint32_t>(byte % 16 * bits + b);
      code |= (x.image[chunk + bit / 8] >> bit % 8 & 1U) << b;
    }
    return bits == 4 ? code << 2 : code;
  };
  std::vector<std::uint32_t> words;
  for (int r = 0; r < rows; ++r)
    for (int byte = 0; byte < row_bytes; byte += 4)
      words.push_back(byte_at(r, byte) | byte_at(r, byte + 1) << 8 | byte_at(r, byte + 2) << 16 |
                      byte_at(r, byte + 3) << 24);
  return words;
}

/// A as tcgen05.cp reads it: chunk c of 16 bytes of row r at 2048 c + 16 r, without a swizzle.
inline std::vector<std::uint8_t> chunks_in_columns(operand_data const& x, int rows) {
  std::vector<std::uint8_t> image(static_cast<std::size_t>(rows * row_bytes));
  for (int r = 0; r < rows; ++r)
    for (int byte = 0; byte < row_bytes; ++byte)
      image[static_cast<std::size_t>(byte / 16 * 16 * rows + 16 * r + byte % 16)] =
          x.image[swizzled(static_cast<std::uint32_t>(r * row_bytes + byte), swizzle_mode::b128)];
  return image;
}

/// Element (m, n) of the result.
inline double scaled_sum(scaled_problem const& q, operand_data const& a, operand_data const& b,
                         int m, int n) {
  int const k = 4 * umma_k(q.kind), f = row_factors(q);
  double sum = 0;
  for (int i = 0; i < k; ++i)
    sum += static_cast<double>(a.value[static_cast<std::size_t>(m * k + i)]) *
           static_cast<double>(a.factor[static_cast<std::size_t>(m * f + i / q.block)]) *
           static_cast<double>(b.value[static_cast<std::size_t>(n * k + i)]) *
           static_cast<double>(b.factor[static_cast<std::size_t>(n * f + i / q.block)]);
  return sum;
}

}  // namespace tw::test
