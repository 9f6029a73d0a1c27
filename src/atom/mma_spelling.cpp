// SPDX-License-Identifier: Apache-2.0
// mma_spelling.cpp  MMA atoms in the spelling of the field.
//
//     SM80_16x8x16_F32F16F16F32_TN    SM80_16x8x32_S32S8U8S32_TN_SATURATE    SM70_8x8x4_..._NT
//     SM90_64x96x16_F32BF16BF16_SS    ..._SS_K_MN    ..._RS_TN    ..._SS<K,MN>
//     SM100_MMA_F16BF16_2x1SM_SS<f16,f16,f32,128,64,K,K>             SM100_MMA_TF32_SS<64,128>
//     SM120_16x8x64_TN_VS<e2m1,e2m1,f32,ue8m0,32>    SM61_DP4A    UniversalFMA_float
#include <algorithm>
#include <array>
#include <string>

#include "atom/spelling.hpp"
#include "tilewright/atom/mma_names.hpp"

namespace tw::detail {
namespace {

struct word {
  std::string_view text;
  mma_type type;
};

/// Longest first where one begins another.
constexpr std::array glued{
    word{"GC64", mma_type::gc64}, word{"C64", mma_type::c64},   word{"BF16", mma_type::bf16},
    word{"TF32", mma_type::tf32}, word{"F64", mma_type::f64},   word{"F32", mma_type::f32},
    word{"F16", mma_type::f16},   word{"E4M3", mma_type::e4m3}, word{"E5M2", mma_type::e5m2},
    word{"E2M3", mma_type::e2m3}, word{"E3M2", mma_type::e3m2}, word{"E2M1", mma_type::e2m1},
    word{"S32", mma_type::s32},   word{"S8", mma_type::s8},     word{"U8", mma_type::u8},
    word{"S4", mma_type::s4},     word{"U4", mma_type::u4},     word{"U1", mma_type::b1}};

/// C++ types in angle brackets, without float_ and _t.
constexpr std::array in_brackets{
    word{"double", mma_type::f64},    word{"float", mma_type::f32},     word{"half", mma_type::f16},
    word{"bfloat16", mma_type::bf16}, word{"tfloat32", mma_type::tf32}, word{"int8", mma_type::s8},
    word{"uint8", mma_type::u8},      word{"int32", mma_type::s32},     word{"int", mma_type::s32}};

/// Text that is taken from the front.
struct reader {
  std::string_view rest;

  bool take(std::string_view s) {
    if (!rest.starts_with(s)) return false;
    rest.remove_prefix(s.size());
    return true;
  }
  bool number(int& v) {
    std::size_t n = 0;
    v = 0;
    for (; n < rest.size() && n < 5 && rest[n] >= '0' && rest[n] <= '9'; ++n)
      v = v * 10 + (rest[n] - '0');
    rest.remove_prefix(n);
    return n > 0;
  }
  bool type(mma_type& t) {
    for (word const& w : glued) {
      if (!take(w.text)) continue;
      t = w.type;
      return true;
    }
    return false;
  }
  bool shape(mma_atom& a) {
    return number(a.m) && take("x") && number(a.n) && take("x") && number(a.k);
  }
  bool major(operand_major& m) {
    if (take("MN")) {
      m = operand_major::mn;
      return true;
    }
    m = operand_major::k;
    return take("K");
  }
};

mma_type type_in_brackets(std::string_view s) {
  if (s.ends_with("_t")) s.remove_suffix(2);
  if (s.starts_with("float_")) s.remove_prefix(6);
  for (int i = 1; i < mma_type_count; ++i) {
    if (s == name(static_cast<mma_type>(i))) return static_cast<mma_type>(i);
  }
  auto const w = std::ranges::find(in_brackets, s, &word::text);
  return w == in_brackets.end() ? mma_type::none : w->type;
}

/// The arguments in <...>: operand types, a type of scales, integers, majors, in this order.
struct bracketed {
  mma_type types[3] = {};
  int type_count = 0;
  mma_type scale = mma_type::none;
  int numbers[3] = {};
  int number_count = 0;
  operand_major majors[2] = {operand_major::k, operand_major::k};
  int major_count = 0;

  bool add(std::string_view s) {
    while (s.starts_with(' ')) s.remove_prefix(1);
    while (s.ends_with(' ')) s.remove_suffix(1);
    if (std::size_t const scope = s.rfind("::"); scope != s.npos) s.remove_prefix(scope + 2);
    reader r{s};
    if (int v = 0; r.number(v)) {
      if (!r.rest.empty() || number_count == 3) return false;
      numbers[number_count++] = v;
      return true;
    }
    if (s == "K" || s == "MN") {
      if (major_count == 2) return false;
      majors[major_count++] = s == "K" ? operand_major::k : operand_major::mn;
      return true;
    }
    mma_type const t = type_in_brackets(s);
    if (t == mma_type::none) return false;
    if (t == mma_type::ue8m0 || t == mma_type::ue4m3) {
      scale = t;
      return true;
    }
    if (type_count == 3) return false;
    types[type_count++] = t;
    return true;
  }

  bool read(std::string_view inside) {
    for (std::size_t at = 0; at <= inside.size();) {
      std::size_t const end = std::min(inside.find(',', at), inside.size());
      if (!add(inside.substr(at, end - at))) return false;
      at = end + 1;
    }
    return true;
  }
};

/// SM80_16x8x16_F32F16F16F32_TN..., SM90_64x96x16_F32BF16BF16_SS...
bool read_shape_first(reader r, bracketed const& b, mma_atom& a) {
  if (!r.shape(a) || !r.take("_") || !r.type(a.d) || !r.type(a.a) || !r.type(a.b)) return false;
  mma_type c = a.d;
  bool const wgmma = a.arch == mma_arch::sm90 && a.m == 64;
  if (!wgmma && (!r.type(c) || c != a.d)) return false;
  if (wgmma) {
    bool const shared = r.take("_SS");
    if (!shared && !r.take("_RS")) return false;
    a.a_from = shared ? mma_source::shared : mma_source::registers;
    if (!r.take("_TN") && r.take("_") &&
        !(r.major(a.a_major) && r.take("_") && r.major(a.b_major))) {
      return false;
    }
    if (b.major_count == 2) {
      a.a_major = b.majors[0];
      a.b_major = b.majors[1];
    }
  } else {
    if (!r.take("_") || r.rest.size() < 2) return false;
    char const left = r.rest[0], right = r.rest[1];  // T: row-major A, row-major B
    if ((left != 'T' && left != 'N') || (right != 'T' && right != 'N')) return false;
    a.a_major = left == 'T' ? operand_major::k : operand_major::mn;
    a.b_major = right == 'N' ? operand_major::k : operand_major::mn;
    r.rest.remove_prefix(2);
  }
  if (r.take("_SATURATE")) a.option = mma_option::saturate;
  if (r.take("_ANDPOPC")) a.option = mma_option::and_popc;
  if (r.take("_XORPOPC")) a.option = mma_option::xor_popc;
  return r.rest.empty();
}

/// K of a tcgen05 kind, and the formats it has where the brackets do not say.
struct kind {
  std::string_view text;
  int k;
  mma_type ab, d;
};
constexpr std::array kinds{kind{"F16BF16", 16, mma_type::none, mma_type::f32},
                           kind{"TF32", 8, mma_type::tf32, mma_type::f32},
                           kind{"MXF8F6F4", 32, mma_type::none, mma_type::f32},
                           kind{"F8F6F4", 32, mma_type::none, mma_type::f32},
                           kind{"MXF4NVF4", 64, mma_type::e2m1, mma_type::f32},
                           kind{"MXF4", 64, mma_type::e2m1, mma_type::f32},
                           kind{"S8", 32, mma_type::s8, mma_type::s32},
                           kind{"I8", 32, mma_type::s8, mma_type::s32}};

bool read_tcgen05(reader r, bracketed const& b, mma_atom& a) {
  if (!r.take("MMA_") || b.number_count < 2 || b.type_count == 1 || b.type_count == 2) return false;
  auto const k = std::ranges::find_if(kinds, [&r](kind const& k) {
    return r.rest.starts_with(k.text) && r.rest.substr(k.text.size()).starts_with('_');
  });
  if (k == kinds.end()) return false;
  r.take(k->text);
  a.ctas = r.take("_2x1SM") ? 2 : 1;
  bool const shared = r.take("_SS");
  if (!shared && !r.take("_TS")) return false;
  if (!r.rest.empty()) return false;
  a.a_from = shared ? mma_source::shared : mma_source::tensor;
  bool const named = b.type_count == 3;
  if (!named && k->ab == mma_type::none) return false;
  a.k = k->k;
  a.a = named ? b.types[0] : k->ab;
  a.b = named ? b.types[1] : k->ab;
  a.d = named ? b.types[2] : k->d;
  a.m = b.numbers[0];
  a.n = b.numbers[1];
  a.a_major = b.majors[0];
  a.b_major = b.majors[1];
  a.scale = b.scale;
  if (b.scale != mma_type::none) a.scale_block = b.number_count == 3 ? b.numbers[2] : 32;
  return true;
}

bool read_sm120(reader r, bracketed const& b, mma_atom& a) {
  if (!r.shape(a) || !r.take("_TN") || b.type_count != 3) return false;
  bool const scaled = r.take("_VS");
  if (!r.rest.empty() || scaled != (b.number_count == 1)) return false;
  a.a = b.types[0];
  a.b = b.types[1];
  a.d = b.types[2];
  a.scale = b.scale;
  a.scale_block = scaled ? b.numbers[0] : 0;
  return true;
}

}  // namespace

bool read_field_spelling(std::string_view text, mma_atom& a) {
  a = {};
  reader r{text};
  if (r.take("UniversalFMA")) {
    mma_type t = mma_type::f32;
    if (r.take("_") || r.take("<")) {
      if (r.rest.ends_with('>')) r.rest.remove_suffix(1);
      t = type_in_brackets(r.rest.substr(0, r.rest.find(',')));
    } else if (!r.rest.empty()) {
      return false;
    }
    a.d = a.a = a.b = t;
    return t != mma_type::none;
  }
  bracketed b;
  if (std::size_t const open = r.rest.find('<'); open != r.rest.npos) {
    if (!r.rest.ends_with('>')) return false;
    if (!b.read(r.rest.substr(open + 1, r.rest.size() - open - 2))) return false;
    r.rest = r.rest.substr(0, open);
  }
  int arch = 0;
  if (!r.take("SM") || !r.number(arch) || !r.take("_")) return false;
  switch (arch) {
    case 61:
      a.arch = mma_arch::sm61;
      a.d = mma_type::s32;
      a.k = r.rest == "DP4A" ? 4 : 2;
      a.a = a.b = a.k == 4 ? mma_type::s8 : mma_type::s16;
      return r.rest == "DP4A" || r.rest == "DP2A";
    case 70: a.arch = mma_arch::sm70; break;
    case 75: a.arch = mma_arch::sm75; break;
    case 80: a.arch = mma_arch::sm80; break;
    case 89: a.arch = mma_arch::sm89; break;
    case 90: a.arch = mma_arch::sm90; break;
    case 100: a.arch = mma_arch::sm100; return read_tcgen05(r, b, a);
    case 120: a.arch = mma_arch::sm120; return read_sm120(r, b, a);
    default: return false;
  }
  return read_shape_first(r, b, a);
}

/// SM100_64x128x32_S32S8S8_SS, a name in the form of Hopper's that no library has.
std::string tcgen05_like(std::string_view text) {
  reader r{text};
  int arch = 0;
  mma_atom a;
  if (!r.take("SM") || !r.number(arch) || arch / 10 != 10 || !r.take("_")) return {};
  if (!r.shape(a) || !r.take("_") || !r.type(a.d) || !r.type(a.a) || !r.type(a.b)) return {};
  a.arch = mma_arch::sm100;
  a.a_from = mma_source::shared;
  std::string ours;
  // A type whose K is another has it in its own name: 32 for 4 bits without scales.
  for (int const k : {a.k, 8, 16, 32}) {
    a.k = k;
    for (mma_row const& row : mma_rows)
      if (ours.empty() && allows(row, a)) ours = to_string(a);
  }
  if (ours.empty()) return "docs/atoms.md lists the atoms of sm100";
  bool const f16 = a.a == mma_type::f16 || a.a == mma_type::bf16;
  std::string const kind = f16                     ? "F16BF16"
                           : a.a == mma_type::tf32 ? "TF32"
                           : a.a == mma_type::s8   ? "S8"
                                                   : "F8F6F4";
  return "write " + ours + ", or SM100_MMA_" + kind + "_SS<" + name(a.a) + "," + name(a.b) + "," +
         name(a.d) + "," + std::to_string(a.m) + "," + std::to_string(a.n) + ",K,K>";
}

}  // namespace tw::detail
