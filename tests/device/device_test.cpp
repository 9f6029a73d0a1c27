// SPDX-License-Identifier: Apache-2.0
// device_test.cpp  Descriptions of devices: which one a GPU gets, and what a data sheet scales.
#include "tilewright/device/device.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/family/family.hpp"

namespace tw::test {
namespace {

/// The code with which `action` is refused; empty: it is not.
template <class Action>
std::string refusal_of(Action&& action) {
  try {
    action();
  } catch (rejected const& r) {
    return r.why().code;
  }
  return "";
}

reported_device reported(std::string const& name, int sms) {
  return {name, 90, sms, 50'000'000, 232'448, 1980};
}

TEST(Device, EachDescriptionCanBePlannedForAndIsFoundByIdAndName) {
  std::set<std::string> ids;
  for (device const& d : known_devices()) {
    EXPECT_FALSE(accept(d)) << d.id;
    EXPECT_TRUE(ids.insert(d.id).second) << d.id;
    EXPECT_EQ(known_device(d.id).name, d.name);
    EXPECT_EQ(known_device(d.name).id, d.id);
    EXPECT_LE(d.sms_in_clusters_of_3, d.sm_count) << d.id;
    EXPECT_LE(d.sms_in_clusters_of_4, d.sm_count) << d.id;
  }
  EXPECT_EQ(known_devices()[0].source, calibration_source::measured);
  EXPECT_EQ(refusal_of([] { known_device("h201"); }), "TW0434");
}

TEST(Device, AKnownNameHasItsDescription) {
  device const d = describe(reported("NVIDIA H200", 132)).value();
  EXPECT_EQ(d.id, "h200");
  EXPECT_EQ(d.source, calibration_source::measured);
  EXPECT_EQ(d.model, known_device("h200").model);
  EXPECT_EQ(label(d), "NVIDIA H200");
}

TEST(Device, APartOfItsSmsHasNoTuningTableAndSaysHowManyItHas) {
  device const d = describe(reported("NVIDIA H200", 60)).value();
  EXPECT_EQ(d.sm_count, 60);
  EXPECT_EQ(d.tuning_table, "");
  EXPECT_EQ(label(d), "NVIDIA H200 with 60 SMs");
  EXPECT_EQ(d.sms_in_clusters_of_4, 60 * 120 / 132);
  EXPECT_EQ(with_sm_count(known_device("h200"), 1).sm_count, 1);
  EXPECT_EQ(accept(with_sm_count(known_device("h200"), 0)).value().code, "TW0429");
}

TEST(Device, AnUnknownNameHasTheNearestDataSheetAndSaysSo) {
  device const d = describe(reported("NVIDIA H100 96GB", 120)).value();
  EXPECT_EQ(d.source, calibration_source::data_sheet);
  EXPECT_EQ(d.sm_count, 120);
  EXPECT_EQ(d.tuning_table, "");
  EXPECT_NE(label(d).find("NVIDIA H100 96GB"), std::string::npos) << label(d);
  EXPECT_NE(label(d).find("not measured"), std::string::npos) << label(d);
  EXPECT_NE(d.calibration_note.find("data sheet of"), std::string::npos);
  EXPECT_EQ(describe({"NVIDIA A100-PCIE-40GB", 80, 108, 0, 0, 0}).value().id, "a100");
  EXPECT_FALSE(describe({"Tesla T4", 75, 40, 0, 0, 0}));
}

/// Rates of whole devices follow the data sheets; what is per SM and clock stays.
TEST(Device, ADataSheetScalesTheMeasuredCalibration) {
  int scaled = 0;
  for (device const& d : known_devices()) {
    if (d.source == calibration_source::measured) continue;
    device const& from = known_device(d.calibrated_on);
    auto const &to = *d.model, &of = *from.model;
    double const sms = static_cast<double>(d.sm_count) / from.sm_count;
    EXPECT_NEAR(to.gemm.dram_bytes_per_us / of.gemm.dram_bytes_per_us,
                d.dram_gb_per_s / from.dram_gb_per_s, 1e-9)
        << d.id;
    EXPECT_NEAR(to.gemm.load_bytes_per_clock / of.gemm.load_bytes_per_clock, sms, 1e-9) << d.id;
    EXPECT_NEAR(to.gemm.clock_ghz / of.gemm.clock_ghz, d.max_clock_mhz / from.max_clock_mhz, 1e-9);
    EXPECT_EQ(to.gemm.load_bytes_per_clock_sm, of.gemm.load_bytes_per_clock_sm) << d.id;
    EXPECT_EQ(to.gemm.efficiency, of.gemm.efficiency) << d.id;
    EXPECT_NEAR(to.l2_hints.b_evict_first_min_ctas, of.l2_hints.b_evict_first_min_ctas * sms, 1e-9);
    ++scaled;
  }
  EXPECT_GT(scaled, 0);
}

gemm_problem square(std::int64_t n) {
  gemm_problem p;
  p.m = p.n = p.k = n;
  p.a = {elem::bf16, order::row_major, n};
  p.b = {elem::bf16, order::col_major, n};
  p.d = {elem::bf16, order::row_major, n};
  return p;
}
gemm_operands operands() {
  auto* const p = reinterpret_cast<void*>(std::uintptr_t{0x1000});
  return {p, p, nullptr, p, p, std::int64_t{64} << 20};
}

/// A device with slower tensor cores, DRAM or fewer SMs is predicted to be slower where that
/// limits.
TEST(Device, PredictionsFollowTheDevice) {
  device slow = known_device("h200");
  double const us = plan_gemm(square(8192), operands(), slow).predicted_us;
  slow.mma_flop_per_clock /= 4;
  slow.tuning_table.clear();
  EXPECT_GT(plan_gemm(square(8192), operands(), slow).predicted_us, 3 * us);
  gemm_problem row = square(8192);
  row.m = 1;
  auto const row_us = [&](char const* id) {
    return plan_gemm(row, operands(), known_device(id)).predicted_us;
  };
  EXPECT_GT(row_us("h100_pcie"), 1.8 * row_us("h200"));  // 2.0 instead of 4.8 TB/s
}

/// A plan's own prediction is that of the device it was made for.
TEST(Device, APlanCanBePredictedForAnyDevice) {
  for (std::int64_t const rows : {1, 77, 4096}) {
    gemm_problem p = square(4096);
    p.m = rows;
    int compared = 0;
    for (gemm_plan const& plan : plan_candidates(p, operands(), known_device("h100_pcie"))) {
      EXPECT_DOUBLE_EQ(predicted_us(plan, known_device("h100_pcie")), plan.predicted_us)
          << plan.kernel;
      EXPECT_LT(predicted_us(plan, known_device("h200")), plan.predicted_us) << plan.kernel;
      ++compared;
    }
    EXPECT_GT(compared, 10);
  }
}

TEST(Device, OnlyTheDeviceOfATuningTableHasItsMeasuredPlans) {
  gemm_problem const p = square(4096);
  EXPECT_EQ(plan_gemm(p, operands(), known_device("h200")).source, plan_source::table_of_winners);
  for (device const& d : known_devices())
    if (d.tuning_table.empty()) {
      gemm_plan const plan = plan_gemm(p, operands(), d);
      EXPECT_EQ(plan.source, plan_source::model) << d.id;
      EXPECT_EQ(plan.measured_us, 0) << d.id;
      EXPECT_NE(plan.why.find("predicted for " + label(d)), std::string::npos) << plan.why;
    }
}

/// Kernels for sm_90a are not planned for an A100; on Hopper they come before those for sm_80.
TEST(Device, PlansAreByKernelsThatTheDeviceRuns) {
  for (std::int64_t const n : {16, 512, 4096, 8192}) {
    for (std::int64_t const rows : {n, std::int64_t{1}}) {
      gemm_problem p = square(n);
      p.m = rows;
      for (gemm_plan const& x : plan_candidates(p, operands(), known_device("a100")))
        EXPECT_EQ(x.family->id(), "sm80_gemm") << x.kernel;
      if (rows == 1) p.epilogue.act = activation::relu;  // which no GEMV has
      for (char const* id : {"h200", "h100_sxm", "h20"})
        EXPECT_NE(plan_gemm(p, operands(), known_device(id)).family->id(), "sm80_gemm")
            << id << ": " << rows << " x " << n << " x " << n;
    }
  }
}

TEST(Device, ADeviceWithoutAModelIsRefused) {
  device d = known_device("h200");
  d.model = nullptr;
  EXPECT_EQ(refusal_of([&] { plan_gemm(square(256), operands(), d); }), "TW0435");
  d = known_device("h200");
  d.mma_flop_per_clock = 0;
  EXPECT_EQ(refusal_of([&] { plan_gemm(square(256), operands(), d); }), "TW0435");
}

TEST(Device, AnEmulatedDeviceSaysForWhichNumberOfSmsItsPlansAre) {
  emu_options options;
  options.sms = 4;
  device const d = emulated_device(options);
  EXPECT_EQ(d.sm_count, 4);
  gemm_plan const plan = plan_gemm(square(4096), operands(), d);
  EXPECT_NE(plan.why.find("predicted for NVIDIA H200 with 4 SMs"), std::string::npos) << plan.why;
  EXPECT_EQ(plan.predicted_for, "NVIDIA H200 with 4 SMs");
}

}  // namespace
}  // namespace tw::test
