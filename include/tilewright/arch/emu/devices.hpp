// SPDX-License-Identifier: Apache-2.0
// devices.hpp  Launches on several emulated devices at once: kernel K on each of them with its own
//              parameters, and copies by copy engines.
//
// A launch belongs to its device: cta_id() and cta_count() are of the device, CTAs are resident if
// its SMs hold them, and accesses of scope gpu are ordered among the CTAs of the device alone. All
// devices share the memory of the process. device_layout::memory says which memory belongs to which
// device, and which of it peers may address.
//
// A queue of copies is carried out in order, at times that depend on emu::options::seed. A flag is
// a copy of 8 bytes: its reader owes an acquire of scope sys, and fence_proxy_async_global() before
// TMA reads bytes of the copies before it.
#pragma once

#include <span>
#include <vector>

#include "tilewright/arch/emu/launch.hpp"

namespace tw::emu {

/// A copy by a copy engine. flag: 8 bytes at a multiple of 8, which others read atomically.
struct engine_copy {
  void const* from;
  void* to;
  std::size_t bytes;
  bool flag = false;
  site where = site::here();
};

/// Copies of a device in order.
struct copy_queue {
  int device = 0;
  std::vector<engine_copy> copies;
};

/// Memory of a device.
struct device_memory {
  int device = 0;
  void const* begin = nullptr;
  std::size_t bytes = 0;
  bool window = false;  // peers may address it; else only the device does (E0132)
};

/// Devices that run a launch each at the same time.
struct device_layout {
  int devices = 1;
  std::vector<copy_queue> queues = {};
  std::vector<device_memory> memory = {};  // memory that is not listed is of all devices
};

/// Runs a grid of one device on each of them: device i with the i-th of `params`, which has
/// params_bytes for each. Throws `fault`.
void run_grid_on_devices(grid const& g, void const* params, options const& o,
                         device_layout const& layout);

/// Runs kernel K on device i with parameters p[i], over `ctas` CTAs each; blocks until all end.
/// layout: its `devices` are p.size(). The devices are equal. Throws emu::fault.
template <class K, bool Seen = plain_accesses_seen>
void launch_on_devices(extents3 ctas, std::span<typename K::params const> p, options const& o,
                       device_layout layout = {}) {
  layout.devices = static_cast<int>(p.size());
  run_grid_on_devices(
      {.ctas = ctas.count(),
       .cluster = K::cluster,
       .threads = K::threads,
       .smem_bytes = K::smem_bytes,
       .body = [](void const* q) { K::run(*static_cast<typename K::params const*>(q)); },
       .objects = objects_of<K>(),
       .plain_accesses_seen = Seen,
       .params_objects = objects_of_type<typename K::params>(),
       .params_bytes = sizeof(typename K::params),
       .extents = ctas},
      p.data(), o, layout);
}

/// As run(), on devices.
template <class K, bool Seen = plain_accesses_seen>
report run_on_devices(K, extents3 ctas, std::span<typename K::params const> p,
                      options const& o = {}, device_layout const& layout = {}) {
  report r;
  r.seed = o.seed;
  options counting = o;
  counting.counted = &r.counts;
  try {
    launch_on_devices<K, Seen>(ctas, p, counting, layout);
  } catch (fault const& f) {
    r.diagnoses = f.diagnoses();
  }
  if (o.counted != nullptr) o.counted->add(r.counts);
  return r;
}

}  // namespace tw::emu
