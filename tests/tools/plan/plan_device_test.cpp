// SPDX-License-Identifier: Apache-2.0
// plan_device_test.cpp  tilewright plan for a device or a family that the caller names.
#include "tests/tools/command.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/family/kernel_set.hpp"

namespace {

using namespace tw_test;

TEST(PlanCommand, EachDeviceCanBeChosenAndThePlanNamesIt) {
  for (tw::device const& d : tw::known_devices()) {
    std::vector<std::string> const words = {"plan", "4096", "4096", "1024", "--device", d.id};
    auto const j = run_command([&] {
                     auto json = words;
                     json.emplace_back("--json");
                     return json;
                   }())
                       .json();
    EXPECT_EQ(j["device"], d.id);
    EXPECT_EQ(j["device_name"], d.name);
    EXPECT_EQ(j["sms"], d.sm_count);
    bool const measured = d.source == tw::calibration_source::measured;
    EXPECT_EQ(j["calibration"]["source"], measured ? "measured" : "data_sheet");
    std::string const text = run_command(words).out;
    EXPECT_NE(text.find("device     " + tw::label(d)), std::string::npos) << text;
    EXPECT_EQ(text.find("not measured") == std::string::npos, measured) << text;
  }
  auto const part = run_command({"plan", "4096", "4096", "1024", "--sms", "60"});
  EXPECT_NE(part.out.find("NVIDIA H200 with 60 SMs"), std::string::npos) << part.out;
  EXPECT_EQ(run_command({"plan", "64", "64", "64", "--device", "v100"}).status, 2);
}

TEST(PlanCommand, OneFamilyAlone) {
  auto const plans = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"plan", "4096", "4096", "1024", "--json", "--top", "0"});
    return run_command(words).json()["plans"];
  };
  for (std::string const family : {"sm80_gemm", "sm90_gemm"}) {
    auto const found = plans({"--family", family});
    EXPECT_FALSE(found.empty());
    for (auto const& p : found)
      EXPECT_EQ(p["kernel"].get<std::string>().substr(0, 4), family.substr(0, 4));
  }
  EXPECT_EQ(plans({"--device", "a100"}), plans({"--device", "a100", "--family", "sm80_gemm"}));
  auto const none = run_command({"plan", "4096", "4096", "1024", "--family", "gemv"});
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("TW0441"), std::string::npos) << none.err;
  EXPECT_EQ(run_command({"plan", "64", "64", "64", "--family", "sm70"}).status, 2);
}

/// Where a build lacks all kernels of the requested family that compute the GEMM, the error names
/// one of them.
TEST(PlanCommand, AKernelThatIsNotBuiltIsOneOfTheFamily) {
  std::vector<std::string> const words = {"plan",        "256",       "256",        "256",
                                          "--family",    "sm80_gemm", "--dtype",    "bf16",
                                          "--out-dtype", "f32",       "--epilogue", "swiglu"};
  auto const r = run_command(words);
  if (tw::kernels_of_this_build().name == "full") {
    EXPECT_EQ(r.status, 0) << r.err;
    return;
  }
  EXPECT_EQ(r.status, 2) << r.out;
  EXPECT_EQ(r.err.rfind("tilewright: TW0505: kernel: got sm80_bf16_f32_", 0), 0U) << r.err;
}

/// The first line of a plan for a device that was not measured says so.
TEST(PlanCommand, NothingWasMeasuredOnBlackwell) {
  for (std::string const device : {"b200", "gb300"}) {
    auto const r = run_command({"plan", "4096", "4096", "4096", "--device", device});
    ASSERT_EQ(r.status, 0) << r.err;
    std::string const first = r.out.substr(0, r.out.find('\n'));
    EXPECT_NE(first.find("nothing was measured by us"), std::string::npos) << first;
    auto const j =
        run_command({"plan", "4096", "4096", "4096", "--device", device, "--json"}).json();
    EXPECT_TRUE(std::string(j["chosen"]["kernel"]).starts_with("sm100_"));
    EXPECT_EQ(j["calibration"]["source"], "data_sheet");
  }
  auto const h200 = run_command({"plan", "4096", "4096", "4096", "--device", "h200"});
  EXPECT_EQ(h200.out.find("nothing was measured"), std::string::npos);
}

}  // namespace
