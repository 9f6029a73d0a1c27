// SPDX-License-Identifier: Apache-2.0
// groups.hpp  GEMMs of groups with sizes in device memory: which extent the groups divide, and
//             how the array in device memory states their sizes.
#pragma once

#include <cstdint>

namespace tw {

/// Which extent of D = A B the groups divide, and which operand has a matrix for each group:
///
///   axis    A                B               D
///   m       (total, K)       G of (K, N)     (total, N)
///   n       G of (M, K)      (K, total)      (M, total)
///   k       (M, total)       (total, N)      G of (M, N)
enum class group_axis : std::uint8_t { none, m, n, k };
inline constexpr char const* group_axis_names[] = {"none", "m", "n", "k"};
/// In the transposed problem.
constexpr group_axis transposed(group_axis a) {
  return a == group_axis::m ? group_axis::n : a == group_axis::n ? group_axis::m : a;
}

/// The numbers of the array, for G groups:
///   ends     the index after each group's last row: G numbers, ascending (torch's offs)
///   starts   the first row of each group, then the end of the last one: G + 1 (cu_seqlens)
///   sizes    the number of rows of each group, which follow each other from row 0: G (JAX)
///   counts   slots: each operand has a matrix for each group, and the first rows (axis m) or
///            columns (axis n) of it are used: G numbers (DeepGEMM's masked layout)
///   rows     the group of each row (axis n: column), -1 of none (DeepGEMM's contiguous layout). A
///            group begins at a multiple of 128, and its rows come before the rows of none that
///            fill its last 128. The first row of each 128 is read, and a group's last one
enum class group_form : std::uint8_t { ends, starts, sizes, counts, rows };
inline constexpr char const* group_form_names[] = {"ends", "starts", "sizes", "counts", "rows"};
/// Where groups of the form `rows` begin: multiples of this.
inline constexpr int group_alignment = 128;

/// A status of the groups from this bit on: with the index of a number of gather or scatter that
/// names no row. Of several the largest.
inline constexpr std::uint32_t bad_index_status = std::uint32_t{1} << 31;

/// More groups than a kernel's table in shared memory has are refused.
inline constexpr int max_groups = 1024;
/// Bytes of that table (pipeline/group_table.hpp).
inline constexpr int group_table_bytes = 2 * 4 * (max_groups + 1);

/// The groups of a problem. Their sizes are in device memory, in an operand; the host has their
/// number and the total, which is the extent that they divide (M, N or K of the problem); of slots
/// that extent is the number of rows, or columns, that each has.
struct group_desc {
  group_axis axis = group_axis::m;
  group_form form = group_form::ends;
  std::int64_t count = 0;          // G
  std::int64_t expected_size = 0;  // of a group, for the planner; 0: total / G
  int index_bits = 32;             // of a number of the array, which is signed: 32 or 64
  bool alpha = false;              // each group has an alpha in an operand, times the problem's

  /// Groups of K with block scales of 128 along K: the blocks that the array of scales has, of
  /// all groups, each of which begins a block. ceil(K / 128) or more; groups of this K have at most
  /// floor((K + 127 G) / 128). Of sizes that have more, the last groups use scales of others.
  std::int64_t scale_blocks = 0;

  /// Not 0: index i of the extent that groups divide has row gather[i] / choices of A (axis n:
  /// column of B), which has `gather_from` rows. Several indices may have the same row.
  std::int64_t gather_from = 0;
  std::int64_t choices = 1;  // numbers of pairs (token, choice) become numbers of tokens
  /// Not 0: the row of D of index i is row scatter[i] (axis n: column) of `scatter_to`; C has the
  /// rows of D, and row scatter[i] of C is added.
  std::int64_t scatter_to = 0;

  constexpr bool slots() const { return form == group_form::counts; }
  /// Numbers in the array, of groups that divide `extent`.
  constexpr std::int64_t numbers(std::int64_t extent) const {
    return form == group_form::rows ? extent : count + (form == group_form::starts ? 1 : 0);
  }
  bool operator==(group_desc const&) const = default;
};

}  // namespace tw
