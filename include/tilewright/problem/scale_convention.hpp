// SPDX-License-Identifier: Apache-2.0
// scale_convention.hpp  How the libraries store scale tensors, and which of them a tensor is.
//
// Of an operand of `outer` rows (A) or columns (B) let Kb = ceil(K / 128), Ob = ceil(outer / 128),
// K4 = Kb rounded up to 4, P = outer rounded up to 16 bytes. Shapes and strides, in elements:
//
//   tensor    torch TensorWise, cuBLASLt SCALAR_32F      (), (1) or (1, 1)
//   row       torch RowWise, cuBLASLt OUTER_VEC_32F      (outer), (M, 1) or (1, N)
//   1x128     torch BlockWise1x128, cuBLASLt VEC128_32F  (outer, Kb):(1, outer)
//             DeepGEMM                                   (outer, Kb):(1, P)
//             FlashInfer "MN"                            (Kb, outer):(outer, 1)
//             FlashInfer "K"                             (outer, Kb):(Kb, 1)
//   128x128   torch BlockWise128x128,
//             cuBLASLt BLK128x128_32F                    (K4, Ob):(1, K4)
//             DeepGEMM                                   (Ob, Kb):(Kb, 1) or (1, Ob)
//             FlashInfer "MN"                            (Kb, Ob):(Ob, 1)
//             FlashInfer "K"                             (Ob, Kb):(Kb, 1)
//
// Block scales are float32, or UE8M0 as bytes; DeepGEMM also packs four UE8M0 of consecutive K
// blocks in an int32, (outer, ceil(Kb / 4)):(1, P). UE8M0 values stored as float32 are float32.
// Other strides of (outer, Kb) and (Ob, Kb) and their transposes are accepted too;
// "flashinfer-mn" names the transposes at any strides. A batch adds a dimension in front; one scale
// per matrix of a batch is cuBLASLt PER_BATCH_SCALAR_32F.
//
// A tensor may have several readings. Where they give each element the same scale, as for M = 1 or
// one block of K, they are one, with the names of all. Where they do not, the tensor is refused
// until the caller names one.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tilewright/base/check.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw {

enum class scale_library : std::uint8_t { torch, cublaslt, deepgemm, flashinfer_mn, flashinfer_k };

/// A tensor of scales as it arrives: up to three extents, strides in elements.
struct scale_tensor {
  elem type = elem::f32;  // f32; u8 or ue8m0: UE8M0 in bytes; s32: four UE8M0
  int rank = 0;
  std::array<std::int64_t, 3> shape{}, stride{};

  bool operator==(scale_tensor const&) const = default;
};

/// Strides of a C-order array of this shape.
scale_tensor dense_scales(elem type, std::vector<std::int64_t> const& shape);

/// The operand that is scaled: "A" or "B", M or N, K, and matrices in the batch.
struct scaled_operand {
  bool is_b = false;
  std::int64_t outer = 0, k = 0, batch = 1;

  bool operator==(scaled_operand const&) const = default;
};

/// A, B or D of a problem.
constexpr scaled_operand scaled_operand_of(gemm_problem const& p, role x) {
  if (x == role::d) return {false, p.m, result_cols(p.epilogue, p.n), p.d_matrices()};
  // Groups of K: vectors are of each group, blocks of all groups follow each other.
  bool const of_k = p.groups && p.groups->axis == group_axis::k;
  return {x == role::b, stored_extent(p, x), scaled_k(p),
          of_k ? p.groups->count : matrix_count(p, x)};
}

/// The reading that the caller names.
struct scale_choice {
  std::optional<scaling> kind;
  std::optional<scale_library> library;

  bool operator==(scale_choice const&) const = default;
};

/// "1x128", "torch" or "torch:1x128", and so on; nothing for other text.
std::optional<scale_choice> parse_scale_choice(std::string_view text);
/// The words that parse_scale_choice takes, for messages.
std::string scale_choice_words();

char const* name(scaling s);

/// One row of the table above, for one operand.
struct scale_convention {
  scaling kind;
  std::optional<scale_library> library;  // nothing: a vector or a scalar of all of them
  char const* name;                      // "torch BlockWise1x128"
  scale_tensor tensor;                   // the shape and the strides that it has
  scale_desc desc;
};

/// The rows for scales of this type; the first of a kind and library is its usual shape.
std::vector<scale_convention> scale_conventions(scaled_operand const& x, elem type);

/// The scales that a library calls so; for callers with a pointer and no tensor. Throws `rejected`
/// TW0450 where the library has no such scaling.
scale_desc make_scale(scaled_operand const& x, scaling kind,
                      scale_library library = scale_library::torch, elem type = elem::f32);

/// The description of a tensor, or why it has none (TW0450: it fits no convention, with the
/// nearest one; TW0451: readings that differ). A tensor that this thread has seen before takes less
/// than 0.1 us.
std::variant<scale_desc, rejection> recognise_scale(scale_tensor const& t, scaled_operand const& x,
                                                    scale_choice const& choice = {});

/// "1x128 (torch BlockWise1x128, cuBLASLt VEC128_32F)": blocks, and the conventions whose scales
/// lie there; else strides.
std::string scale_text(scale_desc const& s, scaled_operand const& x);

}  // namespace tw
