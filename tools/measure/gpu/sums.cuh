// SPDX-License-Identifier: Apache-2.0
// sums.cuh  Sums of products in float64, a tile of 16 x 16 results per block: slow and obvious.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>
#include <optional>

#include "tilewright/base/convert.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw::bench {

inline constexpr int tile = 16;  // of the reference, in each direction

/// Element i of an array, as a type of 8 bits or more.
struct element_at {
  void const* base;
  std::int64_t i;
  template <class Type>
  TW_HD float operator()(Type) const {
    if constexpr (size_bits(Type::value) % 8 == 0)
      return to_float(static_cast<typename Type::type const*>(base)[i]);
    return 0;
  }
};

__device__ inline float load(void const* base, std::int64_t i, elem type) {
  if (type == elem::f32) return static_cast<float const*>(base)[i];
  if (type == elem::e2m1) {  // two in a byte
    unsigned const two = static_cast<unsigned char const*>(base)[i / 2];
    return to_float(e2m1{static_cast<std::uint8_t>(i % 2 == 0 ? two & 0xFU : two >> 4)});
  }
  if (type == elem::tf32)
    return __uint_as_float(static_cast<std::uint32_t const*>(base)[i] & 0xFFFFE000U);
  if (size_bits(type) != 16) return with_elem(type, element_at{base, i});
  std::uint16_t const bits = static_cast<std::uint16_t const*>(base)[i];
  return type == elem::bf16 ? __uint_as_float(static_cast<std::uint32_t>(bits) << 16)
                            : __half2float(__ushort_as_half(bits));
}

/// An operand as element strides. Float32 operands are multiplied as tf32, rounded
/// to nearest even. Elements of an operand with scales are multiplied by theirs.
struct operand {
  void const* base;
  std::int64_t row_step, column_step;
  elem type;
  void const* scales = nullptr;
  scale_desc scale = {};
  float const* second_level = nullptr;  // of NVFP4

  __device__ float at(std::int64_t i) const {
    float const x = load(base, i, type);
    if (type != elem::f32 || isnan(x)) return x;
    std::uint32_t const bits = __float_as_uint(x);
    return __uint_as_float((bits + 0xFFFU + (bits >> 13 & 1U)) & ~0x1FFFU);
  }
  /// `outer`: the row of A or the column of B.
  __device__ float scale_at(std::int64_t outer, std::int64_t k) const {
    if (scales == nullptr) return 1.0F;
    float const s = load(scales, scale_offset(scale, outer, k), scale.type);
    return second_level == nullptr ? s : s * *second_level;
  }
};

/// Which rows or columns of D: `list`, or all of 0..count-1 if it is null.
struct line_set {
  int const* list;
  std::int64_t count;
  __device__ std::int64_t at(std::int64_t i) const {
    return i >= count ? -1 : list == nullptr ? i : list[i];
  }
};

/// Of the terms a_k b_k of one result: their sum, that of their magnitudes, that of their
/// squares.
struct exact_sums {
  double sum, magnitudes, squares;
};

/// Where this block's tile of the rows and columns begins.
struct tile_origin {
  std::int64_t row, column;
};
__device__ inline tile_origin origin_of(line_set const& columns) {
  std::int64_t const column_tiles = (columns.count + tile - 1) / tile;
  return {blockIdx.x / column_tiles * tile, blockIdx.x % column_tiles * tile};
}

/// Thread (x, y) gets row y and column x of the tile. All threads of the block call it.
__device__ inline exact_sums sums_of(operand const& of_a, operand const& of_b, std::int64_t depth,
                                     line_set const& rows, line_set const& columns,
                                     tile_origin first) {
  __shared__ float a[tile][tile + 1], b[tile][tile + 1];  // (row, k), (column, k)
  int const x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);

  // The index that is contiguous in memory runs along x.
  int const a_line = of_a.column_step == 1 ? y : x, a_k = of_a.column_step == 1 ? x : y;
  int const b_line = of_b.row_step == 1 ? y : x, b_k = of_b.row_step == 1 ? x : y;
  std::int64_t const a_row = rows.at(first.row + a_line);
  std::int64_t const b_column = columns.at(first.column + b_line);

  double sum = 0, magnitudes = 0, squares = 0;
  for (std::int64_t k = 0; k < depth; k += tile) {
    bool const a_there = a_row >= 0 && k + a_k < depth, b_there = b_column >= 0 && k + b_k < depth;
    a[a_line][a_k] = a_there ? of_a.at(a_row * of_a.row_step + (k + a_k) * of_a.column_step) *
                                   of_a.scale_at(a_row, k + a_k)
                             : 0.0F;
    b[b_line][b_k] = b_there ? of_b.at((k + b_k) * of_b.row_step + b_column * of_b.column_step) *
                                   of_b.scale_at(b_column, k + b_k)
                             : 0.0F;
    __syncthreads();
    for (int i = 0; i < tile; ++i) {
      double const product = static_cast<double>(a[y][i]) * static_cast<double>(b[x][i]);
      sum += product;
      magnitudes += fabs(product);
      squares = fma(product, product, squares);
    }
    __syncthreads();
  }

  return {sum, magnitudes, squares};
}

inline operand operand_of(void const* base, matrix_desc const& m) {
  bool const row_major = m.ord == order::row_major;
  return {base, row_major ? m.pitch_elems : 1, row_major ? 1 : m.pitch_elems, m.type};
}

/// A matrix in device memory as an operand. `scales` are those that `scale` describes; they are not
/// read where `scale` is empty.
inline operand scaled_operand_of(gemm_problem const& p, gemm_operands const& o, role of) {
  operand x = operand_of(address(o, of), *matrix_of(p, of));
  auto const& scales = scale(p, of);
  if (!scales) return x;
  x.scales = address(o, scales_of(of)), x.scale = *scales;
  if (scales->second_level)
    x.second_level = static_cast<float const*>(address(o, second_level_of(of)));
  return x;
}

/// A and B of a GEMM, decoded with their scales.
struct scaled_pair {
  operand a, b;
};
inline scaled_pair scaled_operands_of(gemm_problem const& p, gemm_operands const& o) {
  return {scaled_operand_of(p, o, role::a), scaled_operand_of(p, o, role::b)};
}

/// The largest product of two scales of fill_scales(), and of second levels.
inline constexpr double largest_scales = 4;

/// Blocks that compute rows x columns.
inline unsigned tiles_of(line_set const& rows, line_set const& columns) {
  return static_cast<unsigned>((rows.count + tile - 1) / tile *
                               ((columns.count + tile - 1) / tile));
}

}  // namespace tw::bench
