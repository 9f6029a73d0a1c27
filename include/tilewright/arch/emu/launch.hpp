// SPDX-License-Identifier: Apache-2.0
// launch.hpp  Runs a kernel in the emulator.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/arch/emu/objects.hpp"
#include "tilewright/arch/emu/options.hpp"
#include "tilewright/base/hd.hpp"

namespace tw::emu {

/// The shape of a launch and the kernel's body for one thread.
struct grid {
  int ctas = 1, cluster = 1, threads = 1;
  int smem_bytes = 0;
  void (*body)(void const* params) = nullptr;
  std::span<smem_object const> objects;         // of the kernel's shared memory, by offset
  bool plain_accesses_seen = false;             // the kernel was compiled with -fsanitize=thread
  std::span<smem_object const> params_objects;  // of the kernel's parameters
  std::size_t params_bytes = 0;
  extents3 extents{0, 0, 0};  // of the CTAs, clusters along x; 0: all along x
};
/// Runs a grid; throws `fault`.
void run_grid(grid const& g, void const* params, options const& o);

/// The result of a run: for tests, EXPECT_TRUE(report.clean()) << report.text().
struct report {
  std::vector<diagnosis> diagnoses;
  statistics counts;
  std::vector<bank_traffic> banks;  // with options::bank_conflicts: by instruction, worst first
  std::uint64_t seed = 0;           // the run repeats exactly with the same options

  /// No hazard was found. It says nothing of ordinary loads and stores unless
  /// counts.plain_accesses_seen; text() and to_json() say so.
  bool clean() const { return diagnoses.empty(); }
  bool has(std::string_view code) const;
  /// The diagnoses in the order in which they came (with several OS threads, by code).
  std::string text() const;
};
/// The report as JSON: seed, plain_accesses_seen, diagnoses as in text() (code, kind, text, file,
/// line, thread, role, object, phase where they are known, count), bank traffic by instruction.
std::string to_json(report const& r);

}  // namespace tw::emu

namespace tw {

/// Runs kernel K (params, threads, cluster, smem_bytes, run) over `ctas` CTAs, whose x is a
/// multiple of the cluster; blocks until done. Throws emu::fault.
template <class K, bool Seen = plain_accesses_seen>
void launch(extents3 ctas, typename K::params const& p, emu::options const& o) {
  emu::run_grid({.ctas = ctas.count(),
                 .cluster = K::cluster,
                 .threads = K::threads,
                 .smem_bytes = K::smem_bytes,
                 .body = [](void const* q) { K::run(*static_cast<typename K::params const*>(q)); },
                 .objects = emu::objects_of<K>(),
                 .plain_accesses_seen = Seen,
                 .params_objects = emu::objects_of_type<typename K::params>(),
                 .params_bytes = sizeof(typename K::params),
                 .extents = ctas},
                &p, o);
}

}  // namespace tw

namespace tw::emu {

/// Runs kernel K over `ctas` CTAs with every check on, and returns what was found.
/// Example: examples/own_kernel/transpose_test.cpp
template <class K, bool Seen = plain_accesses_seen>
report run(K, extents3 ctas, typename K::params const& p, options const& o = {}) {
  report r;
  r.seed = o.seed;
  options counting = o;
  counting.counted = &r.counts;
  if (o.bank_conflicts) counting.banks = &r.banks;
  try {
    launch<K, Seen>(ctas, p, counting);
  } catch (fault const& f) {
    r.diagnoses = f.diagnoses();
  }
  if (o.counted != nullptr) o.counted->add(r.counts);
  if (o.banks != nullptr) o.banks->insert(o.banks->end(), r.banks.begin(), r.banks.end());
  return r;
}

}  // namespace tw::emu
