// SPDX-License-Identifier: Apache-2.0
// banks.hpp  Wavefronts of one warp-wide access to shared memory, from addresses and a width.
//
// Shared memory has 32 banks of 4 bytes; the word at byte address a lies in bank a / 4 % 32. A
// wavefront takes one word from each bank, for any number of threads. An instruction is split into
// groups of threads, and a group needs as many wavefronts as one bank has different words:
//
//     8, 16, 32 bits      one group, the warp
//     64 bits             the half-warps; a load whose pairs agree: the warp
//     128 bits            the quarter-warps; a load whose pairs agree: the half-warps
//     ldmatrix, stmatrix  8 rows of 16 bytes, one group for each matrix
//
// "Pairs agree": in all of the warp, active threads t and t ^ 1 have the same address, or in all
// of it t and t ^ 2. Stores are never joined. Threads that name the same word share it, in loads
// and in stores.
// Source: CUDA C++ Programming Guide, "Shared Memory" (banks, same word); how wide accesses are
// split is in no manual and was measured on an H200 with Nsight Compute: docs/banks.md.
// Needs:    addresses >= 0 that are multiples of the width; widths of 1, 2, 4, 8, 16 bytes
// Law:      wavefronts >= ideal, both >= 1 if a thread takes part; permuting the threads of a group
//           changes neither, if the same pairs agree; nor does adding a multiple of 128 bytes
// Example:  tests/layout/banks_test.cpp
#pragma once

#include <cstdint>

#include "tilewright/base/hd.hpp"

namespace tw {

inline constexpr int bank_count = 32;
inline constexpr int bank_bytes = 4;
/// Bytes of a wavefront.
inline constexpr int wavefront_bytes = bank_count * bank_bytes;

/// Bank of a byte address.
TW_HD constexpr int bank_of(std::int64_t address) {
  return static_cast<int>(address / bank_bytes % bank_count);
}

/// The rule that splits the threads into groups. rows: eight 16-byte rows at a time, as
/// ldmatrix, stmatrix and wgmma read them.
enum class bank_rule : std::uint8_t { load, store, rows };

/// One instruction of a warp, or 8 rows: thread t touches [address[t], address[t] + bytes).
struct warp_access {
  std::int64_t address[32] = {};
  std::uint32_t active = 0;  // bit t: thread t takes part
  int bytes = 4;
  bank_rule rule = bank_rule::load;

  TW_HD constexpr bool takes_part(int thread) const { return ((active >> thread) & 1U) != 0; }
};

/// Where one thread's access goes. A vector lies in neighbouring banks, all of one wavefront.
struct bank_use {
  int bank = -1;       // the first one; -1: the thread takes no part
  int banks = 0;       // how many
  int group = -1;      // which group of the instruction
  int wavefront = -1;  // which wavefront of the instruction; an order that the count allows
};

/// Threads of one group that want different words of the same bank.
struct bank_collision {
  int group = 0;
  int bank = 0, banks = 0;    // the first bank, and how many banks collide in the same way
  int ways = 0;               // different words (vectors) in this bank: wavefronts it takes
  std::uint32_t threads = 0;  // the threads that want them
};

/// One access: counts for tables, places for pictures.
struct bank_report {
  int wavefronts = 0;
  int ideal = 0;   // if the same words were spread over the banks
  int groups = 0;  // that have an active thread
  bank_use thread[32] = {};
  bank_collision collision[16] = {};
  int collisions = 0;
};

namespace detail {

/// Active threads t and t ^ distance have the same address.
TW_HD constexpr bool pairs_agree(warp_access const& a, int distance) {
  for (int t = 0; t < 32; ++t) {
    int const other = t ^ distance;
    if (a.takes_part(t) && a.takes_part(other) && a.address[t] != a.address[other]) return false;
  }
  return true;
}

/// Threads in a group.
TW_HD constexpr int group_threads(warp_access const& a) {
  if (a.rule == bank_rule::rows) return 8;
  if (a.bytes <= bank_bytes) return 32;
  int const apart = wavefront_bytes / a.bytes;
  bool const joined = a.rule == bank_rule::load && (pairs_agree(a, 1) || pairs_agree(a, 2));
  return joined ? 2 * apart : apart;
}

/// Adds the group of threads [begin, end) to the report.
TW_HD constexpr void count_group(warp_access const& a, int begin, int end, bank_report& r) {
  int const unit = a.bytes < bank_bytes ? bank_bytes : a.bytes;  // of one vector
  int const columns = wavefront_bytes / unit;
  int most = 0, different = 0;
  int ways[bank_count] = {};
  for (int t = begin; t < end; ++t) {
    if (!a.takes_part(t)) continue;
    std::int64_t const vector = a.address[t] / unit;
    int const column = static_cast<int>(vector % columns);
    int rank = ways[column];  // among the different vectors of its column
    for (int u = begin; u < t; ++u) {
      if (!a.takes_part(u) || a.address[u] / unit != vector) continue;
      rank = r.thread[u].wavefront - r.wavefronts;
      break;
    }
    if (rank == ways[column]) {
      ++ways[column];
      ++different;
      if (ways[column] > most) most = ways[column];
    }
    r.thread[t] = {column * unit / bank_bytes, unit / bank_bytes, r.groups, r.wavefronts + rank};
  }
  if (different == 0) return;
  for (int column = 0; column < columns; ++column) {
    if (ways[column] < 2) continue;
    int const bank = column * unit / bank_bytes;
    bank_collision c{r.groups, bank, unit / bank_bytes, ways[column], 0};
    for (int t = begin; t < end; ++t) {
      if (r.thread[t].bank == bank) c.threads |= 1U << t;
    }
    r.collision[r.collisions++] = c;
  }
  r.wavefronts += most;
  r.ideal += (different + columns - 1) / columns;
  ++r.groups;
}

}  // namespace detail

/// Counts one access.
TW_HD constexpr bank_report count_banks(warp_access const& a) {
  bank_report r;
  int const threads = detail::group_threads(a);
  for (int begin = 0; begin < 32; begin += threads) {
    detail::count_group(a, begin, begin + threads, r);
  }
  return r;
}

/// Wavefronts of one access.
TW_HD constexpr int wavefronts(warp_access const& a) { return count_banks(a).wavefronts; }

}  // namespace tw
