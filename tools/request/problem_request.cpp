// SPDX-License-Identifier: Apache-2.0
// problem_request.cpp  Words and pitches to matrices.
#include "tools/request/problem_request.hpp"

#include <charconv>
#include <cmath>

#include "tilewright/problem/block_scale_convention.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

/// A matrix of rows x cols, its batch one after the other. Where that distance is no number of 64
/// bits, accept() refuses the pitch or the extent that makes it so.
matrix_desc placed(elem type, order ord, std::int64_t rows, std::int64_t cols, std::int64_t pitch,
                   std::int64_t batch) {
  bool const row_major = ord == order::row_major;
  matrix_desc m{type, ord, pitch != 0 ? pitch : row_major ? cols : rows};
  std::int64_t stride = 0;
  if (batch > 1 && !__builtin_mul_overflow(m.pitch_elems, row_major ? rows : cols, &stride))
    m.batch_stride_elems = stride;
  return m;
}

/// Float32 scales of an operand, in torch's order where the choice names no library.
std::optional<scale_desc> scales_of(std::optional<scale_choice> const& choice,
                                    scaled_operand const& x) {
  if (!choice) return std::nullopt;
  return make_scale(x, choice->kind.value_or(scaling::tensor),
                    choice->library.value_or(scale_library::torch));
}

}  // namespace

std::optional<weight_format> parse_weights(std::string const& text, elem activations) {
  bool const fp8 = is_fp8(activations);
  if (text == "mxfp4") return weight_format{weight_code::mxfp4, elem::ue8m0, {}, 32, fp8};
  if (text == "nvfp4") return weight_format{weight_code::nvfp4, elem::ue4m3, {}, 16, fp8};
  weight_format f{weight_code::int4, fp8 ? elem::f32 : activations, weight_zeros::none, 128, fp8};
  std::string rest = text;
  auto const word = [&] {
    std::size_t const colon = rest.find(':');
    std::string const first = rest.substr(0, colon);
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
    return first;
  };
  if (word() != "int4") return std::nullopt;
  if (!rest.empty()) {
    std::string const group = word();
    auto const [end, error] = std::from_chars(group.data(), group.data() + group.size(), f.group);
    if (error != std::errc{} || end != group.data() + group.size() || f.group < 0)
      return std::nullopt;
  }
  if (rest.empty()) return f;
  for (weight_zeros const z : {weight_zeros::integers, weight_zeros::floats}) {
    f.zeros = z;
    if (rest == name(z)) return f;
  }
  return std::nullopt;
}

gemm_problem problem_of(problem_request const& a) {
  if (a.add_c && a.epilogue.residual)
    refuse("TW0615", "command line", "--beta-c and an epilogue with residual",
           "one of them: one matrix is added, before the activation or last");
  gemm_problem p;
  p.groups = a.groups;
  p.m = a.m, p.n = a.n, p.k = a.k, p.batch = a.batch;
  if (a.groups && a.groups->slots()) p.batch = a.groups->count;
  order const a_order = a.layout[0] == 'T' ? order::row_major : order::col_major;
  order const b_order = a.layout[1] == 'N' ? order::col_major : order::row_major;
  p.a = placed(a.ab, a_order, a.m, a.k, a.lda, p.a_matrices());
  p.b = placed(a.b.value_or(a.ab), b_order, a.k, a.n, a.ldb, p.b_matrices());
  p.weights_b = a.weights;
  p.precision = a.precision;
  p.reproducible = a.reproducible;
  for (role const x : a_and_b) {
    scaled_operand const of = scaled_operand_of(p, x);
    scale(p, x) =
        a.format ? make_block_scale(of, *a.format, a.scale_order) : scales_of(a.scales[x], of);
    std::optional<scale_desc>& s = scale(p, x);
    if (!s || !of_each_group(p, x)) continue;
    if (s->block_k == 0) {
      s->batch_stride = s->block_outer == 0 ? 0 : of.outer;  // vectors of all groups: (G, M)
    } else if (p.groups->axis == group_axis::k) {
      s->batch_stride = 0;  // the blocks of all groups follow each other
      p.groups->scale_blocks = of.k / s->block_k;
    }
  }
  p.epilogue = a.epilogue.epilogue;
  if (p.weights_b) p.weights_b.gate = p.epilogue.gate;
  p.d = placed(a.d, a.d_order, a.m, result_cols(p.epilogue, a.n), a.ldd, p.d_matrices());
  if (a.scale_d.any())
    p.scale_d = result_scales_of(a.scale_d, a.m, result_cols(p.epilogue, a.n), a.batch);
  if (is_fused(p.epilogue) || a.epilogue.residual) {
    p.epilogue.bias.type = size_bits(a.d) <= 8 ? elem::bf16 : a.d;
    p.alpha =
        1 / std::sqrt(static_cast<float>(a.k));  // sums of magnitude 1: activations bend there
  }
  if (a.add_c || a.epilogue.residual) {
    p.c = p.d, p.beta = 1;
    if (size_bits(a.d) <= 8) p.c->type = elem::bf16;
  }
  return p;
}

}  // namespace tw
