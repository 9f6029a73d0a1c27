// SPDX-License-Identifier: Apache-2.0
// elem_traits.hpp  Properties of element types: the one place that distinguishes types
//                  apart. A new type has its row here; tile shapes, swizzle spans, instruction
//                  steps, boxes and words follow from it.
#pragma once

#include <cstdint>

#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// How the sums of a product of two such elements are kept.
enum class accumulation : std::uint8_t {
  f32,           // a float32 accumulator
  s32,           // exact, in 32 bits with wrap-around
  f32_promoted,  // the tensor core keeps fewer bits: every promote_k elements of K the sum is added
                 // to a float32 accumulator in registers
};

/// Sizes in elements unless the name says otherwise. Source of mma_k and k_major_only: PTX ISA,
/// wgmma.mma_async, "Shape" and "Matrix fragments": K is 32 bytes; operands in shared memory other
/// than 16-bit ones are K-major.
struct elem_traits {
  int bits;           // in memory
  bool mma_operand;   // can be an operand of wgmma
  bool k_major_only;  // as an operand of wgmma
  accumulation sums;
  int promote_k;  // for f32_promoted

  TW_HD constexpr int bytes() const { return bits / 8; }
  /// K of one wgmma or mma.sync.
  TW_HD constexpr int mma_k() const { return 256 / bits; }
  /// Elements in `n` bytes.
  TW_HD constexpr int in_bytes(int n) const { return n * 8 / bits; }
  /// The widest swizzle span: 128 bytes.
  TW_HD constexpr int span() const { return in_bytes(128); }
  /// The granularity of TMA addresses: 16 bytes.
  TW_HD constexpr int chunk() const { return in_bytes(16); }
  /// In a 32-bit register.
  TW_HD constexpr int per_register() const { return in_bytes(4); }
};

TW_HD constexpr elem_traits traits_of(elem e) {
  switch (e) {
    case elem::f32: return {32, false, false, accumulation::f32, 0};
    case elem::tf32: return {32, true, true, accumulation::f32, 0};
    case elem::f16: return {16, true, false, accumulation::f32, 0};
    case elem::bf16: return {16, true, false, accumulation::f32, 0};
    case elem::e4m3: return {8, true, true, accumulation::f32_promoted, 128};
    case elem::e5m2: return {8, true, true, accumulation::f32_promoted, 128};
    case elem::s32: return {32, false, false, accumulation::s32, 0};
    case elem::s8: return {8, true, true, accumulation::s32, 0};
    case elem::u8: return {8, true, true, accumulation::s32, 0};
    // Operands of tcgen05.mma and of block scaling, not of wgmma.
    case elem::e2m3: return {6, false, false, accumulation::f32, 0};
    case elem::e3m2: return {6, false, false, accumulation::f32, 0};
    case elem::e2m1: return {4, false, false, accumulation::f32, 0};
    case elem::ue8m0: return {8, false, false, accumulation::f32, 0};
    case elem::ue4m3: return {8, false, false, accumulation::f32, 0};
  }
  return {8, false, false, accumulation::f32, 0};
}

/// Words through which memory of any type may be read and written: kernels move elements without
/// knowing their type, and other code may see the same memory as its own type.
namespace words {
using b8 [[gnu::may_alias]] = std::uint8_t;
using b16 [[gnu::may_alias]] = std::uint16_t;
using b32 [[gnu::may_alias]] = std::uint32_t;
using f32 [[gnu::may_alias]] = float;
}  // namespace words

/// `type` is the word of so many bytes. (A member, for the attribute is lost on template
/// arguments.)
template <int Bytes>
struct word_of_bytes;
template <>
struct word_of_bytes<1> {
  using type = words::b8;
};
template <>
struct word_of_bytes<2> {
  using type = words::b16;
};
template <>
struct word_of_bytes<4> {
  using type = words::b32;
};

}  // namespace tw
