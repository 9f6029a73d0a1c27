// SPDX-License-Identifier: Apache-2.0
// support.hpp  Which shapes the library computes, and the problem that a shape stands for.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/gemm.hpp"
#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/weights_desc.hpp"
#include "tools/measure/shape.hpp"
#include "tools/request/dtypes.hpp"
#include "tools/request/epilogues.hpp"
#include "tools/request/gemm_request.hpp"
#include "tools/request/problem_request.hpp"
#include "tools/request/result_scales.hpp"

namespace tw::bench {

/// Nothing, or why the shape cannot be measured yet. Such shapes are listed, never dropped.
inline std::optional<std::string> why_unsupported(gemm_shape const& s) {
  if (!find_epilogue(s.epilogue)) return "not supported yet: epilogue " + s.epilogue;
  bool const f32 = holds_float_sums(find_dtype(s.dtype).value().d);
  if (!s.epilogue.empty() && ((f32 && s.epilogue != "residual") || s.batch > 1))
    return "not supported yet: epilogues of batches, or with f32 results others than residual";
  if ((s.scale_d.any() || find_dtype(s.dtype).value().format_d) && s.batch > 1)
    return "not supported yet: batches with scales of D";
  if (s.groups.count > 0 && s.batch > 1) return "groups in a batch";
  if (s.groups.count > 0 && s.scale_d.any()) return "not supported yet: groups with scales of D";
  if (!s.unknown_fields.empty()) return "unknown field \"" + s.unknown_fields.front() + "\"";
  return std::nullopt;
}

/// The name of the types of a size: operands, D (empty: the usual one), and whether D has scales.
inline std::string dtype_of_size(std::string const& ab, std::string const& d, bool scaled_d) {
  auto const row = find_dtype(ab);
  if (d.empty() && scaled_d && row) return dtype_name(ab, name(default_d(row->ab, true)));
  return dtype_name(ab, d);
}

/// Refuses (TW0615) options of scales of D that do not go together, and a scale that is given as a
/// number: operands are random here.
inline void check_result_scales(result_scale_request const& r) {
  check_result_scale_options(r);
  if (!r.text.empty() && !r.computed() && r.text != "given")
    throw rejected({"TW0615", "scale of D", r.text, "amax-row, amax-1x128 or given",
                    "the benchmark makes the scale, as it makes the operands"});
}

/// The scales of D that a shape requests.
inline result_scale_request result_scales_of(gemm_shape const& s) {
  result_scale_request r = s.scale_d;
  r.format = find_dtype(s.dtype).value().format_d;
  return r;
}

/// The problem of a supported shape, with dense matrices; those of a batch lie one after the
/// other.
inline gemm_problem problem_of(gemm_shape const& s) {
  auto const type = find_dtype(s.dtype).value();
  problem_request a{.m = s.m, .n = s.n, .k = s.k, .batch = s.batch, .layout = s.layout};
  a.ab = type.ab, a.b = type.b, a.d = type.d, a.precision = type.precision;
  a.format = type.format, a.scale_d = result_scales_of(s);
  for (role const x : a_and_b)
    if (type.scales[x]) a.scales[x] = scale_choice{*type.scales[x], scale_library::cublaslt};
  a.epilogue = find_epilogue(s.epilogue).value();
  if (s.groups.count > 0)
    a.groups = group_desc{
        .axis = s.groups.axis, .count = s.groups.count, .expected_size = s.groups.expected};
  if (!s.weights.empty()) a.weights = parse_weights(s.weights, type.ab).value();
  return tw::problem_of(a);
}

/// The sizes of the groups of a supported shape; without groups none.
inline std::vector<std::int64_t> sizes_of_groups(gemm_shape const& s, std::uint64_t seed) {
  if (s.groups.count == 0 || !s.groups.sizes.empty()) return s.groups.sizes;
  gemm_problem const p = problem_of(s);
  std::int64_t const step = step_of_numbers(p), total = ragged_extent(p);
  return group_sizes(s.groups.pattern, total, s.groups.count, total % step == 0 ? step : 1, seed);
}

/// "8 zipf groups of m"; nothing without groups.
inline std::string groups_text(shape_groups const& g) {
  if (g.count == 0) return "";
  std::string const pattern =
      g.sizes.empty() ? group_pattern_names[static_cast<int>(g.pattern)] : "given";
  return std::to_string(g.count) + " " + pattern + " groups of " +
         group_axis_names[static_cast<int>(g.axis)];
}

/// Prepared weights as the kernels multiply them: a B of the activations' type.
inline gemm_problem with_decoded_b(gemm_problem p) {
  p.weights_b = {};
  return p;
}

/// Equal groups as a batch; nothing if they do not divide the extent equally. It has the operands
/// of the groups.
inline std::optional<gemm_problem> groups_as_batch(gemm_problem p) {
  if (!p.groups || p.groups->slots()) return std::nullopt;
  group_axis const axis = p.groups->axis;
  std::int64_t const count = p.groups->count;
  std::int64_t& extent = ragged_extent(p, axis);
  if (extent % count != 0 || is_fused(p.epilogue) || p.scale_a || p.scale_b) return std::nullopt;
  p.groups.reset();
  p.batch = count, extent /= count;
  auto const strided = [&](matrix_desc& m, bool ragged, bool cols) {
    bool const contiguous = cols == (m.ord == order::row_major);
    if (ragged) m.batch_stride_elems = extent * (contiguous ? 1 : m.pitch_elems);
  };
  strided(p.a, axis != group_axis::n, axis == group_axis::k);
  strided(p.b, axis != group_axis::m, axis == group_axis::n);
  strided(p.d, axis != group_axis::k, axis == group_axis::n);
  if (p.c) strided(*p.c, axis != group_axis::k, axis == group_axis::n);
  return p;
}

/// The batch with arrays of addresses.
inline gemm_problem with_pointers(gemm_problem p) {
  for (matrix_desc* m : {&p.a, &p.b, &p.d}) m->batch_stride_elems = matrix_desc::by_pointers;
  return p;
}

inline double flop(gemm_shape const& s) {
  return 2.0 * static_cast<double>(s.batch) * static_cast<double>(s.m) * static_cast<double>(s.n) *
         static_cast<double>(s.k);
}

/// Each operand read once, the result written once.
inline double compulsory_bytes(gemm_shape const& s) {
  auto const type = find_dtype(s.dtype).value();
  double const m = static_cast<double>(s.m), n = static_cast<double>(s.n),
               k = static_cast<double>(s.k);
  auto const e = find_epilogue(s.epilogue);
  double const results =
      e ? m * static_cast<double>(result_cols(e->epilogue, s.n)) * (e->residual ? 2 : 1) : m * n;
  // Matrices of groups: those that are not empty, of D all.
  double read = static_cast<double>(s.batch), written = read, of_a = read, of_b = read;
  if (s.groups.count > 0) {
    auto const sizes = sizes_of_groups(s, 1);
    read = static_cast<double>(
        std::count_if(sizes.begin(), sizes.end(), [](auto x) { return x > 0; }));
    of_a = s.groups.axis == group_axis::n ? read : 1;
    of_b = s.groups.axis == group_axis::m ? read : 1;
    written = s.groups.axis == group_axis::k ? static_cast<double>(s.groups.count) : 1;
  }
  double b_bits = k * n * size_bits(type.ab);
  if (!s.weights.empty()) {
    weights_desc const w{s.n, s.k, 1, parse_weights(s.weights, type.ab).value()};
    b_bits = 8 * static_cast<double>(w.matrix_bytes());
  }
  return (of_a * m * k * size_bits(type.ab) + of_b * b_bits +
          written * results * size_bits(type.d)) /
         8;
}

}  // namespace tw::bench
