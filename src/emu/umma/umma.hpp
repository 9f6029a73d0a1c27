// SPDX-License-Identifier: Apache-2.0
// umma.hpp  The operands of a tcgen05.mma: its descriptors taken apart and checked, the places of
//           its operands and its accumulator, and its arithmetic.
//
// Fast arithmetic without scale factors: every element of D is a chain of fp32 fused multiply-adds,
// k ascending, as in the emulated wgmma (product.hpp); a f16 accumulator is rounded to nearest even
// after each instruction. A tensor core adds the products of an instruction in another order and
// with other widths; where all sums are exact both give the same bits. With scale factors the
// products of an instruction, their factors and D are summed in float64 and rounded once, to
// nearest even. sum_mode::exact is the published model of the tensor core, element by element
// (base/accumulator_bits.hpp). Rows 32 g to 32 g + 31 of D take the factors of A and B that are in
// lanes 32 g to 32 g + 31. Sources: PTX ISA, "Instruction Descriptor", "Shared Memory Descriptor",
// "Data Path Layout Organization", "Kind", "Matrix Shape".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emu/elements/tmem_area.hpp"
#include "emu/umma/tensor_state.hpp"
#include "emu/wgmma/product.hpp"
#include "tilewright/base/elem.hpp"

namespace tw::emu {

struct umma_shape {
  elem a = elem::bf16, b = elem::bf16, d = elem::f32;
  operand_major a_major = operand_major::k, b_major = operand_major::k;
  bool negate_a = false, negate_b = false;
  int m = 0, n = 0, k = 0;  // of the instruction, all CTAs together
  int ctas = 1;
  elem scale = elem::ue8m0;  // of scale factors
  int block = 0;             // elements of one; 0: no scale factors
  int sfa_id = 0, sfb_id = 0;
  bool dense = false;  // elements of 4 bits, two to a byte; otherwise 16 of them in 16 bytes

  int factors() const { return k / block; }  // of a row, in one instruction
  int rows() const { return m / ctas; }      // of A and D in one CTA
  /// Columns from N / 2 on lie in lanes from 64 on.
  bool halves() const { return ctas == 2 && m == 128; }
  /// Is column n of D in the lanes from 64 on?
  bool in_upper_lanes(int column) const { return halves() && column >= n / 2; }
  /// The row of B's scale factors that column n of D takes: each half of the lanes has its half.
  int row_of_sfb(int column) const { return halves() ? column % (n / 2) : column; }
  int columns_of_b() const { return n / ctas; }  // of B in the shared memory of one CTA
};

/// Of an element in shared memory, without the padding of 16 elements of 4 or 6 bits.
constexpr int container_bytes(elem e) { return size_bits(e) < 8 ? 1 : size_bytes(e); }

/// The instruction that the descriptor and the kind describe, or the rule that they break.
std::optional<std::string> decode_umma(umma_call const& call, umma_shape& shape);

/// The fault of the place of scale factors in a column, or nothing.
std::optional<std::string> check_factor_ids(umma_shape const& s);

/// The operand's place as a descriptor of wgmma, from which the canonical layouts are derived.
smem_desc as_wgmma_desc(std::uint64_t umma_descriptor);

/// The fault of an operand in shared memory, or nothing. name: 'A' or 'B'; extent: of one CTA.
std::optional<std::string> check_umma_operand(char name, std::uint64_t descriptor,
                                              operand_major major, elem type, int extent,
                                              std::uint32_t smem_base, std::uint32_t smem_bytes);

/// Where one CTA's part of the accumulator at `address` lies.
std::vector<tmem_area> umma_accumulator(umma_shape const& s, std::uint32_t address);
/// Where one CTA's part of A lies, in tensor memory.
std::vector<tmem_area> umma_a_in_tmem(umma_shape const& s, std::uint32_t address);

/// Where one CTA's scale factors lie: of its rows of A, or of all columns of B.
tmem_area umma_scales(umma_shape const& s, char operand, std::uint32_t address);

/// The fault of the source of a copy to tensor memory, or nothing.
std::optional<std::string> check_copy_source(tmem_copy_call const& call, std::uint32_t smem_base,
                                             std::uint32_t smem_bytes);
/// Address of 16 bytes of a copy's source: chunk 0 or 1 of a row.
std::uint32_t copy_source(tmem_copy_call const& call, int row, int chunk);
/// Where one CTA's copy lies.
std::vector<tmem_area> copied_areas(tmem_copy_call const& call);
/// Carries out a copy for one CTA.
void run_copy(tensor_memory& t, tmem_copy_call const& call, std::byte const* smem,
              std::uint32_t smem_base);

/// The shared memories of the CTAs that execute it: of the CTA whose D is computed, and of the
/// pair's CTAs by rank (one CTA: b[0] is own).
struct umma_memory {
  std::byte const* own;
  std::byte const* b[2];
  std::uint32_t base, bytes;
};

/// Carries out the calls, which differ in their descriptors' start alone, for one CTA.
void run_umma(tensor_memory& t, umma_shape const& s, umma_call const* const* calls, int count,
              umma_memory const& smem, sum_mode mode);
/// One call, bit for bit as the model of the tensor core has it.
void run_umma_exact(tensor_memory& t, umma_shape const& s, umma_call const& call,
                    umma_memory const& smem);
/// One call with scale factors, in the fast arithmetic.
void run_umma_scaled(tensor_memory& t, umma_shape const& s, umma_call const& call,
                     umma_memory const& smem);

}  // namespace tw::emu
