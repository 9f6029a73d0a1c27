// SPDX-License-Identifier: Apache-2.0
// launch.hpp  Runs a kernel in the emulator.
#pragma once

#include <span>

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
  std::span<smem_object const> objects;  // of the kernel's shared memory, by offset
  bool plain_accesses_seen = false;      // the kernel was compiled with -fsanitize=thread
};
void run(grid const& g, void const* params, options const& o);

}  // namespace tw::emu

namespace tw {

/// Runs kernel K (params, threads, cluster, smem_bytes, run) over `ctas` CTAs; blocks until done.
/// Throws emu::fault.
template <class K, bool Seen = plain_accesses_seen>
void launch(int ctas, typename K::params const& p, emu::options const& o) {
  emu::run({.ctas = ctas,
            .cluster = K::cluster,
            .threads = K::threads,
            .smem_bytes = K::smem_bytes,
            .body = [](void const* q) { K::run(*static_cast<typename K::params const*>(q)); },
            .objects = emu::objects_of<K>(),
            .plain_accesses_seen = Seen},
           &p, o);
}

}  // namespace tw
