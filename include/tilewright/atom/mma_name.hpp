// SPDX-License-Identifier: Apache-2.0
// mma_name.hpp  The name of an MMA atom, and the atom of a name, also at compile time.
//
//     mma.ARCH.mMnNkK.D.A.B [.ss .rs .ts] [.a_mn] [.b_mn] [.sat .and_popc .xor_popc] [.cta2]
//                           [.SCALE.blockN]
//
//     mma.sm80.m16n8k16.f32.f16.f16                       mma.sync
//     mma.sm90.m64n96k16.f32.bf16.bf16.ss.b_mn            wgmma, both from shared memory, B
//     MN-major mma.sm100.m256n128k32.f32.e4m3.e4m3.ss.cta2.ue8m0.block32
//
// ss, rs, ts: A from shared memory, registers, tensor memory; B is from shared memory there. Parts
// come in this order. mma_names.hpp also reads names with parts left out and the field's spelling.
// Law:      find_mma(name_of(atom)) == atom for every atom
// Needs:    a name in this form [TW0210] of an instruction that exists [TW0211]
// Example:  tests/atom/mma_name_test.cpp
#pragma once

#include "tilewright/atom/mma_rules.hpp"  // first: compilers show this path in every refusal

#include "tilewright/atom/mma_table.hpp"

namespace tw {

/// A name: text, length, terminated by zero.
struct mma_name {
  char text[96] = {};
  int length = 0;

  TW_HD constexpr void put(char c) { text[length++] = c; }
  TW_HD constexpr void put(char const* s) {
    for (; *s != '\0'; ++s) put(*s);
  }
  TW_HD constexpr void put(int v) {
    int scale = 1;
    while (v / scale >= 10) scale *= 10;
    for (; scale > 0; scale /= 10) put(static_cast<char>('0' + v / scale % 10));
  }
  TW_HD constexpr void part(char const* s) {
    put('.');
    put(s);
  }
  TW_HD constexpr bool is(char const* s, int n) const {
    if (n != length) return false;
    for (int i = 0; i < n; ++i) {
      if (s[i] != text[i]) return false;
    }
    return true;
  }
};

inline constexpr int mma_arch_count = 9;

TW_HD constexpr char const* name(mma_arch a) {
  constexpr char const* names[mma_arch_count] = {"fma",  "sm61", "sm70",  "sm75", "sm80",
                                                 "sm89", "sm90", "sm100", "sm120"};
  return names[static_cast<int>(a)];
}

inline constexpr int mma_option_count = 4;

TW_HD constexpr char const* name(mma_option o) {
  constexpr char const* names[mma_option_count] = {"", "sat", "and_popc", "xor_popc"};
  return names[static_cast<int>(o)];
}

TW_HD constexpr mma_name name_of(mma_atom const& a) {
  mma_name s;
  s.put("mma");
  s.part(name(a.arch));
  s.put(".m");
  s.put(a.m);
  s.put('n');
  s.put(a.n);
  s.put('k');
  s.put(a.k);
  s.part(name(a.d));
  s.part(name(a.a));
  s.part(name(a.b));
  if (is_wgmma(a) || is_tcgen05(a)) {
    s.part(a.a_from == mma_source::shared ? "ss" : a.a_from == mma_source::registers ? "rs" : "ts");
  }
  if (a.a_major == operand_major::mn) s.part("a_mn");
  if (a.b_major == operand_major::mn) s.part("b_mn");
  if (a.option != mma_option::none) s.part(name(a.option));
  if (a.ctas == 2) s.part("cta2");
  if (a.scale != mma_type::none) {
    s.part(name(a.scale));
    s.put(".block");
    s.put(a.scale_block);
  }
  return s;
}

namespace detail {

/// A name, read part by part.
struct name_scanner {
  char const* text;
  int length;
  int at = 0;     // the next part begins here
  int begin = 0;  // the part
  int end = 0;

  TW_HD constexpr bool next() {
    if (at > length) return false;
    begin = at;
    for (end = at; end < length && text[end] != '.';) ++end;
    at = end + 1;
    return true;
  }
  TW_HD constexpr bool is(char const* s) const {
    int i = begin;
    for (; i < end && *s == text[i]; ++i) ++s;
    return i == end && *s == '\0';
  }
  TW_HD constexpr void fail() const { refuse_mma_name(begin + 1, length); }
  TW_HD constexpr void need() {
    if (!next()) refuse_mma_name(length + 1, length);
  }
  /// `letters` and then a number, from position i of the part on; moves i past it.
  TW_HD constexpr int number(char const* letters, int& i) const {
    for (; *letters != '\0'; ++letters, ++i) {
      if (i >= end || text[i] != *letters) refuse_mma_name(i + 1, length);
    }
    int v = 0;
    int const first = i;
    for (; i < end && text[i] >= '0' && text[i] <= '9' && v < 100000; ++i)
      v = v * 10 + (text[i] - '0');
    if (i == first) refuse_mma_name(i + 1, length);
    return v;
  }
  TW_HD constexpr mma_type type() {
    need();
    for (int t = 1; t < mma_type_count; ++t) {
      if (is(name(static_cast<mma_type>(t)))) return static_cast<mma_type>(t);
    }
    refuse_mma_name(begin + 1, length);
    return mma_type::none;
  }
};

/// Parses one optional suffix (ss, rs, ts, ...); returns false if it is not one.
TW_HD constexpr bool set_variant(mma_atom& a, name_scanner const& s) {
  if (s.is("ss")) {
    a.a_from = mma_source::shared;
  } else if (s.is("rs")) {
    a.a_from = mma_source::registers;
  } else if (s.is("ts")) {
    a.a_from = mma_source::tensor;
  } else if (s.is("a_mn")) {
    a.a_major = operand_major::mn;
  } else if (s.is("b_mn")) {
    a.b_major = operand_major::mn;
  } else if (s.is("cta2")) {
    a.ctas = 2;
  } else if (s.is("ue8m0") || s.is("ue4m3")) {
    a.scale = s.is("ue8m0") ? mma_type::ue8m0 : mma_type::ue4m3;
  } else if (s.end - s.begin > 5 && s.text[s.begin + 4] == 'k') {
    int i = s.begin;
    a.scale_block = s.number("block", i);
  } else {
    for (int o = 1; o < mma_option_count; ++o) {
      if (!s.is(name(static_cast<mma_option>(o)))) continue;
      a.option = static_cast<mma_option>(o);
      return true;
    }
    return false;
  }
  return true;
}

/// The parts of a name, whether or not such an instruction exists.
TW_HD constexpr mma_atom parse_mma(char const* text, int length) {
  name_scanner s{text, length};
  mma_atom a;
  s.need();
  if (!s.is("mma")) s.fail();
  s.need();
  int arch = 0;
  while (arch < mma_arch_count && !s.is(name(static_cast<mma_arch>(arch)))) ++arch;
  if (arch == mma_arch_count) s.fail();
  a.arch = static_cast<mma_arch>(arch);
  s.need();
  int i = s.begin;
  a.m = s.number("m", i);
  a.n = s.number("n", i);
  a.k = s.number("k", i);
  if (i != s.end) s.fail();
  a.d = s.type();
  a.a = s.type();
  a.b = s.type();
  while (s.next()) {
    if (!set_variant(a, s)) s.fail();
  }
  if (!name_of(a).is(text, length)) refuse_mma_name(length, length);  // parts in another order
  return a;
}

}  // namespace detail

/// The atom of a whole name.
TW_HD constexpr mma_atom find_mma(char const* text, int length) {
  return checked(detail::parse_mma(text, length));
}
template <int N>
TW_HD constexpr mma_atom find_mma(char const (&text)[N]) {
  return checked(detail::parse_mma(text, N - 1));
}

}  // namespace tw
