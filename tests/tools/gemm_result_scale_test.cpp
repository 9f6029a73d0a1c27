// SPDX-License-Identifier: Apache-2.0
// gemm_result_scale_test.cpp  `tilewright gemm --scale-d` writes the files that a GEMM with a
//                             float32 D and `tilewright quantize` write.
#include <nlohmann/json.hpp>

#include "tests/tools/command.hpp"
#include "tools/io/npy.hpp"

namespace {

using namespace tw;
using namespace tw_test;

class gemm_result_scale : public testing::Test {
 protected:
  static constexpr std::int64_t m = 40, n = 144, k = 64;
  scratch const folder;
  std::string const a = folder / "a.npy", b = folder / "b.npy", d = folder / "d.npy",
                    wide = folder / "wide.npy", d8 = folder / "d8.npy";

  void SetUp() override {
    std::vector<float> x(m * k), y(n * k);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(static_cast<int>(i * 7 % 9) - 4);
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = static_cast<float>(static_cast<int>(i * 5 % 7) - 3);
    write_file(a, npy_header(elem::bf16, m, k) + encode(x, m, k, elem::bf16, order::row_major));
    write_file(b, npy_header(elem::bf16, n, k) + encode(y, n, k, elem::bf16, order::row_major));
  }
  command_result gemm(std::string const& out, std::vector<std::string> options) {
    options.insert(options.begin(), {"gemm", a, b, "--transpose-b", "-o", out, "--device", "emu"});
    return run_command(options);
  }
  void expect_refused(char const* code, std::vector<std::string> const& options) {
    command_result const r = gemm(d, options);
    EXPECT_EQ(r.status, 2);
    EXPECT_NE(r.err.find(code), std::string::npos) << r.err;
    EXPECT_FALSE(std::filesystem::exists(d));
  }
};

TEST_F(gemm_result_scale, files_are_those_of_a_float_result_that_is_quantised) {
  struct way {
    char const *kind, *scaling, *type;
    std::vector<std::string> gemm_options, quantize_options;
  };
  for (way const& w :
       {way{"amax-1x128", "1x128", "e4m3", {}, {}}, way{"amax-row", "row", "e5m2", {}, {}},
        way{"amax-1x128",
            "1x128",
            "s8",
            {"--scale-d-as", "deepgemm", "--scale-d-power-of-two"},
            {"--scale-as", "deepgemm", "--power-of-two"}},
        way{"amax-1x128",
            "1x128",
            "e4m3",
            {"--scale-d-type", "ue8m0", "--scale-d-power-of-two"},
            {"--scale-type", "ue8m0", "--power-of-two"}}}) {
    std::vector<std::string> const unit = {"--activation", "relu"};
    std::vector<std::string> one = unit, two = {"quantize", wide,        d8,        "--to",
                                                w.type,     "--scaling", w.scaling, "--quiet"};
    one.insert(one.end(), {"--scale-d", w.kind, "--out-dtype", w.type, "--check", "--json"});
    one.insert(one.end(), w.gemm_options.begin(), w.gemm_options.end());
    two.insert(two.end(), w.quantize_options.begin(), w.quantize_options.end());
    command_result const r = gemm(d, one);
    ASSERT_EQ(r.status, 0) << r.err << r.out;
    auto const report = nlohmann::json::parse(r.out);
    EXPECT_EQ(report["check"]["wrong_scales"], 0);
    EXPECT_EQ(report["check"]["scales"], w.scaling == std::string("row") ? m : 2 * m);
    EXPECT_EQ(report["scale_d"]["given"], false);
    std::vector<std::string> wide_options = unit;
    wide_options.insert(wide_options.end(), {"--out-dtype", "f32", "--quiet"});
    ASSERT_EQ(gemm(wide, wide_options).status, 0);
    command_result const q = run_command(two);
    ASSERT_EQ(q.status, 0) << q.err;
    EXPECT_EQ(read_file(d), read_file(d8)) << w.kind << " " << w.type;
    EXPECT_EQ(read_file(folder / "d.scale.npy"), read_file(folder / "d8.scale.npy"))
        << w.kind << " " << w.type;
  }
}

TEST_F(gemm_result_scale, a_given_scale_is_a_number_or_a_file) {
  write_file(folder / "s.npy",
             npy_header(elem::f32, 1, 1) + encode({0.5F}, 1, 1, elem::f32, order::row_major));
  command_result const number = gemm(d, {"--scale-d", "0.5", "--check"});
  ASSERT_EQ(number.status, 0) << number.err;
  EXPECT_NE(number.out.find("scale D  given: 0.5"), std::string::npos) << number.out;
  EXPECT_NE(number.out.find("e4m3"), std::string::npos) << number.out;
  ASSERT_EQ(gemm(d8, {"--scale-d", folder / "s.npy", "--check", "--quiet"}).status, 0);
  EXPECT_EQ(read_file(d), read_file(d8));
  EXPECT_FALSE(std::filesystem::exists(folder / "d.scale.npy"));
}

TEST_F(gemm_result_scale, scales_can_go_to_another_file) {
  std::string const to = folder / "s.safetensors:scales";
  command_result const r = gemm(d, {"--scale-d", "amax-1x128", "--scale-d-out", to});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find(to), std::string::npos) << r.out;
  EXPECT_TRUE(std::filesystem::exists(folder / "s.safetensors"));
}

TEST_F(gemm_result_scale, refusals) {
  expect_refused("TW0405", {"--scale-d", "amax-row", "--out-dtype", "bf16"});
  expect_refused("TW0405", {"--out-dtype", "s8"});
  expect_refused("TW0458", {"--scale-d", "amax-1x128", "--scale-d-type", "ue8m0"});
  expect_refused("TW0458", {"--scale-d", "amax-row", "--aux", folder / "x.npy"});
  expect_refused("TW0611", {"--scale-d", "amax-8x8"});
  expect_refused("TW0612", {"--scale-d", "0.5", "--scale-d-out", folder / "s.npy"});
  expect_refused("TW0612", {"--scale-d", "amax-row", "--scale-d-out", a});
  expect_refused("TW0616", {"--scale-d", a});
}

}  // namespace
