// SPDX-License-Identifier: Apache-2.0
// banks.hpp  Counts the wavefronts of each instruction that touches shared memory.
//
// ldmatrix and stmatrix are warp-wide as they come. An ordinary load or store and a cp.async come
// thread by thread: the k-th execution of one instruction by each thread of a warp, counted from
// the last barrier that the warp came to, is one access of the warp.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tilewright/arch/emu/launch.hpp"
#include "tilewright/arch/emu/options.hpp"
#include "tilewright/layout/banks.hpp"

namespace tw::emu {

struct cluster_state;
struct thread;
struct warp_state;

/// Wavefronts of an instruction, and its first execution with twice the ideal number.
struct bank_finding {
  bank_traffic total;
  int bytes = 0;          // of one thread's access
  std::string object;     // empty: there was none
  std::string who;        // the warp
  std::string collision;  // its threads and banks
};

class bank_meter {
 public:
  /// Executions of one instruction between two barriers; more than these are not counted.
  static constexpr std::uint32_t most_open = 1024;

  explicit bank_meter(grid const& g) : grid_(g) {}

  /// MatrixOp: warp_state::matrix_op.
  template <class MatrixOp>
  void matrix(thread const& t, MatrixOp const& op, bool write, site where) {
    matrix(t, op.row, op.count, write, where);
  }
  /// [offset, offset + bytes) of the thread's own CTA.
  void plain(thread const& t, warp_state const& w, std::uint32_t offset, std::uint32_t bytes,
             bank_access what, site where);
  /// No thread of the cluster (null: of any) makes another access.
  void close(cluster_state const* c);
  std::vector<bank_finding> found() const;

 private:
  struct half_made {
    std::uint32_t offset[32];
    std::uint32_t lanes = 0;
  };
  struct round {  // the executions after one barrier
    std::uint32_t number = 0;
    std::vector<half_made> accesses;
  };
  struct series {  // one instruction of one warp
    std::vector<round> rounds;
    std::uint32_t round_of[32] = {}, next[32] = {};  // of each lane: its next execution
    int bytes = 0;
    bank_access what = bank_access::load;
    site where;
    thread const* first = nullptr;  // lane 0
  };
  using key = std::tuple<thread const*, char const*, int, std::uint32_t>;

  void matrix(thread const& t, std::byte* const* rows, int count, bool write, site where);
  void count(thread const& first, warp_access const& a, bank_access what, site where);
  void count(series const& s, round const& r);

  grid grid_;
  std::map<key, series> open_;
  std::map<std::tuple<char const*, int, bank_access>, bank_finding> found_;
};

/// "load", "stmatrix".
char const* name_of(bank_access a);
/// One entry for each line and kind of access whose instructions cost alike, worst first.
std::vector<bank_finding> merged(std::vector<bank_finding> all);
/// E0041 for each finding with at least twice the wavefronts that it needs.
std::vector<diagnosis> bank_diagnoses(std::vector<bank_finding> const& all);

}  // namespace tw::emu
