// SPDX-License-Identifier: Apache-2.0
// epilogue_ops.hpp  The fused part of an epilogue: scales, bias, activation, gate and C, a strip of
//                   D at a time. problem/epilogue.hpp has the formula, problem/fused_bound.hpp what
//                   rounding it may cost.
#pragma once

#include <math.h>

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/add_c.hpp"
#include "tilewright/kernel/d_box.hpp"
#include "tilewright/kernel/params.hpp"

namespace tw {

/// Element i of a global vector or matrix of f32, bf16 or f16.
TW_DEVICE float load_as_float(void const* data, elem type, std::int64_t i) {
  if (type == elem::f32) return static_cast<float const*>(data)[i];
  std::uint16_t const bits = static_cast<std::uint16_t const*>(data)[i];
  return type == elem::bf16 ? to_float<elem::bf16>(bits) : to_float<elem::f16>(bits);
}

/// x s(x p ln 2), s(v) = 1 / (1 + e^-v).
TW_DEVICE float times_sigmoid(float x, float p) {
  return x * reciprocal_approx(1.0F + exp2_approx(-x * p));
}

/// x Phi(x): the normal distribution is s(x p(x^2) ln 2) for a smooth p, here a polynomial fitted
/// to |x| < 5 in Chebyshev's norm (gen/gelu.py). Beyond, what p leaves is below 2^-24 |x|.
TW_DEVICE float gelu_erf(float x) {
  float const t = fminf(x * x, 25.0F);
  float p = fmaf(t, -6.91524962e-11F, 8.86025653e-09F);
  p = fmaf(t, p, -4.55363505e-07F);
  p = fmaf(t, p, 1.20847008e-05F);
  p = fmaf(t, p, -0.000162247088F);
  p = fmaf(t, p, -8.90615556e-05F);
  p = fmaf(t, p, 0.104831517F);
  return times_sigmoid(x, fmaf(t, p, 2.30220985F));
}

/// The values of the vectors along columns that a strip needs.
template <gemm_config C>
struct strip_vectors {
  static constexpr int cols = d_box_of(C).cols * (C.gated() ? 2 : 1);
  float scale[cols], bias[cols];
};

/// A warpgroup's fragment, in strips of 64 rows and box.cols columns of D. With a gate, groups of 8
/// columns of the product are gates and what they multiply in turn.
template <gemm_config C>
class epilogue_ops {
 public:
  static constexpr bool gated = C.gated();
  static constexpr d_box box = d_box_of(C);
  static constexpr int results = box.cols / 2;                // of a thread in a strip
  static constexpr int regs = gated ? 2 * results : results;  // accumulators they come from
  using fragment = accumulator<C.part_n()>;
  using vectors = strip_vectors<C>;
  static_assert(vectors::cols <= 128, "[TW0205] a thread fetches one value of a vector");

  /// Begins a fragment at D(at): fetches what its first strip needs.
  TW_DEVICE epilogue_ops(epilogue_params const& p, fragment_place at) { fetch(p, at); }

  /// Hands what was fetched for this strip to the warpgroup; a barrier must follow. Then fetches
  /// for the strip at `next`.
  TW_DEVICE void share(epilogue_params const& p, vectors& v, fragment_place next) {
    int const t = thread_id() % 128;
    if (t < vectors::cols) {
      if (p.fused.col_scale != nullptr) v.scale[t] = scale_;
      if (p.fused.bias != nullptr && !p.fused.bias_rows) v.bias[t] = bias_;
    }
    fetch(p, next);
  }

  /// Strip j at D(at): its accumulators, from j * regs, become x.
  TW_DEVICE static void make_x(epilogue_params const& p, vectors const& v, fragment_place at,
                               fragment& acc, int j) {
    fused_params const& f = p.fused;
    int const first = j * regs;
    int const row = of_thread(at).row, col = 2 * (lane_id() % 4);
    int const rows[2] = {row < p.m ? row : p.m - 1, row + 8 < p.m ? row + 8 : p.m - 1};
    TW_UNROLL
    for (int i = 0; i < regs; ++i) acc[first + i] = p.alpha * acc[first + i];
    if (f.row_scale != nullptr) {
      float const s[2] = {f.row_scale[rows[0]], f.row_scale[rows[1]]};
      TW_UNROLL
      for (int i = 0; i < regs; ++i) acc[first + i] *= s[i >> 1 & 1];
    }
    if (f.col_scale != nullptr) {
      TW_UNROLL
      for (int i = 0; i < regs; ++i) acc[first + i] *= v.scale[col + 8 * (i >> 2) + (i & 1)];
    }
    if (f.bias != nullptr && f.bias_rows) {
      float const b[2] = {load_as_float(f.bias, f.bias_type, rows[0]),
                          load_as_float(f.bias, f.bias_type, rows[1])};
      TW_UNROLL
      for (int i = 0; i < regs; ++i) acc[first + i] += b[i >> 1 & 1];
    } else if (f.bias != nullptr) {
      TW_UNROLL
      for (int i = 0; i < regs; ++i) acc[first + i] += v.bias[col + 8 * (i >> 2) + (i & 1)];
    }
    if (p.c.data != nullptr && !f.c_last) add_c<results>(p, of_thread(at), acc, first);
  }

  /// The accumulator that holds result i of the strip whose first is `first`: x, or its gate; what
  /// that multiplies is 4 behind.
  TW_DEVICE static int register_of(int first, int i) {
    return first + (gated ? i >> 2 << 3 | (i & 3) : i);
  }

  /// Accumulators j * results and up become y, from x.
  TW_DEVICE static void make_y(epilogue_params const& p, fragment_place at, fragment& acc, int j) {
    activate(p.fused, acc, j * regs, j * results);
    if (p.c.data != nullptr && p.fused.c_last) add_c<results>(p, of_thread(at), acc, j * results);
  }

 private:
  float scale_ = 0, bias_ = 0;  // of one column of the next strip

  /// Where the thread's first result of a strip at D(at) lies.
  TW_DEVICE static fragment_place of_thread(fragment_place at) {
    return {at.row + 16 * (warp_id() % 4) + lane_id() / 4, at.col + 2 * (lane_id() % 4), at.batch};
  }

  /// Column t of the strip at `at`, for thread t.
  TW_DEVICE void fetch(epilogue_params const& p, fragment_place at) {
    fused_params const& f = p.fused;
    int const t = thread_id() % 128;
    int col = at.col + (gated ? t >> 4 << 3 | (t & 7) : t);
    if (t >= vectors::cols || col >= p.n) return;
    if (gated) col = col * f.gate_step + (t >> 3 & 1) * f.up_offset;
    if (f.col_scale != nullptr) scale_ = f.col_scale[col];
    if (f.bias != nullptr && !f.bias_rows) bias_ = load_as_float(f.bias, f.bias_type, col);
  }

  TW_DEVICE static void activate(fused_params const& f, fragment& acc, int first, int to) {
    switch (f.act) {
      case activation::none: return each(acc, first, to, [](float x) { return x; });
      case activation::relu: return each(acc, first, to, [](float x) { return x < 0 ? 0.0F : x; });
      case activation::gelu_erf: return each(acc, first, to, [](float x) { return gelu_erf(x); });
      case activation::gelu_tanh:
      case activation::silu: {
        bool const gelu = f.act == activation::gelu_tanh;
        float const c1 = gelu ? 2.30220820F : 1.44269504F, c3 = gelu ? 0.102943240F : 0.0F;
        return each(acc, first, to, [=](float x) { return times_sigmoid(x, fmaf(c3, x * x, c1)); });
      }
    }
  }
  /// Result i is act(x), times what its gate multiplies.
  template <class Act>
  TW_DEVICE static void each(fragment& acc, int first, int to, Act act) {
    TW_UNROLL
    for (int i = 0; i < results; ++i) {
      int const from = register_of(first, i);
      float const y = act(acc[from]);
      acc[to + i] = gated ? y * acc[from + 4] : y;
    }
  }
};

}  // namespace tw
