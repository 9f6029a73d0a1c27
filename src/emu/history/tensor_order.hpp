// SPDX-License-Identifier: Apache-2.0
// tensor_order.hpp  The accesses of a cluster's tensor memory, and where scale factors come from.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "emu/history/shadow.hpp"
#include "tilewright/arch/emu/launch.hpp"

namespace tw::emu {
struct thread;
}

namespace tw::emu::hazard {

/// A column of scale factors since the last copy to it.
struct factor_column {
  struct use {
    bool any = false;
    char operand = 0;
    std::int64_t k = 0, row = 0;  // of the operand's tile; or its address, and -1
    site where;
  };
  use of_byte[4];
  int type = -1;              // elem, if TMA brought them so
  std::uintptr_t source = 0;  // and where it took the first of them
  void const* tensor = nullptr;
  int matrix = 0;  // of a batch: the fourth coordinate
  site copied;
  bool stored = false;              // by tcgen05.st: the factors are what is there
  int value[4] = {-1, -1, -1, -1};  // of byte i of the copied words: the value other than 0 that
                                    // all rows have; 0: all rows have 0; -1: the rows differ
  bool constant_along_k = false;    // the four bytes of each word are equal
};
/// The factors that a CTA's multiplies took last for an operand: where they came from, and the K
/// block that they were taken for.
struct factor_place {
  std::uintptr_t source = 0;
  void const* tensor = nullptr;
  std::int64_t block = 0, row = 0;
  int matrix = 0, factor_matrix = 0;  // of a batch
  site where;
};
struct tensor_memory_order {
  std::vector<std::vector<factor_column>> factors;        // by CTA and column
  std::vector<std::array<factor_place, 2>> last_factors;  // by CTA, of A and B
  std::deque<shadow> cells;  // by CTA; 16 lanes of a column are one cell
  struct freed {
    int first, columns;
    record by;
  };
  std::vector<record> allocated;                  // by CTA: its newest allocation for a pair
  std::vector<std::vector<freed>> freed_by_peer;  // by CTA: columns that it has not given back
  /// Commits of threads that had issued nothing: they say nothing about the operations of others.
  struct empty_commit {
    thread const* by;
    component phases;  // of the mbarrier
    std::string object;
    site where;
  };
  std::vector<empty_commit> empty_commits;
  std::vector<component> loads, stores;            // by warp of the cluster; 0: none yet
  std::vector<std::array<std::uint32_t, 2>> tags;  // accumulators: address, N, M and kind
};

}  // namespace tw::emu::hazard
