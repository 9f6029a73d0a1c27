// SPDX-License-Identifier: Apache-2.0
// scale_convention.cpp  The table of conventions, and the search in it.
#include "tilewright/problem/scale_convention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"

namespace tw {
namespace {

using shape2 = std::array<std::int64_t, 2>;
constexpr std::int64_t block = 128;

struct library_word {
  char const* word;
  scale_library library;
};
constexpr library_word library_words[] = {{"torch", scale_library::torch},
                                          {"cublaslt", scale_library::cublaslt},
                                          {"deepgemm", scale_library::deepgemm},
                                          {"flashinfer-mn", scale_library::flashinfer_mn},
                                          {"flashinfer-k", scale_library::flashinfer_k}};
constexpr scaling kinds[] = {scaling::tensor, scaling::row, scaling::block_1x128,
                             scaling::block_128x128};

scale_tensor tensor_of(elem type, std::vector<std::int64_t> const& shape,
                       std::vector<std::int64_t> const& stride) {
  scale_tensor t{type, static_cast<int>(shape.size()), {}, {}};
  std::ranges::copy(shape, t.shape.begin());
  std::ranges::copy(stride, t.stride.begin());
  return t;
}

/// The rows of one operand and type.
struct table {
  scaled_operand const x;
  elem const type;  // of the tensor
  std::vector<scale_convention> rows{};

  elem scale_type() const { return exponents_in(type) > 0 ? elem::ue8m0 : elem::f32; }

  void scalars() {
    for (std::vector<std::int64_t> const& shape : {std::vector<std::int64_t>{}, {1}, {1, 1}}) {
      scale_tensor const t = dense_scales(type, shape);
      for (auto const& [library, name] :
           {std::pair{scale_library::torch, "torch TensorWise"},
            std::pair{scale_library::cublaslt, "cuBLASLt SCALAR_32F"}})
        rows.push_back({scaling::tensor, library, name, t, {}});
    }
    scale_desc each;
    each.batch_stride = 1;
    if (x.batch > 1)
      rows.push_back({scaling::tensor, scale_library::cublaslt, "cuBLASLt PER_BATCH_SCALAR_32F",
                      dense_scales(type, {x.batch}), each});
  }

  void vectors() {
    scale_desc d;
    d.block_outer = 1, d.stride_outer = 1;
    auto const add = [&](std::vector<std::int64_t> const& shape) {
      for (auto const& [library, name] :
           {std::pair{scale_library::torch, "torch RowWise"},
            std::pair{scale_library::cublaslt, "cuBLASLt OUTER_VEC_32F"}})
        rows.push_back({scaling::row, library, name, dense_scales(type, shape), d});
    };
    if (x.is_b) add({1, x.outer});
    add({x.outer, 1});
    add({x.outer});
  }

  /// k_at: the dimension that counts blocks along K.
  void add(scaling kind, scale_library library, char const* name, int k_at, shape2 shape,
           shape2 stride) {
    scale_desc d;
    d.type = scale_type();
    d.block_outer = kind == scaling::block_1x128 ? 1 : block;
    d.block_k = block;
    d.packed_k = std::max(1, exponents_in(type));
    std::int64_t const bytes = d.packed_k;  // of packed scales, a byte each
    auto const at = static_cast<std::size_t>(k_at);
    d.stride_outer = stride[1 - at] * bytes;
    d.stride_k = stride[at] * bytes;
    rows.push_back(
        {kind, library, name, tensor_of(type, {shape[0], shape[1]}, {stride[0], stride[1]}), d});
  }

  void packed() {
    std::int64_t const groups = blocks_in(blocks_in(x.k, block), 4), p = round_up(x.outer, 4);
    char const* const name = "DeepGEMM, four UE8M0 in an int32";
    auto const lib = scale_library::deepgemm;
    add(scaling::block_1x128, lib, name, 1, {x.outer, groups}, {1, p});
    add(scaling::block_1x128, lib, name, 1, {p, groups}, {1, p});
    add(scaling::block_1x128, lib, name, 0, {groups, p}, {p, 1});
  }

  void blocks() {
    using enum scale_library;
    std::int64_t const o = x.outer, kb = blocks_in(x.k, block), ob = blocks_in(o, block);
    std::int64_t const p = round_up(o, 16 / size_bytes(type)), k4 = round_up(kb, 4);
    auto const vec = scaling::block_1x128, square = scaling::block_128x128;
    char const *const torch_vec = "torch BlockWise1x128", *const lt_vec = "cuBLASLt VEC128_32F";
    add(vec, torch, torch_vec, 1, {o, kb}, {1, o});
    if (x.is_b) add(vec, torch, torch_vec, 0, {kb, o}, {o, 1});
    add(vec, cublaslt, lt_vec, 1, {o, kb}, {1, o});
    add(vec, deepgemm, "DeepGEMM", 1, {o, kb}, {1, p});
    add(vec, deepgemm, "DeepGEMM", 1, {p, kb}, {1, p});
    add(vec, deepgemm, "DeepGEMM", 0, {kb, p}, {p, 1});
    add(vec, flashinfer_mn, "FlashInfer MN", 0, {kb, o}, {o, 1});
    add(vec, flashinfer_k, "FlashInfer K", 1, {o, kb}, {kb, 1});
    char const *const torch_sq = "torch BlockWise128x128", *const lt_sq = "cuBLASLt BLK128x128_32F";
    add(square, torch, torch_sq, 0, {k4, ob}, {1, k4});
    add(square, torch, torch_sq, 1, {ob, kb}, {k4, 1});
    add(square, torch, torch_sq, 1, {ob, k4}, {k4, 1});
    add(square, cublaslt, lt_sq, 0, {k4, ob}, {1, k4});
    add(square, deepgemm, "DeepGEMM", 1, {ob, kb}, {kb, 1});
    add(square, deepgemm, "DeepGEMM MN-major", 1, {ob, kb}, {1, ob});
    add(square, flashinfer_mn, "FlashInfer MN", 0, {kb, ob}, {ob, 1});
    add(square, flashinfer_k, "FlashInfer K", 1, {ob, kb}, {kb, 1});
  }
};

/// The strides of a tensor without elements do not count.
bool same_tensor(scale_tensor const& t, scale_tensor const& want) {
  if (t.rank != want.rank || t.type != want.type) return false;
  bool shapes = true, strides = true, empty = false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.rank); ++i) {
    shapes = shapes && t.shape[i] == want.shape[i];
    strides = strides && (t.shape[i] == 1 || t.stride[i] == want.stride[i]);
    empty = empty || t.shape[i] == 0;
  }
  return shapes && (strides || empty);
}

std::string list_text(std::array<std::int64_t, 3> const& x, int rank) {
  std::string text = "(";
  for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", x[i]);
  return text + (rank == 1 ? ",)" : ")");
}

std::string tensor_text(scale_tensor const& t) {
  return fmt::format("{} {}, strides {}", name(t.type), list_text(t.shape, t.rank),
                     list_text(t.stride, t.rank));
}

/// Has each block its own place? Those along a dimension of stride 0 share one: torch's expand().
bool have_places(scale_tensor const& t) {
  std::int64_t extent = 1, stride = 1;  // of the other dimension
  for (std::size_t i = 0; i < 2; ++i) {
    if (t.stride[i] < 0) return false;
    if (t.shape[i] == 1 || t.stride[i] == 0) continue;
    if (extent == 1) {
      extent = t.shape[i], stride = t.stride[i];
    } else {
      bool const after = t.stride[i] >= stride * extent,
                 before = stride >= t.stride[i] * t.shape[i];
      if (!after && !before) return false;
    }
  }
  return true;
}

/// Adds the readings of a tensor as (outer, Kb) or (Ob, Kb), or as their transposes, FlashInfer's
/// "MN" order, at any strides: a slice of a larger tensor and an expanded scale have such strides,
/// and a square tensor has two readings. Four UE8M0 in an int32 are treated alike.
void add_other_pitches(scale_tensor const& t, table& all) {
  using enum scale_library;
  bool const packed = exponents_in(t.type) > 1;
  if (t.rank != 2 || (!is_scale_type(t.type) && !packed)) return;
  if (!have_places(t)) return;
  scaled_operand const& x = all.x;
  std::int64_t const kb = packed ? blocks_in(blocks_in(x.k, block), 4) : blocks_in(x.k, block);
  shape2 const shape = {t.shape[0], t.shape[1]}, stride = {t.stride[0], t.stride[1]};
  auto const any_fits = [&](auto const& property) {
    return std::ranges::any_of(all.rows, [&](scale_convention const& c) {
      return same_tensor(t, c.tensor) && property(c);
    });
  };
  auto const add = [&](scaling kind, int k_at) {
    scale_library const order = k_at == 1 ? flashinfer_k : flashinfer_mn;
    scale_library const usual = packed ? deepgemm : k_at == 1 ? torch : flashinfer_mn;
    table other{x, t.type};
    other.add(kind, usual, usual == flashinfer_mn ? "FlashInfer MN" : "", k_at, shape, stride);
    scale_convention c = other.rows[0];
    scale_desc const d = canonical(c.desc, x.outer, x.k);
    auto const same = [&](scale_convention const& r) {
      return canonical(r.desc, x.outer, x.k) == d;
    };
    // A reading of the table keeps its names, but "flashinfer-mn" names (Kb, ...) at any strides.
    if (usual != flashinfer_mn && any_fits(same)) return;
    // A name stands for one reading: the other one of a square tensor has that of its order.
    if (any_fits([&](scale_convention const& r) {
          return r.kind == kind && r.library == usual && !same(r);
        }))
      c.library = order, c.name = k_at == 1 ? "FlashInfer K" : "FlashInfer MN";
    all.rows.push_back(c);
  };
  for (scaling const kind : {scaling::block_1x128, scaling::block_128x128}) {
    if (packed && kind == scaling::block_128x128) continue;
    std::int64_t const rows = kind == scaling::block_1x128 ? x.outer : blocks_in(x.outer, block);
    if (shape == shape2{rows, kb}) add(kind, 1);
    if (shape == shape2{kb, rows}) add(kind, 0);
  }
}

bool chosen(scale_convention const& c, scale_choice const& choice) {
  return (!choice.kind || *choice.kind == c.kind) &&
         (!choice.library || (c.library && *choice.library == *c.library));
}

/// The extents that are not 1.
std::vector<std::int64_t> long_extents(scale_tensor const& t) {
  std::vector<std::int64_t> all(t.shape.begin(), t.shape.begin() + t.rank);
  std::erase(all, 1);
  return all;
}

/// How little a tensor is like a row of the table.
double distance(scale_tensor const& t, scale_tensor const& want) {
  auto const apart = [](std::int64_t a, std::int64_t b) {
    return std::fabs(std::log(static_cast<double>(std::max<std::int64_t>(a, 1)) /
                              static_cast<double>(std::max<std::int64_t>(b, 1))));
  };
  double d = t.type == want.type ? 0 : 0.5;
  if (t.rank == 2 && want.rank == 2 && t.shape[0] == want.shape[1] && t.shape[1] == want.shape[0])
    return d + 0.6;  // its transpose
  if (t.rank != want.rank && long_extents(t) == long_extents(want))
    return d + 0.3;  // dimensions of extent 1 too many or too few
  if (t.rank != want.rank) d += 3;
  for (std::size_t i = 0; i < 2; ++i) {
    std::int64_t const a = static_cast<int>(i) < t.rank ? t.shape[i] : 1;
    std::int64_t const b = static_cast<int>(i) < want.rank ? want.shape[i] : 1;
    d += apart(a, b) + (a != b ? 0.5 : 0);
    if (t.rank == want.rank && b != 1) d += std::min(0.4, apart(t.stride[i], want.stride[i]));
  }
  return d;
}

std::string row_text(scale_convention const& c) {
  return c.kind == scaling::tensor || c.kind == scaling::row || *c.name == 0
             ? fmt::format("{}", name(c.kind))
             : fmt::format("{} ({})", name(c.kind), c.name);
}

rejection fits_none(scale_tensor const& t, scaled_operand const& x, scale_choice const& choice,
                    std::string const& what) {
  scale_convention const* nearest = nullptr;
  std::vector<scale_convention> all;
  for (elem const type : {t.type, elem::f32})
    for (scale_convention const& c : scale_conventions(x, type))
      if (chosen(c, choice)) all.push_back(c);
  for (scale_convention const& c : all)
    if (nearest == nullptr || distance(t, c.tensor) < distance(t, nearest->tensor)) nearest = &c;
  std::string const need = nearest == nullptr
                               ? std::string("scales of a type and kind that the library has")
                               : fmt::format("{} for {}, the nearest convention",
                                             tensor_text(nearest->tensor), row_text(*nearest));
  return {"TW0450", what, tensor_text(t), need,
          fmt::format("{} = {}, K = {}: 1x128 has ({}, {}) scales, 128x128 has ({}, {})",
                      x.is_b ? "N" : "M", x.outer, x.k, x.outer, blocks_in(x.k, block),
                      blocks_in(x.outer, block), blocks_in(x.k, block))};
}

std::string choice_of(scale_convention const& c) {
  for (library_word const& w : library_words)
    if (c.library == w.library) return fmt::format("{}:{}", w.word, name(c.kind));
  return name(c.kind);
}

}  // namespace

char const* name(scaling s) {
  switch (s) {
    case scaling::tensor: return "tensor";
    case scaling::row: return "row";
    case scaling::block_1x128: return "1x128";
    case scaling::block_128x128: return "128x128";
    case scaling::other: break;
  }
  return "other";
}

scale_tensor dense_scales(elem type, std::vector<std::int64_t> const& shape) {
  std::vector<std::int64_t> stride(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) stride[i - 1] = stride[i] * shape[i];
  return tensor_of(type, shape, stride);
}

std::optional<scale_choice> parse_scale_choice(std::string_view text) {
  scale_choice choice;
  auto const take = [&](std::string_view part) {
    for (scaling const kind : kinds)
      if (part == name(kind) && !choice.kind) return choice.kind = kind, true;
    for (library_word const& w : library_words)
      if (part == w.word && !choice.library) return choice.library = w.library, true;
    return false;
  };
  std::size_t const colon = text.find(':');
  if (!take(text.substr(0, colon))) return std::nullopt;
  if (colon != std::string_view::npos && !take(text.substr(colon + 1))) return std::nullopt;
  return choice;
}

std::string scale_choice_words() {
  std::string text;
  for (scaling const kind : kinds) text += fmt::format("{}, ", name(kind));
  for (library_word const& w : library_words) text += fmt::format("{}, ", w.word);
  return text + "or LIBRARY:KIND";
}

std::vector<scale_convention> scale_conventions(scaled_operand const& x, elem type) {
  table all{x, scale_type_of(type)};
  if (is_scale_type(all.type) && !is_exponent(all.type)) all.scalars(), all.vectors();
  if (is_scale_type(all.type)) all.blocks();
  if (exponents_in(all.type) > 1) all.packed();
  return all.rows;
}

scale_desc make_scale(scaled_operand const& x, scaling kind, scale_library library, elem type) {
  for (scale_convention const& c : scale_conventions(x, type))
    if (c.kind == kind && c.library == library) return c.desc;
  throw rejected({"TW0450", fmt::format("scale of {}", x.is_b ? "B" : "A"),
                  fmt::format("{} scales of {}", name(kind), name(type)),
                  "a scaling that the library has",
                  "f32 has every scaling, ue8m0 has 1x128 and 128x128, s32 (four UE8M0) has "
                  "DeepGEMM's 1x128"});
}

namespace {

std::variant<scale_desc, rejection> recognise(scale_tensor const& given, scaled_operand const& x,
                                              scale_choice const& choice) {
  std::string const what = fmt::format("scale of {}", x.is_b ? "B" : "A");
  scale_tensor t = given;
  t.type = scale_type_of(t.type);
  std::int64_t batch_stride = 0;
  if (t.rank == 3 && t.shape[0] == x.batch) {  // scales of each matrix of a batch
    batch_stride = x.batch > 1 ? t.stride[0] * std::max(1, exponents_in(t.type)) : 0;
    t = tensor_of(t.type, {t.shape[1], t.shape[2]}, {t.stride[1], t.stride[2]});
  }
  table all{x, t.type};
  all.rows = scale_conventions(x, t.type);
  add_other_pitches(t, all);
  std::vector<scale_convention> fitting;
  for (scale_convention const& c : all.rows)
    if (same_tensor(t, c.tensor) && chosen(c, choice)) fitting.push_back(c);
  if (fitting.empty()) return fits_none(given, x, choice, what);
  // Without rows or columns there are no scales to read.
  if (x.outer == 0 || x.k == 0 || x.batch == 0) return fitting[0].desc;
  std::vector<scale_convention> readings;  // that differ
  for (scale_convention const& c : fitting) {
    scale_desc const d = canonical(c.desc, x.outer, x.k);
    bool const known = std::ranges::any_of(
        readings, [&](scale_convention const& r) { return canonical(r.desc, x.outer, x.k) == d; });
    if (!known) readings.push_back(c);
  }
  if (readings.size() > 1) {
    std::string list, words;
    for (scale_convention const& c : readings) {
      list += (list.empty() ? "" : " or ") + row_text(c);
      words += (words.empty() ? "" : " or ") + choice_of(c);
    }
    return rejection{
        "TW0451", what, fmt::format("{}: {}", tensor_text(given), list), "one reading",
        fmt::format("name it: the argument `choice`, parse_scale_choice() of {}", words)};
  }
  scale_desc d = readings[0].desc;
  if (batch_stride != 0) d.batch_stride = batch_stride;
  return d;
}

/// A tensor that was recognised.
struct recognised {
  scale_tensor tensor;
  scaled_operand operand;
  scale_choice choice;
  scale_desc answer;
  bool known = false;

  bool is(scale_tensor const& t, scaled_operand const& x, scale_choice const& c) const {
    return known && tensor == t && operand == x && choice == c;
  }
};

/// Equal questions have equal numbers.
std::size_t number_of(scale_tensor const& t, scaled_operand const& x, scale_choice const& c) {
  std::uint64_t h = 0, factor = 0x9E3779B97F4A7C15ULL;
  auto const add = [&](std::int64_t v) {
    h += static_cast<std::uint64_t>(v) * factor;
    factor *= 0xD1342543DE82EF95ULL;  // of the next number
  };
  int const kind = c.kind ? 1 + static_cast<int>(*c.kind) : 0;
  int const library = c.library ? 1 + static_cast<int>(*c.library) : 0;
  add(((static_cast<int>(t.type) * 4 + t.rank) * 16 + kind) * 16 + library);
  for (std::size_t i = 0; i < 3; ++i) add(t.shape[i]), add(t.stride[i]);
  add(2 * x.outer + (x.is_b ? 1 : 0)), add(x.k), add(x.batch);
  return static_cast<std::size_t>(h >> 32);
}

}  // namespace

std::variant<scale_desc, rejection> recognise_scale(scale_tensor const& t, scaled_operand const& x,
                                                    scale_choice const& choice) {
  constexpr std::size_t places = 256;  // the layers of a model have fewer shapes
  thread_local std::vector<recognised> seen(places);
  recognised& place = seen[number_of(t, x, choice) % places];
  if (place.is(t, x, choice)) return place.answer;
  auto const found = recognise(t, x, choice);
  if (auto const* d = std::get_if<scale_desc>(&found)) place = {t, x, choice, *d, true};
  return found;
}

std::string scale_text(scale_desc const& s, scaled_operand const& x) {
  scale_desc const d = canonical(s, x.outer, x.k);
  elem const type = s.packed_k != 1 ? elem::s32 : s.type;
  std::string names;
  std::vector<scaling> of_kind{scaling_of(s)};
  for (scale_convention const& c : scale_conventions(x, type)) {
    scale_desc there = canonical(c.desc, x.outer, x.k);
    if (d.batch_stride != 0) there.batch_stride = d.batch_stride;
    if (!(there == d)) continue;
    if (std::ranges::find(of_kind, c.kind) == of_kind.end()) of_kind.push_back(c.kind);
    if (names.find(c.name) == std::string::npos)
      names += (names.empty() ? "" : ", ") + std::string(c.name);
  }
  std::string text;
  for (scaling const kind : of_kind)
    text += (text.empty() ? "" : ", the same as ") + std::string(name(kind));
  if (names.empty()) names = fmt::format("strides ({}, {})", s.stride_outer, s.stride_k);
  return fmt::format("{} {} ({})", text, name(s.type), names);
}

}  // namespace tw
