// SPDX-License-Identifier: Apache-2.0
// weight_checkpoint.cpp  Each layout of checkpoints to rows of nibbles, scales and zero points.
#include "tilewright/kernel/weights/weight_checkpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "tilewright/base/elem_traits.hpp"

namespace tw {
namespace {

using shape = std::vector<std::int64_t>;

std::string text_of(checkpoint_tensor const& t) {
  return fmt::format("{} [{}]", name(t.type), fmt::join(t.shape, ", "));
}

[[noreturn]] void refuse(checkpoint_tensors const& t, std::string need, std::string hint = "") {
  std::string got = fmt::format("values {}, scales {}", text_of(t.values), text_of(t.scales));
  if (t.zeros) got += ", zero points " + text_of(*t.zeros);
  throw rejected({"TW0468", "tensors of 4-bit weights", got, std::move(need), std::move(hint)});
}

template <class T>
T read(checkpoint_tensor const& t, std::int64_t at) {
  T x;
  std::memcpy(&x, static_cast<std::byte const*>(t.data) + at * std::int64_t{sizeof x}, sizeof x);
  return x;
}
/// Element i of those that lie in words, eight each from the low bits on.
unsigned nibble(checkpoint_tensor const& t, std::int64_t word, std::int64_t i) {
  return read<std::uint32_t>(t, word) >> 4 * i & 15U;
}

/// Where AWQ has element i of eight.
constexpr int awq_place[] = {0, 4, 1, 5, 2, 6, 3, 7};

/// The rows of a checkpoint while they are filled.
struct filling {
  checkpoint_weights c;
  std::int64_t groups;

  filling(std::string layout, weights_desc const& d, elem scale) {
    c.layout = std::move(layout), c.desc = d, c.scale = scale;
    if (auto const why = accept(d)) throw rejected(*why);
    groups = d.groups();
    auto const count = static_cast<std::size_t>(d.matrices * d.n * groups);
    c.nibbles.resize(static_cast<std::size_t>(d.matrices * d.n * d.k / 2));
    c.scales.resize(count * static_cast<std::size_t>(size_bytes(scale)));
    std::size_t const each = d.format.zeros == weight_zeros::integers ? 1
                             : d.format.zeros == weight_zeros::floats
                                 ? static_cast<std::size_t>(size_bytes(scale))
                                 : 0;
    c.zeros.resize(count * each);
  }

  /// value(row, k) of all matrices' rows.
  template <class F>
  void fill_nibbles(F const& value) {
    weights_desc const& d = c.desc;
    for (std::int64_t row = 0; row < d.matrices * d.n; ++row)
      for (std::int64_t k = 0; k < d.k; ++k) {
        std::uint8_t& byte = c.nibbles[static_cast<std::size_t>((row * d.k + k) / 2)];
        byte = static_cast<std::uint8_t>(byte | value(row, k) << 4 * (k % 2));
      }
  }
  /// element(row, group): the number of an element of t.
  template <class F>
  static void fill(std::vector<std::uint8_t>& to, checkpoint_tensor const& t, std::int64_t rows,
                   std::int64_t groups, F const& element) {
    auto const size = static_cast<std::size_t>(size_bytes(t.type));
    auto const* const from = static_cast<std::uint8_t const*>(t.data);
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t g = 0; g < groups; ++g)
        std::memcpy(to.data() + static_cast<std::size_t>(row * groups + g) * size,
                    from + static_cast<std::size_t>(element(row, g)) * size, size);
  }
  template <class F>
  void fill_scales(checkpoint_tensor const& t, F const& element) {
    fill(c.scales, t, c.desc.matrices * c.desc.n, groups, element);
  }
  template <class F>
  void fill_zeros(F const& value) {
    for (std::int64_t row = 0; row < c.desc.matrices * c.desc.n; ++row)
      for (std::int64_t g = 0; g < groups; ++g)
        c.zeros[static_cast<std::size_t>(row * groups + g)] =
            static_cast<std::uint8_t>(value(row, g));
  }
  checkpoint_weights done() {
    bool const all_8 = c.desc.format.zeros == weight_zeros::integers &&
                       std::ranges::all_of(c.zeros, [](auto z) { return z == 8; });
    if (all_8) c.desc.format.zeros = weight_zeros::none, c.zeros.clear();
    return std::move(c);
  }
};

constexpr char const* whole_groups = "add zeros along K up to a whole group, and quantise again";

/// The format of int4 with scales of `groups` for K elements of a row.
weight_format int4_of(checkpoint_tensors const& t, checkpoint_options const& o, std::int64_t k,
                      std::int64_t groups, weight_zeros zeros) {
  if (!is_wide_float(t.scales.type)) refuse(t, "scales of bf16, f16 or f32");
  if (groups < 1 || k % groups != 0)
    refuse(t, fmt::format("scales that divide K = {} into groups of one size", k), whole_groups);
  elem scale = o.scale.value_or(t.scales.type);
  if (scale == elem::f32)
    refuse(t, "scales of bf16 or f16", "say which type they are rounded to: --scales-to bf16");
  return {weight_code::int4, scale, zeros, groups == 1 ? 0 : static_cast<int>(k / groups)};
}

/// Extents before the last `inner` dimensions, as one.
std::int64_t outer(shape const& s, std::size_t inner) {
  std::int64_t n = 1;
  for (std::size_t i = 0; i + inner < s.size(); ++i) n *= s[i];
  return n;
}

/// Of GPTQ with act_order the elements of K in the order of their groups, each of `group`; empty if
/// the groups are adjacent.
std::vector<std::int32_t> order_of(checkpoint_tensors const& t, checkpoint_options const& o,
                                   std::int64_t k, std::int64_t group) {
  if (!t.order) return {};
  auto const bad = [](std::string got, std::string need, std::string hint = "") {
    throw rejected({"TW0468", "g_idx of GPTQ", std::move(got), std::move(need), std::move(hint)});
  };
  if (t.order->shape.empty() || t.order->shape.back() != k)
    bad(fmt::format("{} numbers", t.order->shape.empty() ? 0 : t.order->shape.back()),
        fmt::format("K = {}", k));
  std::int64_t const count = outer(t.order->shape, 0);
  for (std::int64_t i = k; i < count; ++i)
    if (read<std::int32_t>(*t.order, i) != i % k / group)
      bad(fmt::format("an order for expert {}", i / k), "groups of adjacent elements",
          "experts whose K is permuted (act_order) are prepared one by one");
  auto const group_of = [&](std::int32_t i) { return read<std::int32_t>(*t.order, i); };
  std::vector<std::int32_t> order(static_cast<std::size_t>(k));
  std::iota(order.begin(), order.end(), 0);
  auto const is_adjacent = [&](std::int32_t i) { return group_of(i) == i / group; };
  if (std::ranges::all_of(order, is_adjacent)) return {};
  if (!o.reorders || count > k)
    bad(fmt::format("group {} at k = 0", group_of(0)),
        fmt::format("k / {}: groups of adjacent elements", group),
        "act_order permutes K: `tilewright prepare --order FILE` sorts the weights and writes the "
        "order of the activations' columns");
  std::ranges::stable_sort(order, {}, group_of);
  for (std::int32_t i = 0; i < k; ++i)
    if (std::int32_t const at = order[static_cast<std::size_t>(i)]; group_of(at) != i / group)
      bad(fmt::format("group {} at k = {}", group_of(at), at),
          fmt::format("each group for {} elements of K", group));
  return order;
}

/// Extents of weights that lie with N as the last dimension, and the format of their zero points.
struct columns_of_n {
  std::int64_t e, k, n, groups;
  weight_zeros zeros;

  columns_of_n(checkpoint_tensors const& t, std::int64_t rows_each)
      : e(outer(t.values.shape, 2)),
        k(rows_each * t.values.shape[t.values.shape.size() - 2]),
        n(t.scales.shape.back()),
        groups(t.scales.shape[t.scales.shape.size() - 2]),
        zeros(t.zeros ? weight_zeros::integers : weight_zeros::none) {
    if (!t.zeros) return;
    shape of_zeros = t.scales.shape;
    of_zeros.back() = (n + 7) / 8;
    if (t.zeros->shape != of_zeros)
      refuse(t, fmt::format("zero points ({})", fmt::join(of_zeros, ", ")));
  }
  /// The number of the scale of a row of all matrices and a group.
  std::int64_t scale(std::int64_t row, std::int64_t g) const {
    return (row / n * groups + g) * n + row % n;
  }
};

checkpoint_weights gptq(checkpoint_tensors const& t, checkpoint_options const& o) {
  columns_of_n const x(t, 8);
  auto const [e, k, n, groups, zeros] = x;
  filling f("GPTQ", {n, k, e, int4_of(t, o, k, groups, zeros)}, t.scales.type);
  f.c.order = order_of(t, o, k, k / groups);
  f.fill_nibbles([&](auto row, auto i) {
    std::int64_t const at = f.c.order.empty() ? i : f.c.order[static_cast<std::size_t>(i)];
    return nibble(t.values, (row / n * (k / 8) + at / 8) * n + row % n, at % 8);
  });
  f.fill_scales(t.scales, [&](auto row, auto g) { return x.scale(row, g); });
  unsigned const more = o.gptq_version == 1 ? 1 : 0;
  if (t.zeros)
    f.fill_zeros([&](auto row, auto g) {
      std::int64_t const word = (row / n * groups + g) * ((n + 7) / 8) + row % n / 8;
      return nibble(*t.zeros, word, row % n % 8) + more;
    });
  return f.done();
}

checkpoint_weights awq(checkpoint_tensors const& t, checkpoint_options const& o) {
  columns_of_n const x(t, 1);
  auto const [e, k, n, groups, zeros] = x;
  filling f("AWQ", {n, k, e, int4_of(t, o, k, groups, zeros)}, t.scales.type);
  f.fill_nibbles([&](auto row, auto i) {
    return nibble(t.values, (row / n * k + i) * (n / 8) + row % n / 8, awq_place[row % n % 8]);
  });
  f.fill_scales(t.scales, [&](auto row, auto g) { return x.scale(row, g); });
  if (t.zeros)
    f.fill_zeros([&](auto row, auto g) {
      std::int64_t const word = (row / n * groups + g) * (n / 8) + row % n / 8;
      return nibble(*t.zeros, word, awq_place[row % n % 8]);
    });
  return f.done();
}

checkpoint_weights compressed(checkpoint_tensors const& t, checkpoint_options const& o) {
  shape const &v = t.values.shape, &s = t.scales.shape;
  std::int64_t const n = v[v.size() - 2], k = 8 * v.back(), groups = s.back(), e = outer(v, 2);
  auto const zeros = t.zeros ? weight_zeros::integers : weight_zeros::none;
  if (t.zeros && (outer(t.zeros->shape, 2) != e || t.zeros->shape.back() != groups ||
                  t.zeros->shape[t.zeros->shape.size() - 2] != (n + 7) / 8))
    refuse(t, fmt::format("zero points ({}, {})", (n + 7) / 8, groups));
  filling f("compressed-tensors", {n, k, e, int4_of(t, o, k, groups, zeros)}, t.scales.type);
  f.fill_nibbles([&](auto row, auto i) { return nibble(t.values, row * (k / 8) + i / 8, i % 8); });
  f.fill_scales(t.scales, [&](auto row, auto g) { return row * groups + g; });
  if (t.zeros)
    f.fill_zeros([&](auto row, auto g) {
      std::int64_t const word = (row / n * ((n + 7) / 8) + row % n / 8) * groups + g;
      return nibble(*t.zeros, word, row % n % 8);
    });
  return f.done();
}

/// torch._convert_weight_to_int4pack: tiles of 8 rows by 16 i of K; lane t of 32 has of row t / 4
/// and of each 16 of K the elements 2 (t % 4), + 1, + 8, + 9; a word has the elements of two
/// 16 of K, in the order 0 2 4 6 1 3 5 7 of its nibbles.
/// Before these dimensions values and scales may have one of experts.
checkpoint_weights tinygemm(checkpoint_tensors const& t, checkpoint_options const& o) {
  shape const &v = t.values.shape, &s = t.scales.shape;
  std::size_t const first = v.size() - 4;
  std::int64_t const tiles_k = v[first + 1], words = v[first + 3], inner = 2 * words;
  std::int64_t const e = outer(v, 4), n = 8 * v[first], k = 16 * inner * tiles_k;
  std::int64_t const groups = s[first];
  filling f("torch tinygemm", {n, k, e, int4_of(t, o, k, groups, weight_zeros::floats)},
            t.scales.type);
  f.fill_nibbles([&](auto row, auto i) {
    std::int64_t const tile = i / (16 * inner), in_tile = i % (16 * inner), step = in_tile / 16;
    std::int64_t const lane = row % 8 * 4 + in_tile % 8 / 2;
    std::int64_t const element = step % 2 * 4 + in_tile % 16 / 8 * 2 + in_tile % 2;
    std::int64_t const word = ((row / 8 * tiles_k + tile) * 32 + lane) * words + step / 2;
    return nibble(t.values, word, awq_place[element]);
  });
  auto const pair = [&](auto row, auto g) { return 2 * ((row / n * groups + g) * n + row % n); };
  f.fill_scales(t.scales, pair);
  filling::fill(f.c.zeros, t.scales, e * n, groups,
                [&](auto row, auto g) { return pair(row, g) + 1; });
  return f.done();
}

/// Are the values of tinygemm's shape, and the scales in pairs with zero points?
bool is_tinygemm(shape const& v, shape const& s) {
  bool const experts = v.size() == 5 && s.size() == 4 && v[0] == s[0];
  return ((v.size() == 4 && s.size() == 3) || experts) && v[v.size() - 2] == 32 && s.back() == 2 &&
         s[s.size() - 2] == 8 * v[v.size() - 4];
}

/// Two elements in a byte, rows of K/2 bytes, or K/32 blocks of 16.
checkpoint_weights bytes(checkpoint_tensors const& t, checkpoint_options const& o) {
  shape v = t.values.shape;
  shape const& s = t.scales.shape;
  bool const blocks = v.size() == s.size() + 1 && v.back() == 16;
  if (blocks) {
    v.pop_back();
    v.back() *= 16;
  }
  if (v.size() < 2 || v.size() != s.size() || !std::equal(v.begin(), v.end() - 1, s.begin()))
    refuse(t, "values (N, K/2) and scales (N, K/g), or (N, K/32, 16) and (N, K/32)");
  bool const in_pairs = t.values.type != elem::e2m1;  // e2m1 counts elements
  std::int64_t const n = v[v.size() - 2], k = v.back() * (in_pairs ? 2 : 1), e = outer(v, 2);
  std::int64_t const groups = s.back();
  bool const is_signed = t.values.type == elem::s8;
  weight_format format;
  std::string layout;
  elem scale = t.scales.type;
  if (is_signed) {
    format = int4_of(t, o, k, groups, weight_zeros::none), layout = "int8 pairs";
  } else if ((scale == elem::u8 || scale == elem::ue8m0) && groups * 32 == k) {
    format = {weight_code::mxfp4, elem::ue8m0, weight_zeros::none, 32};
    layout = blocks ? "MXFP4 blocks" : "MXFP4 rows", scale = elem::ue8m0;
  } else if ((scale == elem::e4m3 || scale == elem::ue4m3) && groups * 16 == k) {
    format = {weight_code::nvfp4, elem::ue4m3, weight_zeros::none, 16};
    layout = "NVFP4 rows", scale = elem::ue4m3;
  } else {
    refuse(t,
           fmt::format(
               "of K = {} elements of e2m1 scales of ue8m0 (or u8) for 32, or of e4m3 for 16", k),
           whole_groups);
  }
  weights_desc d{n, k, e, format};
  if (t.second) {
    std::int64_t const count = outer(t.second->shape, 0);
    if (t.second->type != elem::f32 || (count != 1 && count != e))
      refuse(t, "a float32 as the second level, or one for each matrix");
    float const x = read<float>(*t.second, 0);
    for (std::int64_t i = 1; i < count; ++i)
      if (read<float>(*t.second, i) != x)
        refuse(t, "one second level for all matrices",
               "prepare them without it, and give it to the GEMM as an alpha for each group "
               "(group_alpha)");
    d.factor = o.second_is_reciprocal ? 1 / x : x;
  }
  filling f(layout, d, scale);
  auto const* const from = static_cast<std::uint8_t const*>(t.values.data);
  std::ranges::copy_n(from, static_cast<std::ptrdiff_t>(f.c.nibbles.size()), f.c.nibbles.begin());
  if (is_signed)
    for (auto& x : f.c.nibbles) x ^= 0x88;  // two's complement to 0..15
  f.fill_scales(t.scales, [&](auto row, auto g) { return row * groups + g; });
  return f.done();
}

std::string text_of(checkpoint_weights const& c) {
  weights_desc const& d = c.desc;
  return fmt::format("{} x (N, K) ({}, {}), {}, scales {}, factor {:g}{}", d.matrices, d.n, d.k,
                     text_of(d.format), name(c.scale), d.factor,
                     c.order.empty() ? "" : ", K in another order");
}

}  // namespace

checkpoint_weights with_rows_of(checkpoint_weights first, checkpoint_weights second) {
  auto const with_zeros = [](checkpoint_weights& c) {  // those that were dropped: all 8
    c.desc.format.zeros = weight_zeros::integers;
    c.zeros.assign(static_cast<std::size_t>(c.desc.matrices * c.desc.n * c.desc.groups()), 8);
  };
  if (second.desc.format.zeros == weight_zeros::integers && first.zeros.empty()) with_zeros(first);
  if (first.desc.format.zeros == weight_zeros::integers && second.zeros.empty()) with_zeros(second);
  weights_desc const &a = first.desc, &b = second.desc;
  if (a.matrices != b.matrices || a.k != b.k || a.format != b.format || a.factor != b.factor ||
      first.scale != second.scale || first.order != second.order)
    throw rejected({"TW0468", "weights whose rows are joined",
                    text_of(first) + "; and " + text_of(second),
                    "one format, K, order of K, factor and number of matrices"});
  auto const joined = [&](std::vector<std::uint8_t> const& x, std::vector<std::uint8_t> const& y) {
    std::vector<std::uint8_t> all;
    all.reserve(x.size() + y.size());
    auto const each = [&](std::vector<std::uint8_t> const& v) {
      return static_cast<std::ptrdiff_t>(v.size()) / std::max<std::int64_t>(a.matrices, 1);
    };
    for (std::int64_t i = 0; i < a.matrices; ++i)
      for (auto const* v : {&x, &y})
        all.insert(all.end(), v->begin() + i * each(*v), v->begin() + (i + 1) * each(*v));
    return all;
  };
  checkpoint_weights c = first;
  c.desc.n = a.n + b.n;
  c.nibbles = joined(first.nibbles, second.nibbles);
  c.scales = joined(first.scales, second.scales);
  c.zeros = joined(first.zeros, second.zeros);
  return c;
}

checkpoint_weights read_checkpoint(checkpoint_tensors const& t, checkpoint_options const& o) {
  shape const &v = t.values.shape, &s = t.scales.shape;
  if (t.values.type == elem::u8 || t.values.type == elem::s8 || t.values.type == elem::e2m1)
    return bytes(t, o);
  if (t.values.type != elem::s32)
    refuse(t, "values of int32 that hold eight, or of uint8, int8 or F4 that hold two");
  if (is_tinygemm(v, s)) return tinygemm(t, o);
  if ((v.size() == 2 || (v.size() == 3 && v[0] == s[0])) && v.size() == s.size()) {
    if (v.back() == s.back()) return gptq(t, o);
    if (8 * v.back() == s.back()) return awq(t, o);
  }
  if (v.size() >= 2 && v.size() == s.size() && std::equal(v.begin(), v.end() - 1, s.begin()))
    return compressed(t, o);
  refuse(t,
         "GPTQ: (K/8, N) and (K/g, N); AWQ: (K, N/8) and (K/g, N); compressed-tensors: (N, K/8) "
         "and (N, K/g); tinygemm: (N/8, K/16i, 32, i/2) and (K/g, N, 2)");
}

}  // namespace tw
