// SPDX-License-Identifier: Apache-2.0
// device.cpp  Descriptions by name, and the nearest one of a GPU that has none.
#include "tilewright/device/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "device/embedded.hpp"

namespace tw {
namespace {

/// The calibration of `from` for `to`: rates of DRAM by the data sheets' bandwidths, those of all
/// SMs by their number, clocks by the largest clock, limits in bytes by L2's size, limits in CTAs
/// by the number of SMs. What is per SM and clock stays.
std::shared_ptr<calibration const> scaled(device const& from, device const& to) {
  calibration c = *from.model;
  double const sms = static_cast<double>(to.sm_count) / from.sm_count;
  double const clock = to.max_clock_mhz / from.max_clock_mhz;
  double const dram = to.dram_gb_per_s / from.dram_gb_per_s;
  double const l2 = static_cast<double>(to.l2_bytes) / static_cast<double>(from.l2_bytes);
  c.gemm.clock_ghz *= clock;
  for (double* x : {&c.gemm.load_bytes_per_clock, &c.gemm.load_bytes_per_clock_split_k}) *x *= sms;
  for (double* x :
       {&c.gemm.dram_bytes_per_us, &c.gemm.dram_bytes_per_us_once, &c.gemm.copy_bytes_per_us,
        &c.gemv.dram_bytes_per_us, &c.gemv.dram_bytes_per_us_columns, &c.gemv.dram_bytes_per_us_8,
        &c.gemv.dram_bytes_per_us_16})
    *x *= dram;
  c.gemv.sm_bytes_per_us *= clock;
  for (double* x : {&c.early_start.split_k_max_ctas, &c.early_start.cluster_k_min_ctas,
                    &c.early_start.single_tile_min_ctas, &c.l2_hints.b_evict_first_min_ctas,
                    &c.l2_hints.a_128_byte_min_ctas, &c.l2_hints.a_evict_normal_max_ctas})
    *x *= sms;
  for (double* x : {&c.gemm.kept_operand_bytes, &c.l2_hints.d_evict_first_min_bytes,
                    &c.l2_hints.operand_evict_first_max_d_bytes,
                    &c.l2_hints.b_evict_first_min_bytes, &c.l2_hints.b_evict_first_max_bytes,
                    &c.tile_order.l2_operand_bytes, &c.tile_order.small_operand_bytes})
    *x *= l2;
  return std::make_shared<calibration const>(c);
}

struct catalogue {
  std::vector<device> devices;
  std::vector<std::vector<std::string>> cuda_names;  // of each
};

catalogue const& all() {
  static catalogue const c = [] {
    catalogue made;
    for (embedded_device const& e : embedded_devices()) {
      device d = e.facts;
      if (e.calibration) {
        d.model = std::make_shared<calibration const>(*e.calibration);
        d.source = calibration_source::measured;
        d.calibrated_on = d.name;
      } else {
        device const& like = *std::ranges::find(made.devices, e.like, &device::id);
        d.model = scaled(like, d);
        d.source = calibration_source::data_sheet;
        d.calibrated_on = like.name;
      }
      made.devices.push_back(std::move(d));
      made.cuda_names.push_back(e.cuda_names);
    }
    return made;
  }();
  return c;
}

void put_sm_count(device& d, int sm_count) {
  d.sms_in_clusters_of_3 = d.sms_in_clusters_of_3 * sm_count / d.sm_count;
  d.sms_in_clusters_of_4 = d.sms_in_clusters_of_4 * sm_count / d.sm_count;
  d.sm_count = sm_count;
  d.tuning_table.clear();
  d.fallback_tuning_table.clear();
}

device const* find_by_cuda_name(std::string_view name) {
  for (std::size_t i = 0; i < all().devices.size(); ++i)
    if (std::ranges::find(all().cuda_names[i], name) != all().cuda_names[i].end())
      return &all().devices[i];
  return nullptr;
}

}  // namespace

std::optional<rejection> accept(device const& d) {
  if (d.sm_count < 1)
    return rejection{"TW0429", "SMs of the device", fmt::format("{}", d.sm_count), "1 or more",
                     "gpu_device() and emulated_device() tell them"};
  if (d.model == nullptr)
    return rejection{"TW0435", "performance model of " + d.name, "none", "a calibration",
                     "begin with a copy of known_device() or gpu_device()"};
  bool const rates = d.mma_flop_per_clock > 0 && d.smem_bytes_per_clock > 0 && d.sms_per_gpc > 0 &&
                     d.wgmma_ceiling_tflops > 0 && d.dram_ceiling_gb_per_s > 0;
  if (!rates)
    return rejection{"TW0435", "rates of " + d.name, "zero or less", "positive rates",
                     "begin with a copy of known_device() or gpu_device()"};
  return std::nullopt;
}

std::span<device const> known_devices() { return all().devices; }

device const& known_device(std::string_view id_or_name) {
  for (device const& d : all().devices)
    if (d.id == id_or_name || d.name == id_or_name) return d;
  if (device const* const d = find_by_cuda_name(id_or_name)) return *d;
  std::string ids;
  for (device const& d : all().devices) ids += (ids.empty() ? "" : ", ") + d.id;
  throw rejected({"TW0434", "device", std::string(id_or_name), "one of " + ids,
                  "a new device is a file in devices/ (docs/devices.md)"});
}

device with_sm_count(device d, int sm_count) {
  if (sm_count != d.sm_count) put_sm_count(d, sm_count);
  return d;
}

std::optional<device> describe(reported_device const& r) {
  device const* const known = find_by_cuda_name(r.name);
  if (known != nullptr && known->source == calibration_source::measured)
    return with_sm_count(*known, r.sm_count);
  device const* nearest = known;
  if (nearest == nullptr)
    for (device const& d : all().devices) {
      if (d.compute_capability != r.compute_capability) continue;
      auto const away = [&](device const& x) { return std::abs(x.sm_count - r.sm_count); };
      if (nearest == nullptr || away(d) < away(*nearest)) nearest = &d;
    }
  if (nearest == nullptr) return std::nullopt;
  device d = *nearest;
  d.name = r.name;
  if (r.sm_count != d.sm_count) put_sm_count(d, r.sm_count);
  if (r.l2_bytes > 0) d.l2_bytes = r.l2_bytes;
  if (r.max_smem_bytes_per_cta > 0) d.max_smem_bytes_per_cta = r.max_smem_bytes_per_cta;
  if (r.max_clock_mhz > 0) d.max_clock_mhz = r.max_clock_mhz;
  d.model = scaled(*nearest, d);
  d.source = calibration_source::data_sheet;
  d.tuning_table.clear();
  d.fallback_tuning_table.clear();
  if (known == nullptr) d.calibration_note = "not fitted: data sheet of " + nearest->name;
  return d;
}

std::string label(device const& d) {
  auto const whole = std::ranges::find(all().devices, d.id, &device::id);
  std::string text = d.name;
  if (whole == all().devices.end()) return text;
  if (d.sm_count != whole->sm_count)
    text += fmt::format(" with {} SM{}", d.sm_count, d.sm_count == 1 ? "" : "s");
  if (d.source == calibration_source::data_sheet)
    text += fmt::format(" (calibration: data sheet of {}, scaled from {}; not measured)",
                        whole->name, d.calibrated_on);
  return text;
}

}  // namespace tw
