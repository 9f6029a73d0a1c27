// SPDX-License-Identifier: Apache-2.0
// device.hpp  A GPU as a value: what plans, predictions and launches need to know of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tilewright/base/check.hpp"
#include "tilewright/device/calibration.hpp"

namespace tw {

/// Are the constants of the performance models fitted to measurements of this device, or scaled
/// from another one's by data sheet rates?
enum class calibration_source : std::uint8_t { measured, data_sheet };

/// A description. known_device() has those of devices/*.json; gpu_device() that of the GPU which is
/// there. All of it may be edited; copies share the calibration.
struct device {
  std::string id;    // "h200": the file in devices/, what `tilewright plan --device` takes
  std::string name;  // "NVIDIA H200", as CUDA reports it
  int compute_capability = 0;  // 90 for 9.0
  int sm_count = 0;
  int sms_per_gpc = 0;           // of most GPCs
  int sms_in_clusters_of_3 = 0;  // SMs that clusters of 3 CTAs can use at once, one CTA on an SM,
  int sms_in_clusters_of_4 = 0;  // and clusters of 4 and 8 (docs/decisions/0013, 0019)
  std::int64_t max_smem_bytes_per_cta = 0;  // CUDA C++ Programming Guide, "Compute Capabilities"
  std::int64_t smem_bytes_per_clock = 0;    // of an SM; the guide, "Shared Memory"
  std::int64_t mma_flop_per_clock = 0;      // of an SM: bf16 and f16, dense, float32 sums
  std::int64_t l2_bytes = 0;
  double max_clock_mhz = 0;          // data sheet
  double dram_gb_per_s = 0;          // data sheet; 10^9 bytes
  double wgmma_ceiling_tflops = 0;   // wgmma without loads; measured, or the data sheet's peak
  double dram_ceiling_gb_per_s = 0;  // reads; likewise

  calibration_source source = calibration_source::data_sheet;
  std::string calibrated_on{};     // "NVIDIA H200": the device whose measurements they come from
  std::string calibration_note{};  // date, data and regret of the fit
  std::shared_ptr<calibration const> model{};

  /// Plans are for the emulator: the process's GPU is not looked at (no CUDA call), and what was
  /// tuned on it does not apply.
  bool emulated = false;

  std::string tuning_table{};  // data/tuning: plans measured on this device; empty: none
  /// Plans measured on another device, taken where the own table lacks a problem; empty: none.
  std::string fallback_tuning_table{};
};

/// Nothing if plans can be made for this device; else TW0429 (SMs) or TW0435 (no model, or a rate
/// of zero).
std::optional<rejection> accept(device const& d);

/// All descriptions, those with a measured calibration first.
std::span<device const> known_devices();

/// The description with this id or name. Throws `rejected` TW0434 for other texts.
device const& known_device(std::string_view id_or_name);

/// `d` with another number of SMs, as a MIG instance or an emulated device has it. Models and
/// rates are those of the whole device; no tuning table applies.
/// sm_count < 1 is refused when a plan is made (TW0429).
device with_sm_count(device d, int sm_count);

/// The properties of a GPU that its driver reports.
struct reported_device {
  std::string name;
  int compute_capability = 0;
  int sm_count = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t max_smem_bytes_per_cta = 0;
  double max_clock_mhz = 0;  // 0: not reported
};

/// The description of a known name; else the nearest data sheet of the same compute capability (by
/// number of SMs), with the reported facts, rates scaled to them and no tuning table.
/// Nothing if no description has this compute capability.
std::optional<device> describe(reported_device const& r);

/// "NVIDIA H200", "NVIDIA H200 with 4 SMs", "NVIDIA H20 (calibration: data sheet, scaled from
/// NVIDIA H200; not measured)": for which device a prediction holds.
std::string label(device const& d);

}  // namespace tw
