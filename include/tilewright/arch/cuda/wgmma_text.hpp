// SPDX-License-Identifier: Apache-2.0
// wgmma_text.hpp  The parts of a wgmma's text that types and majors decide. The tables beside this
//                 file state the types; operands of 16 bits alone have majors in the instruction.
#pragma once

#include "tilewright/arch/wgmma_kind.hpp"
#include "tilewright/base/elem.hpp"

namespace tw::detail {

/// The text after m64nN, for example "k16.f32.bf16.bf16".
template <elem A, elem B, elem Sums, integer_overflow Overflow>
struct wgmma_types_text;

/// imm-trans-a and imm-trans-b, or imm-trans-b alone where A is in registers.
template <int TransA, int TransB>
struct wgmma_majors_text {
  static constexpr char majors[] = {',', ' ', '0' + TransA, ',', ' ', '0' + TransB, 0};
};
template <int TransB>
struct wgmma_majors_text<-1, TransB> {
  static constexpr char majors[] = {',', ' ', '0' + TransB, 0};
};
struct wgmma_no_majors_text {
  static constexpr char majors[] = "";
};

template <bool Has16Bits, int TransA, int TransB>
struct wgmma_majors : wgmma_majors_text<TransA, TransB> {};
template <int TransA, int TransB>
struct wgmma_majors<false, TransA, TransB> : wgmma_no_majors_text {};

/// TransA is -1 where A is in registers.
template <elem A, elem B, elem Sums, integer_overflow Overflow, int TransA, int TransB>
struct wgmma_text : wgmma_types_text<A, B, Sums, Overflow>,
                    wgmma_majors<size_bits(A) == 16, TransA, TransB> {};

}  // namespace tw::detail
