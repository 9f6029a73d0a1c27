// SPDX-License-Identifier: Apache-2.0
// options.hpp  How an emulated launch runs, and what it reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tilewright/arch/emu/banks.hpp"
#include "tilewright/arch/emu/site.hpp"
#include "tilewright/arch/emu/statistics.hpp"

namespace tw::emu {

/// When asynchronous work (TMA copies, wgmma groups) completes.
enum class async_policy : std::uint8_t {
  eager,   // at once
  lazy,    // only when no thread can run
  random,  // by seed
};

/// Whose proxy fence orders a plain access before one of TMA or wgmma.
enum class proxy_rule : std::uint8_t {
  /// The accessing thread's own, before its arrive: valid under every reading of PTX. For a
  /// cp.async: of any thread of the CTA that has waited for the copy.
  writer_side,
  on_path,  // any thread's on the way: PTX ISA, "Memory Consistency Model", read literally
};

/// The steps after which a tcgen05 operation is ordered after one of another thread.
enum class tensor_order : std::uint8_t {
  strict,   // tcgen05.fence on both sides of the synchronisation: PTX ISA read literally
  acquire,  // a barrier that releases and acquires, as CUTLASS relies on
};

class trace;

namespace hazard {
class global_memory;
}

/// Launches one after the other, as in a CUDA stream: what each has read and written.
struct stream {
  std::shared_ptr<hazard::global_memory> memory;
};

/// An array of the kernel, and a guard zone of margin_bytes before and after it: an access of the
/// guard zone is reported as out of bounds (E0052).
struct global_array {
  void const* begin = nullptr;
  std::size_t bytes = 0, margin_bytes = 0;
};

struct options {
  bool hazards = true;  // check the order of accesses, not only their values
  proxy_rule proxy = proxy_rule::writer_side;
  bool fence_after_reads = true;  // a TMA refill of what was read plainly needs the fence too
  bool provenance = true;         // operands of multiplies against the TMA loads that wrote them
  tensor_order tensor_fences = tensor_order::strict;
  bool bank_conflicts = false;  // E0041: an instruction takes twice the wavefronts it needs
  bool boxes_outside = false;   // E0040: a TMA box has no element inside its tensor
  int most_reports = 6;         // different hazards reported before the run stops
  async_policy policy = async_policy::eager;
  std::uint64_t seed = 1;
  bool random_warps = false;      // warp order by seed instead of round robin
  int os_threads = 0;             // 0: one per core
  int sms = 0;                    // SMs of the emulated device; 0: h100_sms (arch/limits.hpp)
  int ctas_per_sm = 1;            // CTAs that share the tensor memory of an SM: their tmem_alloc
                                  // take turns, and wait for columns that another one holds
  int live_clusters = 0;          // clusters live at once per OS thread; 0: what the SMs can hold
  double time_limit_seconds = 0;  // processor time of each OS thread (E0058); 0: no limit
  // true: a crash of the kernel is reported (E0059); the emulator installs signal handlers. Not
  // set: true for a user's kernel, false for a GEMM of the library.
  std::optional<bool> catch_crashes;
  bool exact_sums = false;  // wgmma adds bit for bit as a tensor core, and tcgen05.mma as its
                            // published model (base/accumulator_bits.hpp); slow. The environment
                            // variable TILEWRIGHT_EXACT_SUMS=1 sets it, too
  std::vector<global_array> arrays;  // of the kernel; none: accesses past an array are not found
  double expected_macs = 0;          // multiply-adds of the whole launch, for `progress`
  statistics* counted = nullptr;     // the operations of the run are added here
  trace* record = nullptr;  // records the launch for a timeline (trace.hpp); one OS thread then
  std::vector<bank_traffic>* banks = nullptr;  // what each instruction cost is added here
  stream* in = nullptr;                        // the launch belongs to this stream; null: to none
  bool pdl = false;  // it may start before its predecessor in the stream has finished
  std::function<void(double)> progress;  // share of expected_macs done; from any OS thread
  // Called 20 times a second in the thread of the caller. If it returns true, the launch ends and
  // throws `interrupted`; if it throws, the launch ends and throws that exception.
  std::function<bool()> interrupt;
};

/// A fault of the kernel: a code Ennnn (docs/errors), its name and a report.
struct diagnosis {
  std::string code;
  std::string kind;
  std::string text;
  site where = {};          // the access at fault
  site earlier = {};        // where there are two, the one before it
  std::string object = {};  // of shared memory, by name and offset
  int count = 1;            // how often it was seen
  // Who ran into it, where that is known.
  int cta = -1, thread = -1;
  std::string role = {};
  std::int64_t phase = -1;  // of the mbarrier concerned
};

/// "E0024 smem-race" and its text below, in lines of at most so many columns.
std::string to_text(diagnosis const& d, int columns = 100);

/// Thrown by launch when the kernel broke a rule. what() holds the reports.
class fault : public std::runtime_error {
 public:
  explicit fault(std::vector<diagnosis> d);
  std::vector<diagnosis> const& diagnoses() const { return diagnoses_; }

 private:
  std::vector<diagnosis> diagnoses_;
};

/// Thrown by a launch that options::interrupt has ended. Results are incomplete.
class interrupted : public std::runtime_error {
 public:
  interrupted() : std::runtime_error("the emulated launch was interrupted") {}
};

}  // namespace tw::emu
