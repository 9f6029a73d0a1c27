// SPDX-License-Identifier: Apache-2.0
// explain_words.cpp  KEY=VALUE words to a combination and back.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "atom/explain_parts.hpp"
#include "tilewright/base/elem_text.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw {
namespace detail {

void refuse(char const* code, std::string what, std::string got, std::string need,
            std::string hint) {
  throw rejected({code, std::move(what), std::move(got), std::move(need), std::move(hint)});
}

namespace {

constexpr std::array keys{"arch", "operand", "tile",  "mma",   "warpgroups",
                          "copy", "smem",    "dtype", "major", "turns"};

/// Integers separated by one letter each: "192x192" by "x", "m64n96k16" by "mnk".
std::optional<std::vector<i64>> numbers(std::string_view text, std::string_view pattern) {
  std::vector<i64> found;
  for (char const c : pattern) {
    if (c != '#') {
      if (text.empty() || text.front() != c) return {};
      text.remove_prefix(1);
      continue;
    }
    i64 v = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
    if (error != std::errc{} || v < 1 || v > 1'000'000) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    found.push_back(v);
  }
  if (!text.empty()) return {};
  return found;
}

[[noreturn]] void refuse_value(std::string_view key, std::string_view got, std::string need) {
  refuse("TW0251", fmt::format("value of {}", key), got.empty() ? "nothing" : std::string(got),
         std::move(need));
}

/// half_t, cutlass::bfloat16_t, float_e4m3_t: CUTLASS's names of types.
std::optional<elem> cutlass_type(std::string_view text) {
  if (std::size_t const scope = text.rfind("::"); scope != text.npos) text.remove_prefix(scope + 2);
  constexpr std::pair<std::string_view, elem> types[] = {
      {"half_t", elem::f16},      {"half", elem::f16},           {"__half", elem::f16},
      {"bfloat16_t", elem::bf16}, {"__nv_bfloat16", elem::bf16}, {"float", elem::f32},
      {"tfloat32_t", elem::tf32}, {"float_e4m3_t", elem::e4m3},  {"float_e5m2_t", elem::e5m2},
      {"int8_t", elem::s8},       {"uint8_t", elem::u8},         {"int32_t", elem::s32}};
  for (auto const& [word, type] : types)
    if (text == word) return type;
  return std::nullopt;
}

elem type_of(std::string_view text) {
  std::optional<elem> e = parse_elem(text);
  if (!e) e = cutlass_type(text);
  if (!e) refuse_value("dtype", text, list_of(elems_that([](elem) { return true; })));
  return *e;
}

std::vector<copy_choice> all_copies() {
  std::vector<copy_choice> all;
  for (int const count : {4, 2, 1}) {
    for (bool const t : {false, true}) all.push_back({copy_kind::stmatrix, 128, count, t});
  }
  for (int const bits : {8, 16, 32, 64}) all.push_back({copy_kind::store, bits, 1, false});
  for (int const bits : {128, 64, 32}) all.push_back({copy_kind::cp_async, bits, 1, false});
  return all;
}

/// CuTe's name of a copy as ours: SM90_U32x4_STSM_N is stmatrix.x4; others stay.
std::string copy_word(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"SM90_U32x4_STSM_N", "stmatrix.x4"},
      {"SM90_U32x2_STSM_N", "stmatrix.x2"},
      {"SM90_U32x1_STSM_N", "stmatrix.x1"},
      {"SM90_U16x8_STSM_T", "stmatrix.x4.trans"},
      {"SM90_U16x4_STSM_T", "stmatrix.x2.trans"},
      {"SM90_U16x2_STSM_T", "stmatrix.x1.trans"},
      {"SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>", "cp.async.128"},
      {"SM80_CP_ASYNC_CACHEALWAYS<uint128_t>", "cp.async.128"},
      {"SM80_CP_ASYNC_CACHEALWAYS<uint64_t>", "cp.async.64"},
      {"SM80_CP_ASYNC_CACHEALWAYS<uint32_t>", "cp.async.32"},
      {"UniversalCopy<uint32_t>", "st.32"},
      {"UniversalCopy<half_t>", "st.16"},
      {"UniversalCopy<bfloat16_t>", "st.16"}};
  std::string plain(text);
  for (std::string_view const scope : {"cute::", "cutlass::"})
    for (std::size_t at = plain.find(scope); at != plain.npos; at = plain.find(scope))
      plain.erase(at, scope.size());
  for (auto const& [theirs, ours] : words)
    if (plain == theirs) return std::string(ours);
  return std::string(text);
}

copy_choice copy_of(std::string_view written) {
  std::string const text = copy_word(written);
  std::string names;
  for (copy_choice const& c : all_copies()) {
    if (text == name(c)) return c;
    names += (names.empty() ? "" : ", ") + name(c);
  }
  refuse_value("copy", text, "one of " + names);
}

using word_map = std::map<std::string, std::string, std::less<>>;

word_map split(std::vector<std::string> const& words) {
  word_map found;
  for (std::string const& w : words) {
    std::size_t const at = w.find('=');
    std::string const key = w.substr(0, at);
    if (at == std::string::npos || std::ranges::find(keys, key) == keys.end()) {
      refuse("TW0250", "word of a combination", w,
             fmt::format("KEY=VALUE, KEY one of {}", fmt::join(keys, ", ")));
    }
    if (!found.emplace(key, w.substr(at + 1)).second) {
      refuse("TW0252", "key of a combination", key + " twice", "each key once");
    }
  }
  return found;
}

std::string value(word_map const& words, std::string_view key, char const* otherwise) {
  auto const at = words.find(key);
  if (at != words.end()) return at->second;
  if (otherwise == nullptr) {
    refuse("TW0252", "key of a combination", fmt::format("no {}", key), fmt::format("{}=...", key),
           "`tilewright explain --help` shows an example");
  }
  return otherwise;
}

void forbid(word_map const& words, std::string_view key, std::string_view where) {
  if (words.contains(key)) {
    refuse("TW0253", fmt::format("key {}", key), fmt::format("{}={}", key, words.find(key)->second),
           fmt::format("a combination of {}", where));
  }
}

bool fills(combination const& c, i64 m, i64 n) {
  return c.rows % (64 * m) == 0 && c.columns % (c.mma_n * n) == 0;
}

/// "2" (along M where its rows fill the tile, otherwise along N), or "1x2" (M x N).
void read_warpgroups(combination& c, std::string const& text) {
  auto const grid = numbers(text, "#x#");
  auto const count = numbers(text, "#");
  i64 const all = grid ? (*grid)[0] * (*grid)[1] : count ? (*count)[0] : 0;
  if (all < 1 || all > 7) {
    refuse_value("warpgroups", text, "1 to 7 of them, as 2 or as 1x2 (along M x along N)");
  }
  i64 m = grid ? (*grid)[0] : all;
  for (i64 k = all; !grid && k >= 1; --k) {
    if (all % k == 0 && fills(c, k, all / k)) {
      m = k;
      break;
    }
  }
  c.groups_m = static_cast<int>(m);
  c.groups_n = static_cast<int>(all / m);
}

/// GMMA::Layout_K_SW128_Atom<half_t> as SW128, ..._INTER_Atom as NONE; other texts stay.
std::string memory_word(std::string const& text) {
  std::size_t const name = text.find("Layout_"), end = text.find("_Atom");
  if (name == text.npos || end == text.npos || (name > 0 && text[name - 1] != ':')) return text;
  std::string const word = text.substr(text.find('_', name + 7) + 1);
  std::string const span = word.substr(0, word.find("_Atom"));
  return span == "INTER" ? "NONE" : span;
}

void read_memory(combination& c, std::string const& written) {
  std::string const text = memory_word(written);
  for (smem_swizzle const s : swizzles) {
    if (text == word_of(s)) c.smem = s;
  }
  if (c.smem || text.empty()) return;
  if (text[0] != '(' && !text.starts_with("Sw<")) {
    refuse_value("smem", text, "SW128, SW64, SW32, NONE or a layout such as (8,64):(72,1)");
  }
  layout const l = parse_layout(text.data(), static_cast<int>(text.size()));
  if (rank(l) != 2) refuse_value("smem", text, "a layout of rank 2, (rows, columns)");
  c.smem_text = text;
}

void read_sums(combination& c, word_map const& words) {
  std::string const arch = value(words, "arch", "sm90");
  if (arch != "sm90")
    refuse("TW0253", "key arch", "arch=" + arch,
           "arch=sm90 for D, the sums of wgmma; arch=sm80 for operand A or B");
  std::string const mma = value(words, "mma", nullptr);
  auto const shape = numbers(mma, "m#n#k#");
  bool const known = shape && (*shape)[0] == 64 && (*shape)[1] % 8 == 0 && (*shape)[1] <= 256 &&
                     ((*shape)[2] == 8 || (*shape)[2] == 16 || (*shape)[2] == 32);
  if (!known) {
    refuse_value("mma", mma, "m64nNkK with N = 8, 16, ... 256 and K = 8, 16 or 32 (wgmma)");
  }
  c.mma_n = static_cast<int>((*shape)[1]);
  c.mma_k = static_cast<int>((*shape)[2]);
  read_warpgroups(c, value(words, "warpgroups", "2"));
  std::string const turns = value(words, "turns", "");
  if (!turns.empty() && turns != "8") refuse_value("turns", turns, "8, the columns of a turn");
  c.by_turns = turns == "8";
  if (c.by_turns && c.groups_n == 1) {
    refuse("TW0253", "turns", "one warpgroup along N", "two or more that take turns");
  }
  if (c.copy.kind == copy_kind::cp_async) {
    refuse("TW0253", "copy of D", name(c.copy), "stmatrix or st: D comes from registers");
  }
  int const bits = size_bits(c.type);
  bool const rows = c.contiguous == operand_major::mn;
  if (c.copy.kind == copy_kind::stmatrix && (bits != 16 || c.copy.transposed != rows)) {
    refuse("TW0253", "stmatrix",
           fmt::format("{} of {}, {} contiguous", name(c.copy), name(c.type),
                       rows ? "rows" : "columns"),
           "16-bit elements; .trans where M is contiguous (major=m), plain where N is");
  }
  if (c.copy.kind == copy_kind::store && c.copy.bits != bits && (rows || c.copy.bits != 2 * bits)) {
    refuse("TW0253", "width of a store", name(c.copy),
           rows ? fmt::format("st.{}: one element", bits)
                : fmt::format("st.{} or st.{}: a thread has pairs along N", bits, 2 * bits));
  }
}

void read_operand(combination& c, word_map const& words) {
  for (char const* key : {"mma", "warpgroups", "turns"}) forbid(words, key, "operand D");
  std::string const arch = value(words, "arch", "sm80");
  if (arch != "sm80") {
    refuse_value("arch", arch,
                 "sm80 for operand A or B; on sm90 use `tilewright layout` for its "
                 "wgmma descriptor");
  }
  c.arch = 80;
  if (c.copy.kind != copy_kind::cp_async) {
    refuse("TW0253", fmt::format("copy of {}", c.operand), name(c.copy),
           "cp.async.128, cp.async.64 or cp.async.32: operands come from global memory");
  }
  if (multiplied_type(c.type) != c.type) {
    refuse("TW0253", "operand of a tensor core", name(c.type), "tf32, f16, bf16, e4m3 or e5m2");
  }
  if (c.copy.bits < size_bits(c.type)) refuse_value("copy", name(c.copy), "whole elements");
}

}  // namespace
}  // namespace detail

std::string name(copy_choice const& c) {
  if (c.kind == copy_kind::store) return fmt::format("st.{}", c.bits);
  if (c.kind == copy_kind::cp_async) return fmt::format("cp.async.{}", c.bits);
  return fmt::format("stmatrix.x{}{}", c.count, c.transposed ? ".trans" : "");
}

std::string word_of(smem_swizzle s) {
  return s == smem_swizzle::none ? "NONE" : fmt::format("SW{}", span_bytes(s));
}

combination parse_combination(std::vector<std::string> const& words) {
  detail::word_map const found = detail::split(words);
  combination c;
  std::string const arch = detail::value(found, "arch", "");
  std::string const operand = detail::value(found, "operand", arch == "sm80" ? "A" : "D");
  if (operand != "A" && operand != "B" && operand != "D") {
    detail::refuse_value("operand", operand, "A, B or D");
  }
  c.operand = operand[0];
  std::string const tile = detail::value(found, "tile", nullptr);
  auto const shape = detail::numbers(tile, "#x#");
  if (!shape || (*shape)[0] > 1024 || (*shape)[1] > 1024) {
    detail::refuse_value("tile", tile, "ROWSxCOLUMNS up to 1024x1024, as 128x64");
  }
  c.rows = (*shape)[0];
  c.columns = (*shape)[1];
  c.type = detail::type_of(detail::value(found, "dtype", "f16"));
  bool const sums = c.operand == 'D';
  std::string const mine = sums ? "n" : "k", other = c.operand == 'B' ? "n" : "m";
  std::string const major = detail::value(found, "major", mine.c_str());
  if (major != mine && major != other) {
    detail::refuse_value("major", major, fmt::format("{} or {}, what is contiguous", mine, other));
  }
  c.contiguous = major == mine ? operand_major::k : operand_major::mn;
  int const bits = size_bits(c.type);
  bool const rows = c.contiguous == operand_major::mn;
  std::string const usual = !sums        ? "cp.async.128"
                            : bits != 16 ? fmt::format("st.{}", rows ? bits : 2 * bits)
                            : rows       ? "stmatrix.x4.trans"
                                         : "stmatrix.x4";
  c.copy = detail::copy_of(detail::value(found, "copy", usual.c_str()));
  detail::read_memory(c, detail::value(found, "smem", ""));
  if (sums) {
    detail::read_sums(c, found);
  } else {
    detail::read_operand(c, found);
  }
  return c;
}

std::string to_words(combination const& c) {
  bool const sums = c.operand == 'D';
  std::string text = sums ? "" : fmt::format("arch=sm80 operand={} ", c.operand);
  text += fmt::format("tile={}x{}", c.rows, c.columns);
  if (sums) {
    text +=
        fmt::format(" mma=m64n{}k{} warpgroups={}x{}", c.mma_n, c.mma_k, c.groups_m, c.groups_n);
    if (c.by_turns) text += " turns=8";
  }
  text += fmt::format(" copy={}", name(c.copy));
  if (c.smem) text += " smem=" + word_of(*c.smem);
  if (!c.smem_text.empty()) text += " smem=" + c.smem_text;
  text += fmt::format(" dtype={}", name(c.type));
  if (c.contiguous == operand_major::mn) text += sums || c.operand == 'A' ? " major=m" : " major=n";
  return text;
}

}  // namespace tw
