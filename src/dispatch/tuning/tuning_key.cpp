// SPDX-License-Identifier: Apache-2.0
// tuning_key.cpp  A problem as a record of words, the key of a measurement.
#include "dispatch/tuning/tuning_key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstdlib>
#include <type_traits>
#include <utility>
#include <vector>

#include "tilewright/base/elem_text.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/version.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw {
namespace {

/// A problem as words: "4096x4096x4096x1", then NAME=FIELD,FIELD,... or a NAME alone.
struct key_word {
  std::string name;
  std::vector<std::string> fields;
};

std::string text_of(std::vector<key_word> const& words) {
  std::string text;
  for (key_word const& w : words) {
    text += (text.empty() ? "" : " ") + w.name;
    if (!w.fields.empty()) text += fmt::format("={}", fmt::join(w.fields, ","));
  }
  return text;
}

std::vector<std::string> split(std::string const& text, char at) {
  std::vector<std::string> parts(1);
  for (char const c : text)
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

std::vector<key_word> words_of(std::string const& text) {
  std::vector<key_word> words;
  for (std::string const& word : split(text, ' ')) {
    std::size_t const equals = word.find('=');
    words.push_back({word.substr(0, equals), {}});
    if (equals != std::string::npos) words.back().fields = split(word.substr(equals + 1), ',');
  }
  return words;
}

struct no_fields {};

/// Writes the words of a problem.
class key_writer {
 public:
  std::vector<key_word> words;

  template <class T>
  void word(std::string const& name, T const& x) {
    words.push_back({name, {}});
    list_fields(*this, x);
  }
  void flag(char const* name, bool const& x) {
    if (x) words.push_back({name, {}});
  }
  bool has(std::string const&, bool there) const { return there; }

  void field(elem const& x) { add(name(x)); }
  void field(order const& x) { add(x == order::row_major ? "T" : "N"); }
  template <class T>
  void field(T const& x) {
    add(fmt::format("{}", static_cast<std::int64_t>(x)));
  }
  void mark(char const* name, bool const& x) {
    if (x) add(name);
  }

 private:
  void add(std::string_view x) { words.back().fields.emplace_back(x); }
};

/// Reads them.
class key_reader {
 public:
  explicit key_reader(std::vector<key_word> words) : words_(std::move(words)) {}

  /// Was each word read, and were all of its fields as expected?
  bool complete() const { return good_ && words_.empty(); }

  template <class T>
  void word(std::string const& name, T& x) {
    auto const at = std::ranges::find(words_, name, &key_word::name);
    good_ = good_ && at != words_.end();
    if (!good_) return;
    fields_ = std::move(at->fields);
    words_.erase(at);
    list_fields(*this, x);
    good_ = good_ && fields_.empty();
  }
  void flag(char const* name, bool& x) {
    x = has(name, false);
    no_fields none;
    if (x) word(name, none);
  }
  bool has(std::string const& name, bool) const {
    return std::ranges::find(words_, name, &key_word::name) != words_.end();
  }

  void field(elem& x) {
    auto const e = parse_elem(next());
    good_ = good_ && e;
    if (good_) x = *e;
  }
  void field(order& x) {
    std::string const word = next();
    good_ = good_ && (word == "T" || word == "N");
    x = word == "T" ? order::row_major : order::col_major;
  }
  template <class T>
  void field(T& x) {
    std::string const word = next();
    std::int64_t value = 0;
    char const* const last = word.data() + word.size();
    auto const [end, error] = std::from_chars(word.data(), last, value);
    good_ = good_ && error == std::errc() && end == last;
    x = static_cast<T>(value);
  }
  void mark(char const* name, bool& x) {
    x = !fields_.empty() && fields_.front() == name;
    if (x) fields_.erase(fields_.begin());
  }

 private:
  std::string next() {
    good_ = good_ && !fields_.empty();
    if (!good_) return "";
    std::string const x = fields_.front();
    fields_.erase(fields_.begin());
    return x;
  }

  std::vector<key_word> words_;
  std::vector<std::string> fields_;  // of the word that is read
  bool good_ = true;
};
template <class Key>
void list_fields(Key&, no_fields&) {}
template <class Key>
void list_fields(Key& key, std::array<std::int64_t*, 4>& extents) {
  for (std::int64_t* const x : extents) key.field(*x);
}
template <class Key>
void list_fields(Key& key, int const& x) {
  key.field(x);
}
template <class Key>
void list_fields(Key& key, int& x) {
  key.field(x);
}
template <class Key, class T>
void list_fields(Key& key, T& x) requires std::same_as<std::remove_const_t<T>, matrix_desc> {
  key.field(x.type), key.field(x.ord), key.field(x.pitch_elems), key.field(x.batch_stride_elems);
}
template <class Key, class T>
void list_fields(Key& key, T& x) requires std::same_as<std::remove_const_t<T>, scale_desc> {
  key.field(x.type), key.field(x.block_outer), key.field(x.block_k), key.field(x.stride_outer);
  key.field(x.stride_k), key.field(x.packed_k), key.field(x.batch_stride);
  key.mark("t", x.tiled);
}
template <class Key, class T>
void list_fields(Key& key, T& x) requires std::same_as<std::remove_const_t<T>, group_desc> {
  key.field(x.axis), key.field(x.form), key.field(x.count), key.field(x.expected_size);
  key.field(x.index_bits);
  key.mark("alpha", x.alpha);
  bool gathers = x.gather_from > 0, scatters = x.scatter_to > 0;
  key.mark("gather", gathers), key.mark("scatter", scatters);
  // How many rows there are in memory is not part of a key.
  if constexpr (!std::is_const_v<T>) x.gather_from = gathers, x.scatter_to = scatters;
}
template <class Key, class T>
void list_fields(Key& key, T& x) requires std::same_as<std::remove_const_t<T>, output_scales> {
  list_fields(key, x.desc);
  key.field(x.given), key.field(x.power_of_two);
}
template <class Key, class T>
void list_fields(Key& key, T& x) requires std::same_as<std::remove_const_t<T>, gemm_epilogue> {
  auto const scale = [&](auto& v, along direction) {
    bool there = static_cast<bool>(v);
    key.field(there);
    if constexpr (!std::is_const_v<T>) v = there ? direction : along::none;
  };
  key.field(x.bias.over), key.field(x.bias.type);
  scale(x.row_scale, along::rows), scale(x.col_scale, along::cols);
  key.field(x.act), key.field(x.gate), key.field(x.c_last);
  for (operand_row const& r : operand_rows) {
    if (r.vector == nullptr || r.is <= role::col_scale) continue;  // those above
    auto& v = x.*r.vector;
    bool there = static_cast<bool>(v);
    key.mark(r.word, there);
    if constexpr (!std::is_const_v<T>) v = there ? r.over_lines : along::none;
  }
}

template <class Key, class T>
void list_fields(Key& key, T& x) requires std::same_as<std::remove_const_t<T>, weight_format> {
  key.field(x.code), key.field(x.scale), key.field(x.zeros), key.field(x.group);
  key.field(x.fp8);
}

template <class Key, class T>
void optional_word(Key& key, std::string const& name, T& x) {
  if (!key.has(name, x.has_value())) return;
  if constexpr (!std::is_const_v<T>) x.emplace();
  key.word(name, *x);
}

/// The one list of words, for writing and for reading.
template <class Key, class Problem>
void list_words(Key& key, Problem& p) {
  auto const name_of = [](operand_row const& r) -> std::string {
    if (r.is == role::aux) return "x";
    return r.scales == nullptr ? r.word : fmt::format("s{}", row_of(r.of).word);
  };
  for (operand_row const& r : operand_rows)
    if (r.matrix != nullptr) key.word(name_of(r), p.*r.matrix);
  for (operand_row const& r : operand_rows)
    if (r.optional_matrix != nullptr) optional_word(key, name_of(r), p.*r.optional_matrix);
  for (operand_row const& r : operand_rows)
    if (r.scales != nullptr) optional_word(key, name_of(r), p.*r.scales);
  key.flag("r", p.reproducible);
  key.flag("f16", p.precision.f16_sums);
  if (key.has("p", p.precision.promote_k != gemm_precision{}.promote_k))
    key.word("p", p.precision.promote_k);
  optional_word(key, "sd", p.scale_d);
  optional_word(key, "g", p.groups);
  if (key.has("wa", static_cast<bool>(p.weights_a))) key.word("wa", p.weights_a);
  if (key.has("wb", static_cast<bool>(p.weights_b))) key.word("wb", p.weights_b);
  if (key.has("e", is_fused(p.epilogue))) key.word("e", p.epilogue);
}

/// The index that is contiguous in a matrix.
group_axis contiguous_index(operand_row const& r, matrix_desc const& m) {
  bool const rows = m.ord == order::row_major;
  if (r.over == operand_axes::mk) return rows ? group_axis::k : group_axis::m;
  if (r.over == operand_axes::kn) return rows ? group_axis::n : group_axis::k;
  return rows ? group_axis::n : group_axis::m;
}

/// Strides of scales without their lengths: which of them are 0 or 1.
void drop_lengths(scale_desc& s) {
  s.stride_outer = std::min<std::int64_t>(s.stride_outer, 2);
  s.stride_k = std::min<std::int64_t>(s.stride_k, 2);
  s.batch_stride = std::min<std::int64_t>(s.batch_stride, 1);
}

std::string variable(char const* name) {
  char const* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

}  // namespace

std::string tuning_version() {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  auto const mix = [&](int x) { hash = (hash ^ static_cast<std::uint32_t>(x)) * 16777619U; };
  for (gemm_family const* f : families())
    for (int kernel = 0; kernel < f->kernel_count(); ++kernel) {
      for (char const c : f->tuning_text(kernel)) mix(c);
      mix(0);
    }
  return fmt::format("{}+{:08x}", version_text, hash);
}

std::optional<tuning_identity> identity_here() {
  if (!gpu().usable) return std::nullopt;
  return tuning_identity{gpu().name, gpu().driver, tuning_version(), gpu().sms};
}

std::string problem_key(gemm_problem const& given) {
  gemm_problem p = given;  // without what takes no part
  if (p.beta == 0) p.c.reset();
  p.precision.f16_sums = may_sum_in_f16(p);
  if (!is_fp8(p.a.type)) p.precision.promote_k = gemm_precision{}.promote_k;
  if (!p.epilogue.bias) p.epilogue.bias.type = elem::f32;
  key_writer key;
  list_words(key, std::as_const(p));
  return fmt::format("{}x{}x{}x{} {}", p.m, p.n, p.k, p.batch, text_of(key.words));
}

std::optional<gemm_problem> problem_of_key(std::string const& text) {
  gemm_problem p;
  std::vector<key_word> words = words_of(text);
  std::vector<std::string> const extents = split(words.front().name, 'x');
  words.erase(words.begin());
  if (extents.size() != 4) return std::nullopt;
  key_reader numbers({{"extents", extents}});
  std::array<std::int64_t*, 4> to = {&p.m, &p.n, &p.k, &p.batch};
  numbers.word("extents", to);
  key_reader key(std::move(words));
  list_words(key, p);
  if (!numbers.complete() || !key.complete()) return std::nullopt;
  if (p.c) p.beta = 1;
  if (p.weights_b) p.weights_b.gate = p.epilogue.gate;
  for (role const x : a_and_b)
    if (auto& s = scale(p, x)) s->second_level = has_second_level(s->type);
  if (p.scale_d) p.scale_d->desc.second_level = has_second_level(p.scale_d->desc.type);
  return p;
}

double usual_group_size(gemm_problem const& p) {
  group_desc const& g = *p.groups;
  auto const total = static_cast<double>(ragged_extent(p));
  if (g.expected_size > 0) return std::min(static_cast<double>(g.expected_size), total);
  return g.slots() ? total : total / static_cast<double>(g.count);
}

std::string key_without_total(gemm_problem const& given) {
  gemm_problem p = given;
  group_desc& g = *p.groups;
  std::int64_t const total = ragged_extent(p);
  for (operand_row const& r : operand_rows) {
    matrix_desc* const m = matrix_of(p, r.is);
    if (m == nullptr) continue;
    if (contiguous_index(r, *m) == g.axis)
      m->pitch_elems -= r.over == operand_axes::d && g.axis == group_axis::n
                            ? result_cols(p.epilogue, total)
                            : total;
    if (g.slots()) m->batch_stride_elems = std::min<std::int64_t>(m->batch_stride_elems, 1);
  }
  for (role const x : a_and_b)
    if (auto& s = scale(p, x)) drop_lengths(*s);
  if (p.scale_d) drop_lengths(p.scale_d->desc);
  if (g.form == group_form::starts || g.form == group_form::sizes) g.form = group_form::ends;
  g.index_bits = 32, g.expected_size = 0;
  ragged_extent(p, g.axis) = 0;
  return problem_key(p);
}

std::string tuning_file() {
  std::string const said = variable("TILEWRIGHT_TUNE");
  if (said == "off") return "";
  if (said.starts_with('/')) return said;
  if (!said.empty())
    throw rejected({"TW0802", "environment variable TILEWRIGHT_TUNE", said,
                    "off, or a file's path that begins with /", ""});
  if (std::string const cache = variable("XDG_CACHE_HOME"); cache.starts_with('/'))
    return cache + "/tilewright/tune.db";
  std::string const home = variable("HOME");
  return home.starts_with('/') ? home + "/.cache/tilewright/tune.db" : "";
}

}  // namespace tw
