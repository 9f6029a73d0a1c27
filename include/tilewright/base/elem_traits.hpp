// SPDX-License-Identifier: Apache-2.0
// elem_traits.hpp  Properties of element types: the only place that distinguishes
//                  types. A new type has its row here; conversions, tile shapes, swizzle spans,
//                  instruction steps, boxes and words follow from it.
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

/// An IEEE-like format: exponent and mantissa bits, the largest finite magnitude, what overflow
/// becomes, and the NaN that CUDA writes. The last three are bit patterns without the sign. Formats
/// without infinity and NaN saturate, and a NaN becomes the largest number (PTX ISA, "cvt").
struct float_format {
  int exponent_bits = 0, mantissa_bits = 0;  // 0: not such a format
  std::uint32_t max_finite = 0, overflow = 0, nan = 0;

  TW_HD constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  TW_HD constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  TW_HD constexpr bool exists() const { return exponent_bits != 0; }
  TW_HD constexpr bool has_infinity() const { return overflow != nan && overflow != max_finite; }
};

/// Bytes that are the same for all types. PTX ISA, wgmma.mma_async, mma.sync and tcgen05.mma,
/// "Shape": K of one multiply; "Swizzling Modes": the widest span of a row; "Tensor-map": addresses
/// and strides that TMA takes are multiples of a chunk.
inline constexpr int mma_k_bytes = 32, widest_span_bytes = 128, tma_chunk_bytes = 16;
inline constexpr int register_bytes = 4;

/// Sizes in elements unless the name says otherwise. Source of mma_k and k_major_only: PTX ISA,
/// wgmma.mma_async, "Shape" and "Matrix fragments": K is 32 bytes; operands in shared memory other
/// than 16-bit ones are K-major.
struct elem_traits {
  int bits;           // in memory
  bool mma_operand;   // can be an operand of wgmma
  bool k_major_only;  // as an operand of wgmma
  accumulation sums;
  int promote_k;             // for f32_promoted
  float_format format = {};  // of signed floats
  float largest = 0;         // finite number, of types of 8 bits or fewer

  TW_HD constexpr int bytes() const { return bits / 8; }
  /// K of one wgmma or mma.sync.
  TW_HD constexpr int mma_k() const { return in_bytes(mma_k_bytes); }
  /// Elements in `n` bytes.
  TW_HD constexpr int in_bytes(int n) const { return n * 8 / bits; }
  /// The widest swizzle span: 128 bytes.
  TW_HD constexpr int span() const { return in_bytes(widest_span_bytes); }
  /// The granularity of TMA addresses: 16 bytes.
  TW_HD constexpr int chunk() const { return in_bytes(tma_chunk_bytes); }
  /// In a 32-bit register.
  TW_HD constexpr int per_register() const { return in_bytes(register_bytes); }
};

TW_HD constexpr elem_traits traits_of(elem e) {
  using enum accumulation;
  int const bits = size_bits(e);
  switch (e) {
    case elem::f32:
      return {bits, false, false, f32, 0, {8, 23, 0x7F7FFFFF, 0x7F800000, 0x7FFFFFFF}};
    case elem::tf32: return {bits, true, true, f32, 0, {8, 10, 0x3FBFF, 0x3FC00, 0x3FFFF}};
    case elem::f16: return {bits, true, false, f32, 0, {5, 10, 0x7BFF, 0x7C00, 0x7FFF}};
    case elem::bf16: return {bits, true, false, f32, 0, {8, 7, 0x7F7F, 0x7F80, 0x7FFF}};
    case elem::e4m3: return {bits, true, true, f32_promoted, 128, {4, 3, 0x7E, 0x7F, 0x7F}, 448};
    case elem::e5m2: return {bits, true, true, f32_promoted, 128, {5, 2, 0x7B, 0x7C, 0x7F}, 57344};
    case elem::s32: return {bits, false, false, s32, 0, {}};
    case elem::s8: return {bits, true, true, s32, 0, {}, 127};
    case elem::u8: return {bits, true, true, s32, 0, {}, 255};
    // Operands of tcgen05.mma and of block scaling, not of wgmma.
    case elem::e2m3: return {bits, false, false, f32, 0, {2, 3, 0x1F, 0x1F, 0x1F}, 7.5F};
    case elem::e3m2: return {bits, false, false, f32, 0, {3, 2, 0x1F, 0x1F, 0x1F}, 28};
    case elem::e2m1: return {bits, false, false, f32, 0, {2, 1, 0x7, 0x7, 0x7}, 6};
    case elem::ue8m0: return {bits, false, false, f32, 0, {}, 0x1p127F};
    case elem::ue4m3: return {bits, false, false, f32, 0, {}, 448};
  }
  return {8, false, false, f32, 0, {}};
}

/// 8-bit floats that the tensor cores multiply without block scales.
TW_HD constexpr bool is_fp8(elem e) { return traits_of(e).sums == accumulation::f32_promoted; }
TW_HD constexpr bool is_8_bit_integer(elem e) { return is_integer(e) && size_bits(e) == 8; }
/// Integers of both signs, and floats with a sign bit.
TW_HD constexpr bool is_signed(elem e) {
  return e != elem::u8 && e != elem::ue8m0 && e != elem::ue4m3;
}
/// The type of exact sums of integers: such a result is the sum itself.
TW_HD constexpr bool holds_integer_sums(elem e) { return is_integer(e) && size_bits(e) == 32; }
/// The type of sums and epilogues: such a result is stored without rounding.
TW_HD constexpr bool holds_float_sums(elem e) { return e == elem::f32; }
/// The type of sums of which two, of neighbouring columns, lie in a register.
TW_HD constexpr bool holds_half_sums(elem e) { return e == elem::f16; }
/// Two elements lie in a byte.
TW_HD constexpr bool packs_in_pairs(elem e) { return size_bits(e) == 4; }
/// The other type of a pair of which A may have one and B the other; else the type itself.
TW_HD constexpr elem other_of_pair(elem e) {
  switch (e) {
    case elem::e4m3: return elem::e5m2;
    case elem::e5m2: return elem::e4m3;
    case elem::s8: return elem::u8;
    case elem::u8: return elem::s8;
    default: return e;
  }
}
/// The type that the tensor core multiplies: tf32 for float32 operands.
TW_HD constexpr elem multiplied_type(elem e) { return e == elem::f32 ? elem::tf32 : e; }
TW_HD constexpr bool is_multiplied_as_tf32(elem e) { return multiplied_type(e) == elem::tf32; }
/// The type of an operand's tensor map: TMA rounds float32 where the map has the type tf32, and
/// copies words of tf32 as they are where it has float32.
TW_HD constexpr elem mapped_type(elem e) {
  return e == elem::f32 ? elem::tf32 : e == elem::tf32 ? elem::f32 : e;
}
/// The float with a sign whose other bits are this type's: e4m3 for ue4m3, else the type itself.
TW_HD constexpr elem with_sign(elem e) { return e == elem::ue4m3 ? elem::e4m3 : e; }
/// Bits of a float's word that are below its mantissa: 13 of tf32, else none.
TW_HD constexpr int bits_below_mantissa(elem e) {
  float_format const f = traits_of(with_sign(e)).format;
  return f.exists() ? size_bits(e) - f.bits() : 0;
}
/// Is an element of `narrow`, with zeros below it, the same number in `wide`? bf16 and tf32 in f32,
/// e5m2 in f16.
TW_HD constexpr bool is_upper_part(elem narrow, elem wide) {
  float_format const n = traits_of(narrow).format, w = traits_of(wide).format;
  return n.exists() && n.exponent_bits == w.exponent_bits && n.mantissa_bits <= w.mantissa_bits &&
         n.has_infinity() == w.has_infinity();
}

/// Floats that code outside of the tensor cores computes with: C, the bias, matrices to quantise
/// and results without scales.
TW_HD constexpr bool is_wide_float(elem e) {
  return e == elem::f32 || e == elem::f16 || e == elem::bf16;
}
/// f(elem_constant of a wide float).
template <class F>
constexpr decltype(auto) with_wide_float(elem e, F const& f) {
  if (e == elem::bf16) return f(elem_constant<elem::bf16>{});
  if (e == elem::f16) return f(elem_constant<elem::f16>{});
  return f(elem_constant<elem::f32>{});
}
/// Bytes of a wide float.
TW_HD constexpr int wide_float_bytes(elem e) { return e == elem::f32 ? 4 : 2; }

/// Scale factors that are powers of two alone: an exponent without a mantissa.
TW_HD constexpr bool is_exponent(elem e) { return e == elem::ue8m0; }
/// How many powers of two an element of a tensor of scales holds: 1, or 4 in 32 bits, as DeepGEMM
/// has them; 0: it holds none.
TW_HD constexpr int exponents_in(elem e) {
  return is_exponent(e) ? 1 : holds_integer_sums(e) ? 4 : 0;
}
/// The type of the scales in a tensor of this type: ue8m0 where a library stores them as u8.
TW_HD constexpr elem scale_type_of(elem of_tensor) {
  return of_tensor == elem::u8 ? elem::ue8m0 : of_tensor;
}
/// Scale factors with a mantissa, of 16 elements: their matrix has a second level (NVFP4).
TW_HD constexpr bool has_second_level(elem factor) { return factor == elem::ue4m3; }
/// Scales of tensors, rows and blocks of 128: float32, or powers of two.
TW_HD constexpr bool is_scale_type(elem e) { return e == elem::f32 || is_exponent(e); }
/// The type in which results are stored if nothing says otherwise: that of the operands, and of
/// tf32 the float32 that it is kept in; of 8-bit floats bf16, of 8-bit integers the sum.
TW_HD constexpr elem usual_result(elem operand) {
  if (is_fp8(operand)) return elem::bf16;
  if (is_8_bit_integer(operand)) return elem::s32;
  return operand == elem::tf32 ? elem::f32 : operand;
}
/// The NaN of a format of at most 8 bits, without the sign; of formats without NaN what a NaN
/// becomes. PTX ISA, "Alternate Floating-Point Data Formats".
TW_HD constexpr std::uint8_t nan_code(elem e) {
  if (is_exponent(e)) return 0xFF;
  return static_cast<std::uint8_t>(traits_of(with_sign(e)).format.nan);
}
/// Has a float format a NaN?
TW_HD constexpr bool has_nan(elem e) {
  float_format const f = traits_of(e).format;
  return !f.exists() || f.nan != f.max_finite;
}

/// Words through which memory of any type may be read and written: kernels move elements without
/// knowing their type, and other code may see the same memory as its own type.
namespace words {
using b8 [[gnu::may_alias]] = std::uint8_t;
using b16 [[gnu::may_alias]] = std::uint16_t;
using b32 [[gnu::may_alias]] = std::uint32_t;
using f32 [[gnu::may_alias]] = float;
}  // namespace words

/// `type` is the word of this many bytes. (A member, because may_alias is dropped from template
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
