// SPDX-License-Identifier: Apache-2.0
// mma_table.hpp  Which MMA instructions exist: one row per family of shapes and formats.
//
// A row says the shapes (one M and K, a range of N), the formats, and the variants. Who holds which
// element follows from the row by rule (mma_fragment.hpp), so nothing is stored per instruction.
// Source: PTX ISA; the section of each row is its last field.
// Needs:    of an atom: a row that allows it [TW0211]
// Law:      mma_fragment_test.cpp: every atom's layouts cover their tiles exactly, whatever the row
#pragma once

#include "tilewright/atom/mma_atom.hpp"
#include "tilewright/atom/mma_rules.hpp"

namespace tw {

struct mma_row {
  mma_arch arch;
  int m, k;
  int n_first, n_last, n_step;
  mma_types d, ab;
  bool mixed;        // A and B may differ; otherwise both have the same format
  bool shared_a;     // A from shared memory (.ss)
  bool register_a;   // A from registers
  bool tensor_a;     // A from tensor memory (.ts)
  bool any_major;    // A in shared memory, and B, may be MN-major
  unsigned options;  // bit i: mma_option i is allowed; bit 0: the plain one
  int ctas;
  mma_types scale;      // formats of scale factors; none: not block-scaled
  int scale_blocks[2];  // elements along k that share one
  char const* section;  // of the PTX ISA
};

namespace detail {

inline constexpr mma_types f16_f32 = mma_types::of(mma_type::f16, mma_type::f32);
inline constexpr mma_types only_f32 = mma_types::of(mma_type::f32),
                           only_s32 = mma_types::of(mma_type::s32);
inline constexpr mma_types only_f16 = mma_types::of(mma_type::f16),
                           only_bf16 = mma_types::of(mma_type::bf16);
inline constexpr mma_types only_tf32 = mma_types::of(mma_type::tf32),
                           only_f64 = mma_types::of(mma_type::f64);
inline constexpr mma_types only_c64 = mma_types::of(mma_type::c64),
                           any_c64 = mma_types::of(mma_type::c64, mma_type::gc64);
inline constexpr mma_types fp8 = mma_types::of(mma_type::e4m3, mma_type::e5m2),
                           int8 = mma_types::of(mma_type::s8, mma_type::u8);
inline constexpr mma_types int4 = mma_types::of(mma_type::s4, mma_type::u4),
                           only_b1 = mma_types::of(mma_type::b1);
inline constexpr mma_types f8f6f4 =
    mma_types::of(mma_type::e4m3, mma_type::e5m2, mma_type::e2m3, mma_type::e3m2, mma_type::e2m1);
inline constexpr mma_types only_e2m1 = mma_types::of(mma_type::e2m1);
inline constexpr mma_types only_ue8m0 = mma_types::of(mma_type::ue8m0);
inline constexpr mma_types ue4m3_ue8m0 = mma_types::of(mma_type::ue4m3, mma_type::ue8m0);
inline constexpr unsigned plain_only = 1, may_saturate = 3, popc = 12;

/// mma.sync of a warp, A and B in registers, A row-major and B column-major (K-major both).
TW_HD constexpr mma_row warp_row(mma_arch arch, int m, int k, mma_types d, mma_types ab,
                                 char const* section, bool mixed = false,
                                 unsigned options = plain_only) {
  return {arch,  m,    k,     8,     8,       8, d,  ab, mixed,
          false, true, false, false, options, 1, {}, {}, section};
}

TW_HD constexpr mma_row scaled_warp_row(int k, mma_types ab, mma_types scale, int scale_block,
                                        char const* section) {
  mma_row r = warp_row(mma_arch::sm120, 16, k, only_f32, ab, section, k == 32);
  r.scale = scale;
  r.scale_blocks[0] = scale_block;
  return r;
}

TW_HD constexpr mma_row wgmma_row(int k, mma_types d, mma_types ab, char const* section,
                                  bool mixed = false) {
  return {mma_arch::sm90, 64,   k,     8,       256,        8, d,  ab, mixed,
          true,           true, false, k == 16, plain_only, 1, {}, {}, section};
}
TW_HD constexpr mma_row wgmma_int8_row(int n_first, int n_last, int n_step) {
  mma_row r =
      wgmma_row(32, only_s32, int8, "Register Fragments for wgmma.mma_async.m64nNk32", true);
  r.n_first = n_first;
  r.n_last = n_last;
  r.n_step = n_step;
  r.options = may_saturate;
  return r;
}

TW_HD constexpr mma_row wgmma_bit_row(int n_first, int n_last, int n_step) {
  mma_row r = wgmma_row(256, only_s32, only_b1, "Register Fragments for wgmma.mma_async.m64nNk256");
  r.n_first = n_first;
  r.n_last = n_last;
  r.n_step = n_step;
  r.options = 1U << static_cast<int>(mma_option::and_popc);
  return r;
}

TW_HD constexpr mma_row tcgen05_row(int m, int k, int n_first, int n_step, int ctas, mma_types d,
                                    mma_types ab, char const* section, bool mixed = false) {
  return {mma_arch::sm100, m,    k,    n_first,    256,  n_step, d,  ab,     mixed, true,
          false,           true, true, plain_only, ctas, {},     {}, section};
}
TW_HD constexpr mma_row scaled_tcgen05_row(int m, int k, int n_step, int ctas, mma_types ab,
                                           mma_types scale, int block, int other_block,
                                           char const* section) {
  mma_row r = tcgen05_row(m, k, n_step, n_step, ctas, only_f32, ab, section, k == 32);
  r.any_major = k == 32;  // 4-bit operands are K-major
  r.scale = scale;
  r.scale_blocks[0] = block;
  r.scale_blocks[1] = other_block;
  return r;
}
TW_HD constexpr mma_row tcgen05_int8_row(int m, int n_first, int n_last, int n_step, int ctas) {
  mma_row r = tcgen05_row(m, 32, n_first, n_step, ctas, only_s32, int8, "tcgen05, .kind::i8", true);
  r.n_last = n_last;
  r.options = may_saturate;
  return r;
}

inline constexpr char const* k16_16 = "Matrix Fragments for mma.m16n8k16 with floating point type";
inline constexpr char const* wgmma_k16 = "Register Fragments for wgmma.mma_async.m64nNk16";
inline constexpr char const* m8n8k4 =
    "Matrix Fragments for mma.m8n8k4 with .f16 floating point type";
inline constexpr char const* kind_f16 = "tcgen05, .kind::f16";
inline constexpr char const* kind_tf32 = "tcgen05, .kind::tf32";
inline constexpr char const* kind_f8 = "tcgen05, .kind::f8f6f4";
inline constexpr char const* kind_mxf8 = "tcgen05, .kind::mxf8f6f4";
inline constexpr char const* kind_mxf4 = "tcgen05, .kind::mxf4 and .kind::mxf4nvf4";

}  // namespace detail

/// The rows. Formats in the order D, then A and B.
inline constexpr mma_row mma_rows[] = {
    // One thread.
    {mma_arch::fma,
     1,
     1,
     1,
     1,
     1,
     mma_types::of(mma_type::f64),
     mma_types::of(mma_type::f64),
     false,
     false,
     true,
     false,
     false,
     1,
     1,
     {},
     {},
     "fma"},
    {mma_arch::fma,
     1,
     1,
     1,
     1,
     1,
     detail::only_f32,
     detail::only_f32,
     false,
     false,
     true,
     false,
     false,
     1,
     1,
     {},
     {},
     "fma"},
    {mma_arch::fma,
     1,
     1,
     1,
     1,
     1,
     detail::only_f16,
     detail::only_f16,
     false,
     false,
     true,
     false,
     false,
     1,
     1,
     {},
     {},
     "fma"},
    {mma_arch::sm61,
     1,
     4,
     1,
     1,
     1,
     detail::only_s32,
     detail::int8,
     true,
     false,
     true,
     false,
     false,
     1,
     1,
     {},
     {},
     "dp4a"},
    {mma_arch::sm61,
     1,
     2,
     1,
     1,
     1,
     detail::only_s32,
     mma_types::of(mma_type::s16),
     false,
     false,
     true,
     false,
     false,
     1,
     1,
     {},
     {},
     "dp2a"},
    // Eight threads: a quad pair.
    {mma_arch::sm70,
     8,
     4,
     8,
     8,
     8,
     detail::f16_f32,
     detail::only_f16,
     false,
     false,
     true,
     false,
     true,
     1,
     1,
     {},
     {},
     detail::m8n8k4},
    // A warp.
    detail::warp_row(mma_arch::sm75, 16, 8, detail::only_f32, detail::only_f16,
                     "Matrix Fragments for mma.m16n8k8"),
    detail::warp_row(mma_arch::sm75, 8, 16, detail::only_s32, detail::int8,
                     "Matrix Fragments for mma.m8n8k16", true, detail::may_saturate),
    detail::warp_row(mma_arch::sm80, 16, 8, detail::f16_f32, detail::only_f16,
                     "Matrix Fragments for mma.m16n8k8"),
    detail::warp_row(mma_arch::sm80, 16, 16, detail::f16_f32, detail::only_f16, detail::k16_16),
    detail::warp_row(mma_arch::sm80, 16, 8, detail::only_f32, detail::only_bf16,
                     "Matrix Fragments for mma.m16n8k8"),
    detail::warp_row(mma_arch::sm80, 16, 16, detail::only_f32, detail::only_bf16, detail::k16_16),
    detail::warp_row(mma_arch::sm80, 16, 4, detail::only_f32, detail::only_tf32,
                     "Matrix Fragments for mma.m16n8k4"),
    detail::warp_row(mma_arch::sm80, 16, 8, detail::only_f32, detail::only_tf32,
                     "Matrix Fragments for mma.m16n8k8"),
    detail::warp_row(mma_arch::sm80, 8, 4, detail::only_f64, detail::only_f64,
                     "Matrix Fragments for mma.m8n8k4 with .f64 floating point type"),
    detail::warp_row(mma_arch::sm80, 8, 4, detail::any_c64, detail::only_c64,
                     "Matrix Fragments for mma.m8n8k4 with .f64 floating point type"),
    detail::warp_row(mma_arch::sm80, 8, 16, detail::only_s32, detail::int8,
                     "Matrix Fragments for mma.m8n8k16", true, detail::may_saturate),
    detail::warp_row(mma_arch::sm80, 16, 16, detail::only_s32, detail::int8,
                     "Matrix Fragments for mma.m16n8k16 with integer type", true,
                     detail::may_saturate),
    detail::warp_row(mma_arch::sm80, 16, 32, detail::only_s32, detail::int8,
                     "Matrix Fragments for mma.m16n8k32", true, detail::may_saturate),
    detail::warp_row(mma_arch::sm80, 8, 32, detail::only_s32, detail::int4,
                     "Matrix Fragments for mma.m8n8k32", true, detail::may_saturate),
    detail::warp_row(mma_arch::sm80, 16, 32, detail::only_s32, detail::int4,
                     "Matrix Fragments for mma.m16n8k32", true, detail::may_saturate),
    detail::warp_row(mma_arch::sm80, 16, 64, detail::only_s32, detail::int4,
                     "Matrix Fragments for mma.m16n8k64", true, detail::may_saturate),
    detail::warp_row(mma_arch::sm80, 8, 128, detail::only_s32, detail::only_b1,
                     "Matrix Fragments for mma.m8n8k128", false, detail::popc),
    detail::warp_row(mma_arch::sm80, 16, 128, detail::only_s32, detail::only_b1,
                     "Matrix Fragments for mma.m16n8k128", false, detail::popc),
    detail::warp_row(mma_arch::sm80, 16, 256, detail::only_s32, detail::only_b1,
                     "Matrix Fragments for mma.m16n8k256", false, detail::popc),
    detail::warp_row(mma_arch::sm89, 16, 16, detail::f16_f32, detail::fp8,
                     "Matrix Fragments for mma.m16n8k16 with integer type", true),
    detail::warp_row(mma_arch::sm89, 16, 32, detail::f16_f32, detail::fp8,
                     "Matrix Fragments for mma.m16n8k32", true),
    detail::warp_row(mma_arch::sm90, 16, 4, detail::only_f64, detail::only_f64,
                     "Matrix Fragments for mma.m16n8k4"),
    detail::warp_row(mma_arch::sm90, 16, 8, detail::only_f64, detail::only_f64,
                     "Matrix Fragments for mma.m16n8k8"),
    detail::warp_row(mma_arch::sm90, 16, 16, detail::only_f64, detail::only_f64, detail::k16_16),
    detail::warp_row(mma_arch::sm90, 16, 4, detail::any_c64, detail::only_c64,
                     "Matrix Fragments for mma.m16n8k4"),
    detail::warp_row(mma_arch::sm90, 16, 8, detail::any_c64, detail::only_c64,
                     "Matrix Fragments for mma.m16n8k8"),
    detail::warp_row(mma_arch::sm90, 16, 16, detail::any_c64, detail::only_c64, detail::k16_16),
    // A warpgroup.
    detail::wgmma_row(16, detail::f16_f32, detail::only_f16, detail::wgmma_k16),
    detail::wgmma_row(16, detail::only_f32, detail::only_bf16, detail::wgmma_k16),
    detail::wgmma_row(8, detail::only_f32, detail::only_tf32,
                      "Register Fragments for wgmma.mma_async.m64nNk8"),
    detail::wgmma_row(32, detail::f16_f32, detail::fp8,
                      "Register Fragments for wgmma.mma_async.m64nNk32", true),
    detail::wgmma_int8_row(8, 32, 8),
    detail::wgmma_int8_row(48, 256, 16),
    detail::wgmma_bit_row(8, 32, 8),
    detail::wgmma_bit_row(48, 256, 16),
    // One CTA, or two with one instruction; accumulators in tensor memory.
    detail::tcgen05_row(64, 16, 8, 8, 1, detail::f16_f32, detail::only_f16, detail::kind_f16),
    detail::tcgen05_row(128, 16, 8, 8, 1, detail::f16_f32, detail::only_f16, detail::kind_f16),
    detail::tcgen05_row(128, 16, 16, 16, 2, detail::f16_f32, detail::only_f16, detail::kind_f16),
    detail::tcgen05_row(256, 16, 16, 16, 2, detail::f16_f32, detail::only_f16, detail::kind_f16),
    detail::tcgen05_row(64, 16, 8, 8, 1, detail::only_f32, detail::only_bf16, detail::kind_f16),
    detail::tcgen05_row(128, 16, 8, 8, 1, detail::only_f32, detail::only_bf16, detail::kind_f16),
    detail::tcgen05_row(128, 16, 16, 16, 2, detail::only_f32, detail::only_bf16, detail::kind_f16),
    detail::tcgen05_row(256, 16, 16, 16, 2, detail::only_f32, detail::only_bf16, detail::kind_f16),
    detail::tcgen05_row(64, 8, 8, 8, 1, detail::only_f32, detail::only_tf32, detail::kind_tf32),
    detail::tcgen05_row(128, 8, 8, 8, 1, detail::only_f32, detail::only_tf32, detail::kind_tf32),
    detail::tcgen05_row(128, 8, 16, 16, 2, detail::only_f32, detail::only_tf32, detail::kind_tf32),
    detail::tcgen05_row(256, 8, 16, 16, 2, detail::only_f32, detail::only_tf32, detail::kind_tf32),
    detail::tcgen05_row(64, 32, 8, 8, 1, detail::f16_f32, detail::f8f6f4, detail::kind_f8, true),
    detail::tcgen05_row(128, 32, 8, 8, 1, detail::f16_f32, detail::f8f6f4, detail::kind_f8, true),
    detail::tcgen05_row(128, 32, 16, 16, 2, detail::f16_f32, detail::f8f6f4, detail::kind_f8, true),
    detail::tcgen05_row(256, 32, 16, 16, 2, detail::f16_f32, detail::f8f6f4, detail::kind_f8, true),
    detail::tcgen05_int8_row(64, 8, 32, 8, 1),
    detail::tcgen05_int8_row(64, 48, 256, 16, 1),
    detail::tcgen05_int8_row(128, 8, 32, 8, 1),
    detail::tcgen05_int8_row(128, 48, 256, 16, 1),
    detail::tcgen05_int8_row(128, 32, 256, 32, 2),
    detail::tcgen05_int8_row(256, 32, 256, 32, 2),
    detail::scaled_tcgen05_row(128, 32, 8, 1, detail::f8f6f4, detail::only_ue8m0, 32, 0,
                               detail::kind_mxf8),
    detail::scaled_tcgen05_row(128, 32, 16, 2, detail::f8f6f4, detail::only_ue8m0, 32, 0,
                               detail::kind_mxf8),
    detail::scaled_tcgen05_row(256, 32, 16, 2, detail::f8f6f4, detail::only_ue8m0, 32, 0,
                               detail::kind_mxf8),
    detail::scaled_tcgen05_row(128, 64, 8, 1, detail::only_e2m1, detail::ue4m3_ue8m0, 16, 32,
                               detail::kind_mxf4),
    detail::scaled_tcgen05_row(128, 64, 16, 2, detail::only_e2m1, detail::ue4m3_ue8m0, 16, 32,
                               detail::kind_mxf4),
    detail::scaled_tcgen05_row(256, 64, 16, 2, detail::only_e2m1, detail::ue4m3_ue8m0, 16, 32,
                               detail::kind_mxf4),
    // A warp again: 8-bit containers, and block-scaled.
    detail::warp_row(mma_arch::sm120, 16, 32, detail::f16_f32, detail::f8f6f4,
                     "Matrix Fragments for mma.m16n8k32", true),
    detail::scaled_warp_row(32, detail::f8f6f4, detail::only_ue8m0, 32,
                            "Matrix Fragments for mma.m16n8k32"),
    detail::scaled_warp_row(64, detail::only_e2m1, mma_types::of(mma_type::ue4m3), 16,
                            "Matrix Fragments for mma.m16n8k64"),
    detail::scaled_warp_row(64, detail::only_e2m1, detail::only_ue8m0, 32,
                            "Matrix Fragments for mma.m16n8k64"),
};

inline constexpr int mma_row_count = sizeof(mma_rows) / sizeof(mma_rows[0]);

/// The row has this instruction.
TW_HD constexpr bool allows(mma_row const& r, mma_atom const& a) {
  bool const shape = a.arch == r.arch && a.m == r.m && a.k == r.k && a.n >= r.n_first &&
                     a.n <= r.n_last && (a.n - r.n_first) % r.n_step == 0 && a.ctas == r.ctas;
  bool const formats = r.d.has(a.d) && r.ab.has(a.a) && r.ab.has(a.b) && (r.mixed || a.a == a.b);
  bool const source = (a.a_from == mma_source::shared && r.shared_a) ||
                      (a.a_from == mma_source::registers && r.register_a) ||
                      (a.a_from == mma_source::tensor && r.tensor_a);
  bool const k_major = a.a_major == operand_major::k && a.b_major == operand_major::k;
  bool const a_in_place = a.a_from == mma_source::shared || a.arch == mma_arch::sm70;
  bool const narrow = (a.a_major == operand_major::mn && size_bits(a.a) < 8) ||
                      (a.b_major == operand_major::mn && size_bits(a.b) < 8);
  bool const major =
      k_major || (r.any_major && !narrow && (a.a_major == operand_major::k || a_in_place));
  bool const option = ((r.options >> static_cast<int>(a.option)) & 1U) != 0;
  bool const scaled = r.scale_blocks[0] != 0;
  bool const scale =
      scaled ? r.scale.has(a.scale) && a.scale_block != 0 &&
                   (a.scale_block == r.scale_blocks[0] || a.scale_block == r.scale_blocks[1]) &&
                   (a.scale != mma_type::ue4m3 || a.scale_block == 16)
             : a.scale == mma_type::none && a.scale_block == 0;
  return shape && formats && source && major && option && scale;
}

/// Index of the row that has this instruction, or -1.
TW_HD constexpr int find_row(mma_atom const& a) {
  constexpr auto const& rows = mma_rows;
  for (int i = 0; i < mma_row_count; ++i) {
    if (allows(rows[i], a)) return i;
  }
  return -1;
}

/// a, which must be an instruction [TW0211].
TW_HD constexpr mma_atom checked(mma_atom const& a) {
  if (find_row(a) < 0) refuse_mma_shape(a.n, a.m * 1000 + a.k);
  return a;
}

}  // namespace tw
