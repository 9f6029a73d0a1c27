// SPDX-License-Identifier: Apache-2.0
// product.hpp  The arithmetic of a wgmma group: D (64 x n) += A (64 x K) * B (K x n), step by step,
//              operands read from emulated shared memory through matrix descriptors.
//
// Meaning: every element of D is a chain of float32 fused multiply-adds, k ascending within a step
// and steps in order; a NaN result is 0x7FFFFFFF. Sums in f16 are rounded after each step (NaN:
// 0x7FFF). tf32 operands lose their low 13 bits. Integer sums are exact and wrap around, or
// saturate after each step. A tensor core adds the products of a step in another order and with
// other intermediate widths, so the last bits of float sums may differ from a GPU's; where
// all sums are exact (for example fractions of 8 bits) both give the same bits. sum_mode::exact is
// the slow arithmetic that has the tensor core's bits (exact_sum.hpp). Descriptors: PTX
// ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout". The swizzle acts on the address
// of each 16-byte chunk, so a start address may be advanced inside a swizzle atom. The base-offset
// field must be 0: atoms start at multiples of 8 swizzle spans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tilewright/arch/types.hpp"
#include "tilewright/arch/wgmma_kind.hpp"

namespace tw::emu {

/// One wgmma.mma_async.
struct wgmma_step_data {
  bool a_in_registers = false;
  std::uint32_t const* a_regs = nullptr;  // [128 threads][4], the fragment of A
  smem_desc a, b;
  bool accumulate = true;
};

/// Chains of float32 multiply-adds, or the bits of the tensor core.
enum class sum_mode : std::uint8_t { fast, exact };

/// Executes the steps in order on d, column-major words: d[row + 64 * column]. A word is a float,
/// an std::int32_t, or two f16 of columns 2 * column (low half) and 2 * column + 1. Address x of a
/// descriptor is smem[x - smem_base]. Returns what is wrong if a descriptor is malformed or an
/// operand leaves [smem_base, smem_base + smem_bytes); then d is unchanged and nothing was read.
/// smem_of_b: where B lies in another CTA's shared memory.
std::optional<std::string> run_wgmma_group(void* d, wgmma_form const& form,
                                           wgmma_step_data const* steps, int count,
                                           std::byte const* smem, std::uint32_t smem_base,
                                           std::uint32_t smem_bytes, sum_mode mode = sum_mode::fast,
                                           std::byte const* smem_of_b = nullptr);

/// The fault that run_wgmma_group would return; it carries out nothing.
std::optional<std::string> check_wgmma_group(wgmma_form const& form, wgmma_step_data const* steps,
                                             int count, std::uint32_t smem_base,
                                             std::uint32_t smem_bytes);

/// The instruction sets that have an own version; all give the same bits.
enum class product_isa : std::uint8_t { automatic, portable, avx2, avx512 };

/// True if this processor can run the version.
bool product_isa_available(product_isa isa);

/// For tests and benchmarks: the version that run_wgmma_group uses from now on, in all threads.
void select_product_isa(product_isa isa);

}  // namespace tw::emu
