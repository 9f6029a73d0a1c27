// SPDX-License-Identifier: Apache-2.0
// block_scaled_bind.hpp  From matrices in memory to the parameters of a block-scaled kernel.
#pragma once

#include "tilewright/arch/tensor_map.hpp"
#include "tilewright/kernel/sm100/block_scaled.hpp"

namespace tw {

/// D = epilogue(s * sum over k of (a fa)(b fb)). A is MxK and B is NxK, both contiguous along K;
/// rows lie `pitch` bytes apart, a multiple of 16, or of 32 with padded elements, whose rows have a
/// multiple of 128 elements, zeros from k on. Factors: scale_factors_32_4_4, zeros or any finite
/// numbers where they belong to no block. D is row-major.
struct block_scaled_operands {
  int m, n, k;
  void const *a, *b;
  std::int64_t a_pitch_bytes, b_pitch_bytes;
  void const *a_factors, *b_factors;
  second_level_scale second;
  void* d;
  std::int64_t d_pitch;  // elements
  float alpha = 1.0F;
};

/// Throws `rejected` (TW03xx) where TMA cannot address A, B or the factors.
template <block_scaled_config C>
block_scaled_params bind(block_scaled_operands const& o, target t) {
  using kernel = block_scaled_sm100<C>;
  auto const tiles = [](int extent, int tile) { return (extent + tile - 1) / tile; };
  auto const operand = [&](void const* base, elem type, int rows, std::int64_t pitch, int box) {
    bool const padded = size_bits(type) < 8 && !C.dense();
    tensor_map_desc x;
    x.base = const_cast<void*>(base);
    x.type = type;
    x.padded = padded;
    x.dim[0] = padded ? (o.k + 127) / 128 * 128 : o.k;
    x.rank = 3;
    x.dim[1] = rows;
    x.stride_bytes[0] = x.stride_bytes[1] = pitch;
    x.box[0] = C.tile_k();
    x.box[1] = box;
    x.swizzle = swizzle_mode::b128;
    return make_tensor_map(x, t);
  };
  auto const factors = [&](void const* base, int rows, int atoms) {
    tensor_map_desc const x = factor_map(const_cast<void*>(base), C.scale, rows, o.k, C, atoms);
    return make_tensor_map(batched(x, x.stride_bytes[1], 1, 0), t);
  };
  block_scaled_params p{o.second, {}, 0, {}, {}, {}, {}, 0, 0, 0, 0, 0, {}};
  p.walk = tile_walk({tiles(o.m, 128 * C.ctas), tiles(o.n, C.tile_n), 1});
  p.k_blocks = tiles(o.k, C.tile_k());
  p.a = operand(o.a, C.a, o.m, o.a_pitch_bytes, kernel::roles::rows);
  p.b = operand(o.b, C.b, o.n, o.b_pitch_bytes, kernel::b_rows);
  p.sfa = factors(o.a_factors, o.m, 1);
  p.sfb = factors(o.b_factors, o.n, C.n_atoms());
  epilogue_params& e = p.epilogue;
  tensor_map_desc d;
  d.base = o.d;
  d.type = C.d;
  d.rank = 3;
  d.dim[0] = o.n;
  d.dim[1] = o.m;
  d.stride_bytes[0] = d.stride_bytes[1] = o.d_pitch * size_bytes(C.d);
  d.box[0] = kernel::store::cols;
  d.box[1] = kernel::store::rows;
  d.swizzle = swizzle_mode::b128;
  // Without a map all of D goes by plain stores; with one, what ends inside of 16 bytes does.
  bool const addressable = !check_tensor_map(d);
  if (addressable) e.d = make_tensor_map(d, t);
  bool const whole = o.n * size_bytes(C.d) % 16 == 0;
  e.tma_end = !addressable ? 0 : whole ? 1 << 30 : o.n;
  e.data = o.d;
  e.pitch = o.d_pitch;
  e.m = o.m;
  e.n = o.n;
  e.alpha = o.alpha;
  return p;
}

}  // namespace tw
