// SPDX-License-Identifier: Apache-2.0
// warp_unit.hpp  Instructions of a whole warp: stmatrix, ldmatrix, shuffles and mma.sync.
#pragma once

#include "emu/machine/state.hpp"

namespace tw::emu {

class machine;

class warp_unit {
 public:
  explicit warp_unit(machine& m) : m_(m) {}

  void matrix_store(void* row, std::uint32_t const* regs, int count, bool transposed, site where);
  void matrix_load(void const* row, std::uint32_t* regs, int count, bool transposed, site where);
  /// Each lane of `mask` brings `count` words and gets the words of all. all_must_run: also of
  /// lanes that have ended, for which the other lanes otherwise do not wait.
  void exchange(std::uint32_t const* mine, int count, char const* name, std::uint32_t mask,
                bool all_must_run, warp_words& all, site where);
  /// The lanes of the warp that have not ended are all here; which ones.
  std::uint32_t come_together(char const* name, site where);
  /// Lane `source` did not take part in the shuffle whose result is its value (E0070).
  void report_absent(char const* name, int source, std::uint32_t mask, site where);
  void report_width(char const* name, int width, site where);
  /// E0075 if the last lane of a warp has ended, and not all of them were at a stmatrix.
  void check_stores(thread const& last);
  /// The running thread has ended: who waits for its lane goes on.
  void left_by(thread const& t);

 private:
  using operation = std::list<warp_state::exchange_op>::iterator;

  /// The running thread comes to the operation, and waits until all its lanes have.
  operation join(std::uint32_t const* mine, int count, char const* name, std::uint32_t mask,
                 bool all_must_run, site where);
  /// The running thread goes on from there.
  void leave(operation op);
  void complete(warp_state& w, warp_state::exchange_op& op);

  machine& m_;
};

}  // namespace tw::emu
