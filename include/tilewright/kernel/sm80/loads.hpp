// SPDX-License-Identifier: Apache-2.0
// loads.hpp  Copies of an operand's tiles to shared memory: 16 bytes by each cp.async, with zeros
//            where the matrix ends.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/sm80/params.hpp"
#include "tilewright/kernel/sm80/tiles.hpp"
#include "tilewright/layout/offset.hpp"

namespace tw {

/// An operand's extents as its copies see them: MN is M of A or N of B. With a gate it is the
/// number of gates.
struct sm80_extents {
  int mn, k;
};

/// Column j of D has its gate in column j * step of B, and what that multiplies `up` columns later.
struct sm80_gates {
  int step, up;
};

/// A thread's copies of the tiles (Mn, TileK) of an operand along K. Threads take the 16-byte
/// chunks of a line one after the other, then those of the next lines. With a gate groups of 8
/// columns of B take turns in the tile: 8 gates, and the 8 columns that they multiply. So the sums
/// of both are accumulators of the same thread.
template <sm80_config C, operand_major Major, int Mn, bool Gated = false>
class sm80_loads {
 public:
  static constexpr bool k_major = Major == operand_major::k;
  static constexpr layout tile = sm80_tile(Major, Mn, C.tile_k);  // (mn, k)
  static constexpr int bytes = Mn * C.tile_k * size_bytes(C.ab);
  static constexpr int chunks = (k_major ? C.tile_k : Mn) / C.chunk;  // of a line
  static constexpr int lines = k_major ? Mn : C.tile_k;
  static constexpr int lines_at_once = C.threads() / chunks;
  static constexpr int turns = lines / lines_at_once;
  static_assert(C.threads() % chunks == 0 && lines % lines_at_once == 0 && turns >= 1,
                "[TW0226] the threads of a CTA copy whole lines of each operand tile");
  static_assert(!Gated || (k_major && lines_at_once % 16 == 0),
                "[TW0226] with a gate B is K-major, and its columns are copied in groups of 16");
  static constexpr int step = Gated ? lines_at_once / 2 : lines_at_once;  // lines, or gates

  /// The tile whose first row or column, or gate, is `first`, of matrix `batch`.
  TW_DEVICE sm80_loads(sm80_operand const& x, sm80_extents e, int first, int batch,
                       sm80_gates gates = {1, 0})
      : line_(thread_id() / chunks),
        at_(C.chunk * (thread_id() % chunks)),
        left_k_(e.k),
        left_mn_(e.mn - first),
        to_(size_bytes(C.ab) * place(line_, at_)) {
    std::int64_t line = first + line_;  // of a K-major matrix
    if constexpr (Gated) {
      int const up = line_ / 8 % 2 * gates.up;
      line_ = line_ / 16 * 8 + line_ % 8;
      line = (first + line_) * gates.step + up;
    }
    std::int64_t const begin = k_major ? line * x.pitch + at_ : line_ * x.pitch + first + at_;
    from_ = matrix_of(x, batch) + begin * size_bytes(C.ab);
    line_step_ = step * (Gated ? gates.step : 1) * x.pitch * size_bytes(C.ab);
    tile_step_ = size_bytes(C.ab) * (k_major ? C.tile_k : C.tile_k * x.pitch);
  }

  /// Issues the copies of the next tile along K to `stage`.
  TW_DEVICE void issue(std::byte* stage) {
    int const inside = valid_bytes((k_major ? left_k_ : left_mn_) - at_);
    TW_UNROLL
    for (int i = 0; i < turns; ++i) {
      constexpr int size = size_bytes(C.ab);
      bool const is_line = line_ + i * step < (k_major ? left_mn_ : left_k_);
      auto const by =
          k_major ? parts_of<tile>(i * lines_at_once, 0) : parts_of<tile>(0, i * lines_at_once);
      std::uint32_t const to = (to_ ^ by.xored * size) + by.added * size;
      cp_async_cg(stage + to, from_ + i * line_step_, is_line ? inside : 0);
    }
    from_ += tile_step_;
    left_k_ -= C.tile_k;
  }

 private:
  std::byte const* from_;
  std::int64_t line_step_, tile_step_;  // bytes
  int line_, at_;         // the thread's first line, or gate, and its element of each line
  int left_k_, left_mn_;  // of the matrix, from the tile's first element on
  std::uint32_t to_;      // bytes from the beginning of a stage

  TW_DEVICE static std::byte const* matrix_of(sm80_operand const& x, int batch) {
    if (C.by_pointers() && x.matrices != nullptr)
      return static_cast<std::byte const*>(x.matrices[batch]);
    return static_cast<std::byte const*>(x.data) + batch * x.batch_stride * size_bytes(C.ab);
  }
  TW_DEVICE static std::uint32_t place(int line, int at) {
    return k_major ? offset<tile>(line, at) : offset<tile>(at, line);
  }
  /// Bytes of a chunk that are inside, where `left` elements are.
  TW_DEVICE static int valid_bytes(int left) {
    int const bytes = size_bytes(C.ab) * left;
    return bytes < 0 ? 0 : bytes < 16 ? bytes : 16;
  }
};

}  // namespace tw
