// SPDX-License-Identifier: Apache-2.0
// quantize.cpp  tw_quantize(): on the host, or on the tensors' GPU.
#include "tilewright/problem/quantize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "capi/arguments.hpp"
#include "capi/errors.hpp"
#include "dispatch/launch/on_device.hpp"
#include "dispatch/quantize/block_quantize.hpp"
#include "dispatch/tensors/read_tensor.hpp"
#include "tilewright/base/elem_text.hpp"
#include "tilewright/dispatch/quantize.hpp"
#include "tilewright/problem/block_quantize.hpp"
#include "tilewright/problem/reference.hpp"

namespace tw::capi {
namespace {

[[noreturn]] void refuse_word(char const* what, std::string got, std::string need) {
  throw rejected({"TW0486", what, std::move(got), std::move(need), ""});
}

/// The request without its results.
struct request {
  tw_quantize_args args;
  tensor_argument x;
  tensor_matrix from;
  std::optional<block_format> format;
  elem to = elem::e4m3;
  factor_order order = factor_order::swizzled;
  scaling kind = scaling::row;
  scale_library library = scale_library::torch;
  bool names_library = false;

  explicit request(tw_quantize_args const* given) : args(own_copy("tw_quantize_args", given)) {
    constexpr unsigned known = TW_POWER_OF_TWO | TW_GIVEN | TW_FLOOR;
    if ((args.flags & ~known) != 0)
      refuse_word("flags", fmt::format("{:#x}", args.flags), "TW_POWER_OF_TWO, TW_GIVEN, TW_FLOOR");
    check_given("x", args.x);
    x = tensor_of(*args.x, "x");
    from = matrix_of_tensor(x, "x", packed_along::cols);
    std::string_view const to_word = word(args.to), as = word(args.scaling);
    check_given("to", args.to);
    for (block_format const f : {block_format::mxfp8, block_format::mxfp4, block_format::nvfp4})
      if (to_word == traits_of(f).name) format = f, to = traits_of(f).value;
    if (format) {
      auto const named = parse_factor_order(as);
      if (!as.empty() && !named)
        refuse_word("scaling", std::string(as), "32x4x4 or linear, of a block-scaled format");
      order = named.value_or(factor_order::swizzled);
      return;
    }
    auto const type = to_word == "int8" ? std::optional(elem::s8) : parse_elem(to_word);
    if (!type || !is_quantized(*type))
      refuse_word("to", std::string(to_word), "e4m3, e5m2, int8, mxfp8, mxfp4 or nvfp4");
    to = *type;
    auto const choice = as.empty() ? scale_choice{} : parse_scale_choice(as);
    if (!choice || (!as.empty() && !choice->kind))
      refuse_word("scaling", std::string(as),
                  "tensor, row, 1x128 or 128x128, also with a library before a colon");
    kind = choice->kind.value_or(scaling::row);
    library = choice->library.value_or(scale_library::torch);
    names_library = choice->library.has_value();
  }

  bool flag(unsigned f) const { return (args.flags & f) != 0; }
  block_quantize_problem block_problem() const {
    block_quantize_problem p{from.rows, from.cols, from.desc, *format, order, true};
    p.rule = flag(TW_FLOOR) ? scale_rule::floor : scale_rule::rceil;
    return p;
  }
  scale_tensor dense_scales_of_one() const {
    for (scale_convention const& c : scale_conventions({false, from.rows, from.cols}, elem::f32))
      if (c.kind == kind && (c.library == library || !c.library)) return c.tensor;
    refuse_word("scaling", word(args.scaling).data(), "a scaling that the library has");
  }
};

tensor_result shape_of(request const& r) {
  tensor_result out{};
  out.rank = r.x.rank;
  std::copy_n(r.x.shape, r.x.rank, out.shape);
  out.type = type_in_tensors(r.to);
  bool const stack = r.x.rank == 3;
  if (r.format) {
    block_quantize_problem const p = r.block_problem();
    bool const pairs = packs_in_pairs(r.to);
    if (pairs) out.shape[out.rank - 1] = p.row_bytes();
    out.scale_type = type_in_tensors(traits_of(*r.format).factor);
    out.scale_rank = out.rank;
    std::int64_t const rows = p.factor_rows(), cols = p.factor_cols();
    std::int64_t *shape = out.scale_shape, *stride = out.scale_strides;
    if (stack) *shape++ = r.from.matrices, *stride++ = rows * cols;
    shape[0] = rows, shape[1] = cols, stride[0] = cols, stride[1] = 1;
    out.scale_bytes = p.factor_bytes() * r.from.matrices;
    return out;
  }
  scale_tensor const one = r.dense_scales_of_one();
  std::int64_t extent = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(one.rank); ++i)
    extent += (one.shape[i] - 1) * one.stride[i];
  out.scale_type = type_in_tensors(one.type);
  // In front of a batch stand two dimensions.
  int const missing = stack ? 2 - one.rank : 0;
  std::int64_t *shape = out.scale_shape, *stride = out.scale_strides;
  if (stack) *shape++ = r.from.matrices, *stride++ = extent;
  for (std::size_t i = 0; i < static_cast<std::size_t>(one.rank); ++i)
    *shape++ = one.shape[i], *stride++ = one.stride[i];
  for (int i = 0; i < missing; ++i) *shape++ = 1, *stride++ = 1;
  out.scale_rank = one.rank + missing + (stack ? 1 : 0);
  out.scale_bytes = extent * (stack ? r.from.matrices : 1) * size_bytes(one.type);
  return out;
}

bool same_device(tensor_place a, tensor_place b) {
  return a.is_host() == b.is_host() && (a.is_host() || a.index == b.index);
}

/// The results: values and scales, in the memory where x is.
struct results {
  tensor_argument d, scale;
  tensor_matrix to;

  explicit results(request const& r) {
    check_given("d", r.args.d), check_given("scale_d", r.args.scale_d);
    d = tensor_of(*r.args.d, "d"), scale = tensor_of(*r.args.scale_d, "scale_d");
    to = matrix_of_tensor(d, "d", packed_along::cols, packs_in_pairs(r.to));
    for (auto const& [t, name] : {std::pair{&d, "d"}, std::pair{&scale, "scale_d"}})
      if (!same_device(t->place, r.x.place))
        throw rejected({"TW0485", fmt::format("device of {}", name), "another device than x",
                        "the device of x", "move it there"});
    std::int64_t const cols = packs_in_pairs(r.to) ? (r.from.cols + 1) / 2 * 2 : r.from.cols;
    if (to.rows != r.from.rows || to.cols != cols || to.matrices != r.from.matrices)
      throw rejected(
          {"TW0616", "shape of d", list_text(d.shape, d.rank),
           fmt::format("the shape of x, {}", list_text(r.x.shape, r.x.rank)),
           packs_in_pairs(r.to) ? "two e2m1 lie in a byte, which the extent counts" : ""});
    bool const bytes = to.desc.type == elem::u8 && size_bits(r.to) == 8;
    if (to.desc.type != r.to && !bytes)
      throw rejected(
          {"TW0483", "type of d", type_name(d.type), type_name(type_in_tensors(r.to)), ""});
    to.desc.type = r.to;
  }
};

/// Both descriptions of matrix i of a batch, for functions of one matrix.
struct one_matrix {
  std::byte const* from;
  std::byte* to;
};
one_matrix matrix_at(request const& r, results const& out, std::int64_t i) {
  return {static_cast<std::byte const*>(r.x.data) + i * r.from.desc.batch_stride_bytes(),
          static_cast<std::byte*>(const_cast<void*>(out.d.data)) +
              i * out.to.desc.batch_stride_bytes()};
}

matrix_desc alone(matrix_desc m) {
  m.batch_stride_elems = 0;
  return m;
}

/// The matrices of a stack on their GPU; `second` is the level of nvfp4 in its memory.
void quantize_on_gpu(request const& r, results const& out, block_quantize_problem const& p,
                     scale_desc const& s, float* second) {
  if (p.rule == scale_rule::floor)
    throw rejected({"TW0455", "flags", "TW_FLOOR", "without it on a GPU, or x in host memory", ""});
  if (p.from.ord != order::row_major && (p.outer > 1 || p.from.pitch_elems != 1))
    throw rejected({"TW0482", "strides of x", list_text(r.x.strides, r.x.rank),
                    "1 for the last dimension on a GPU", "quantise a contiguous copy"});
  std::vector<block_quantize_params> matrices;
  for (std::int64_t i = 0; i < r.from.matrices; ++i) {
    one_matrix const m = matrix_at(r, out, i);
    block_quantize_params q{};
    q.from = m.from, q.from_type = p.from.type, q.from_pitch = p.from.pitch_elems;
    q.to = m.to, q.to_pitch_bytes = p.row_bytes();
    q.factors = static_cast<std::byte*>(const_cast<void*>(out.scale.data)) + i * s.batch_stride;
    q.factor_outer = s.stride_outer, q.factor_k = s.stride_k, q.tiled = s.tiled ? 1 : 0;
    q.second_level = second;
    q.rows = p.outer, q.cols = p.k, q.format = p.format;
    q.by_words = q.to_pitch_bytes % 4 == 0 && reinterpret_cast<std::uintptr_t>(q.to) % 4 == 0;
    matrices.push_back(q);
  }
  on_device const here(r.x.place.index);
  quantize_blocks(matrices,
                  r.flag(TW_GIVEN) ? second_level_source::given : second_level_source::amax,
                  static_cast<cudaStream_t>(r.args.stream));
}

void quantize_in_blocks(request const& r, results const& out) {
  block_quantize_problem p = r.block_problem();
  p.from = alone(p.from);
  if (auto const why = accept(p)) throw rejected(*why);
  std::int64_t const row_bytes = p.row_bytes();
  bool const dense = out.to.desc.ord == order::row_major &&
                     (p.outer == 1 || out.to.desc.pitch_bytes() == row_bytes);
  if (!dense)
    throw rejected({"TW0482", "strides of d", list_text(out.d.strides, out.d.rank),
                    "rows without gaps", "quantise into a contiguous tensor"});
  scaled_operand const over{false, p.outer, p.k, r.from.matrices};
  auto const found =
      recognise_block_scale(scale_tensor_of(out.scale, "scale_d"), over, p.format, p.order);
  if (auto const* why = std::get_if<rejection>(&found)) {
    rejection named = *why;
    named.what = "scale_d";
    throw rejected(named);
  }
  scale_desc const& s = std::get<scale_desc>(found);
  if (!s.tiled && p.outer > 1 && (s.stride_k != 1 || s.stride_outer != p.factor_cols()))
    throw rejected({"TW0482", "strides of scale_d", list_text(out.scale.strides, out.scale.rank),
                    "rows without gaps", "quantise into a contiguous tensor"});
  float* second = nullptr;
  if (p.format == block_format::nvfp4) {
    check_given("second_d", r.args.second_d);
    tensor_argument const t = tensor_of(*r.args.second_d, "second_d");
    std::int64_t count = 1;
    for (int i = 0; i < t.rank; ++i) count *= t.shape[i];
    if (count != 1 || element_type(t.type, "second_d") != elem::f32)
      throw rejected({"TW0616", "second_d",
                      fmt::format("{} {}", type_name(t.type), list_text(t.shape, t.rank)),
                      "one float32", ""});
    if (!same_device(t.place, r.x.place))
      throw rejected({"TW0485", "device of second_d", "another device than x", "the device of x",
                      "move it there"});
    second = static_cast<float*>(const_cast<void*>(t.data));
    check_given("second_d", second);
  } else if (r.args.second_d != nullptr) {
    throw rejected({"TW0484", "second_d", "given", "not given: only nvfp4 has a second level", ""});
  }
  if (!r.x.place.is_host()) return quantize_on_gpu(r, out, p, s, second);
  if (second != nullptr) {
    float amax = 0;
    for (std::int64_t i = 0; i < r.from.matrices; ++i)
      amax = std::max(amax, largest_magnitude(p, matrix_at(r, out, i).from));
    if (!r.flag(TW_GIVEN)) *second = second_level_of(p.format, amax);
    p.second_level = *second;
  }
  auto* const factors = static_cast<std::byte*>(const_cast<void*>(out.scale.data));
  for (std::int64_t i = 0; i < r.from.matrices; ++i) {
    one_matrix const m = matrix_at(r, out, i);
    (void)quantize(p, m.from, m.to, factors + i * s.batch_stride);
  }
}

void quantize_with_scales(request const& r, results const& out) {
  auto const found = recognise_scale(
      scale_tensor_of(out.scale, "scale_d"), {false, r.from.rows, r.from.cols, r.from.matrices},
      {r.kind, r.names_library ? std::optional(r.library) : std::nullopt});
  if (auto const* why = std::get_if<rejection>(&found)) {
    rejection named = *why;
    named.what = "scale_d";
    throw rejected(named);
  }
  scale_desc s = std::get<scale_desc>(found);
  std::int64_t const between = s.batch_stride * size_bytes(s.type);
  s.batch_stride = 0;
  quantize_problem const p{
      r.from.rows,        r.from.cols, alone(r.from.desc),
      alone(out.to.desc), s,           r.flag(TW_POWER_OF_TWO) || is_exponent(s.type),
      r.flag(TW_GIVEN)};
  if (auto const why = accept(p)) throw rejected(*why);
  auto* const scales = static_cast<std::byte*>(const_cast<void*>(out.scale.data));
  std::optional<on_device> here;
  if (!r.x.place.is_host()) here.emplace(r.x.place.index);
  for (std::int64_t i = 0; i < r.from.matrices; ++i) {
    one_matrix const m = matrix_at(r, out, i);
    if (!here) {
      quantize(p, m.from, m.to, scales + i * between);
      continue;
    }
    quantize(p, quantize_operands{m.from, m.to, scales + i * between, r.args.workspace},
             static_cast<cudaStream_t>(r.args.stream));
  }
}

void quantize_tensor(tw_quantize_args const* args) {
  request const r(args);
  results const out(r);
  if (r.from.rows == 0 || r.from.cols == 0 || r.from.matrices == 0) return;  // nothing is written
  for (auto const& [name, data] :
       {std::pair{"x", r.x.data}, {"d", out.d.data}, {"scale_d", out.scale.data}})
    if (data == nullptr)
      throw rejected(
          {"TW0408", fmt::format("address of {}", name), "NULL", "the tensor's data", ""});
  r.format ? quantize_in_blocks(r, out) : quantize_with_scales(r, out);
}

}  // namespace
}  // namespace tw::capi

extern "C" {

tw_status tw_quantize(tw_quantize_args const* args) {
  return tw::capi::guarded([&] { tw::capi::quantize_tensor(args); });
}

tw_status tw_quantize_shape(tw_quantize_args const* args, tw_result* result) {
  return tw::capi::guarded(
      [&] { tw::capi::fill_result(result, tw::capi::shape_of(tw::capi::request(args))); });
}

}  // extern "C"
