// SPDX-License-Identifier: Apache-2.0
// explain.hpp  Does a tile, an instruction, a copy and a shared-memory layout go together? Why not,
//              and what does?
//
//     explain(parse_combination({"tile=192x192", "mma=m64n96k16", "warpgroups=2",
//                                "copy=stmatrix.x4", "smem=SW128", "dtype=f16"}))
//
// D (arch sm90): the sums of a tiled wgmma go from registers to the tile of D in shared memory. The
// copy says which thread writes which cells: a layout from (thread, value) to the cells of one step
// of the tile. The combination works where the algebra gives its composition with the tile's
// layout, divided into steps; then a thread's addresses are a shape:stride layout under a swizzle.
// Where it refuses, no such layout exists, and the geometry says why.
// A, B (arch sm80): cp.async fills the tile, ldmatrix reads it; the shared-memory atom must divide
// the tile, hold whole chunks of the copy, and keep both free of bank conflicts.
// Needs:    words KEY=VALUE [TW0250] with known values [TW0251], each key once and none missing
//           [TW0252], that belong together [TW0253]
// Ensures:  works == the composition exists; every alternative was decided by the same functions
// Example:  tests/atom/explain_test.cpp; docs/explain.md
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/atom/choose.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/base/elem.hpp"

namespace tw {

enum class copy_kind : std::uint8_t { store, stmatrix, cp_async };

/// How elements move. store: st.shared of `bits`; stmatrix: `count` 8x8 matrices; cp_async: `bits`
/// from global to shared memory.
struct copy_choice {
  copy_kind kind = copy_kind::stmatrix;
  int bits = 128;  // each address takes this many
  int count = 4;   // matrices of stmatrix
  bool transposed = false;
  bool operator==(copy_choice const&) const = default;
};

/// "stmatrix.x4.trans", "st.32", "cp.async.128".
std::string name(copy_choice const& c);
/// "SW128", "SW64", "SW32", "NONE".
std::string word_of(smem_swizzle s);

/// The query.
struct combination {
  int arch = 90;
  char operand = 'D';
  i64 rows = 0, columns = 0;                    // D: M x N; A: M x K; B: N x K
  operand_major contiguous = operand_major::k;  // k: along a row, mn: along a column
  elem type = elem::f16;                        // in shared memory
  copy_choice copy;
  std::optional<smem_swizzle> smem;  // none: `smem_text`, or the widest that works
  std::string smem_text;             // a layout of the tile, or a block to fill it with
  int mma_n = 0, mma_k = 16;         // of m64nNkK
  int groups_m = 0, groups_n = 0;    // warpgroups along M and N
  bool by_turns = false;             // warpgroups along N take turns every 8 columns
  bool operator==(combination const&) const = default;
};

/// The cost of a combination, counted over every access; numbers that do not apply are 0.
struct combination_cost {
  i64 copies = 0;         // copy instructions of a thread for the whole tile
  i64 wavefronts = 0;     // shared-memory wavefronts of the copies of all warps
  i64 ideal = 0;          // the same without bank conflicts
  i64 sums = 0;           // accumulator registers of a thread
  i64 addresses = 0;      // different addresses that a thread keeps: the others are a constant away
  i64 boxes = 0;          // TMA stores of the tile
  i64 wgmmas = 0;         // instructions of a warpgroup for each k step
  i64 operand_bytes = 0;  // shared memory that they read for each k step, all warpgroups
  std::optional<int> measured;  // registers that nvcc 13.0 gives such a kernel
  bool operator==(combination_cost const&) const = default;
};

/// One combination decided.
struct decision {
  bool works = false;
  std::optional<rejection> why;     // the rule that refuses
  std::string operation;            // the expression that it refused, for `tilewright layout`
  layout tile;                      // the tile in shared memory, where there is one
  std::optional<layout> partition;  // (thread, value, steps) -> offset
  combination_cost cost;
};

struct alternative {
  std::string change;  // "smem=SW64"
  decision result;
};

/// One read or write of an operand's tile: instruction, wavefronts and ideal.
struct access_figures {
  std::string layout_name;
  i64 copy_wavefronts = 0, copy_ideal = 0, read_wavefronts = 0, read_ideal = 0, bytes = 0;
};

struct explanation {
  combination asked;
  decision result;
  std::vector<std::string> geometry;  // at most 10 lines
  std::vector<alternative> alternatives;
  std::vector<access_figures> accesses;  // sm80
  std::vector<std::string> notes;
};

/// Reads KEY=VALUE words. Throws `rejected` (TW0250 to TW0253).
combination parse_combination(std::vector<std::string> const& words);
/// The words again, the shortest that parse to the same.
std::string to_words(combination const& c);

/// Decides one combination of D.
decision decide(combination const& c);
/// Decides, and looks for alternatives if it does not work.
explanation explain(combination const& c);
/// The answer as lines of at most 100 columns.
std::string to_text(explanation const& e);

}  // namespace tw
