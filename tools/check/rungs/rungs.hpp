// SPDX-License-Identifier: Apache-2.0
// rungs.hpp  The rungs of ladder as a list, and the faults that can be planted in them.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ladder/ladder.hpp"
#include "tilewright/arch/emu/launch.hpp"
#include "tilewright/pipeline/order.hpp"
#include "tools/check/mutants/reported_run.hpp"

namespace ladder {

/// A rung, compiled for the emulator with its loads and stores seen.
struct rung {
  int number;
  std::string_view name;    // of its file: "04_warp_specialised"
  std::string_view idea;    // a few words
  std::array<int, 3> tile;  // of which M, N and K are multiples; 1: any extent
  bool keeps_padding;       // of D's rows: TMA stores whole units of 16 bytes
  double l2_share;          // bytes read from L2 by those that TMA writes to shared memory
  emu::report (*run)(problem const&, emu::options const&);
  tile_order (*order)(problem const&) = nullptr;  // of the tiles of clusters, from rung 8 on
};

/// Rungs 1 to 11.
std::vector<rung> const& rungs();
std::vector<rung> first_rungs();   // 1 to 3
std::vector<rung> middle_rungs();  // 4 to 7
std::vector<rung> last_rungs();    // 8 to 11

/// Rungs 13 and 14, for Blackwell: not in rungs().
std::vector<rung> blackwell_rungs();

/// The steps inside of rungs 5, 6 and 8, which differ in one constant: not in rungs().
std::vector<rung> other_steps();

/// Experiments beside the rungs whose numbers they have: not in rungs().
std::vector<rung> side_rungs();
/// Those of them in which a fault can be planted.
std::vector<rung> breakable_side_rungs();

/// The row of a kernel's list. any_shape: it takes every M, N and K.
template <class Kernel>
rung row(int number, std::string_view name, std::string_view idea, bool any_shape = false) {
  double share = 1;
  if constexpr (requires { Kernel::a_rows; })
    share = static_cast<double>(Kernel::a_rows + Kernel::b_rows) / (Kernel::bm + Kernel::bn);
  std::array<int, 3> tile{Kernel::bm, Kernel::bn, Kernel::bk};
  if (any_shape) tile = {1, 1, 1};
  constexpr bool by_tma = requires { Kernel::d_part; };
  rung made{number, name, idea, tile, !by_tma, share, [](problem const& x, emu::options const& o) {
              return mutants::reported_run(Kernel{}, Kernel::ctas(x), Kernel::params_of(x), o);
            }};
  if constexpr (requires(problem const& x) { Kernel::order_of(x); })
    made.order = [](problem const& x) { return Kernel::order_of(x); };
  return made;
}

/// The row of a kernel that stores D by columns. It computes D^T[N,M] = B A^T, which by columns is
/// D by rows.
template <class Kernel>
rung by_columns(int number, std::string_view name, std::string_view idea, bool any_shape = false) {
  rung made = row<Kernel>(number, name, idea, any_shape);
  std::swap(made.tile[0], made.tile[1]);
  made.run = [](problem const& x, emu::options const& o) {
    problem exchanged = x;
    exchanged.a = x.b, exchanged.b = x.a;
    exchanged.m = x.n, exchanged.n = x.m;
    exchanged.lda = x.ldb, exchanged.ldb = x.lda;
    return mutants::reported_run(Kernel{}, Kernel::ctas(exchanged), Kernel::params_of(exchanged),
                                 o);
  };
  return made;
}

struct planted_bug {
  bug which;
  int rung;
  std::string_view name;                       // for --bug
  std::string_view change;                     // in words
  std::string_view code;                       // of the diagnosis
  std::array<int, 3> shape = {512, 512, 512};  // M, N, K that show it
  std::string_view side = {};                  // of an experiment of the rung
};
std::span<planted_bug const> bugs();
/// The kernel in which a bug is planted.
rung rung_of(planted_bug const& b);

}  // namespace ladder
