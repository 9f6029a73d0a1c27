// SPDX-License-Identifier: Apache-2.0
// formats_command_test.cpp  `tilewright gemm` and `plan` with 8-bit floats, integers and tf32.
#include <cmath>

#include "tests/tools/command.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/io/npy.hpp"

namespace {

using namespace tw;
using namespace tw_test;

/// From -8 to 7.
std::vector<float> integers(std::int64_t rows, std::int64_t cols, unsigned seed) {
  std::vector<float> values = small_values(rows, cols, seed);
  for (float& x : values) x *= 2;
  return values;
}

class formats_command : public testing::Test {
 protected:
  static constexpr std::int64_t m = 33, n = 40, k = 170;
  scratch const folder;
  std::string const a = folder / "a.npy", b = folder / "b.npy", d = folder / "d.npy";
  std::vector<float> const a_values = integers(m, k, 1), b_values = integers(k, n, 2);

  void SetUp() override {
    write(a, a_values, m, k);
    write(b, b_values, k, n);
  }
  void write(std::string const& path, std::vector<float> const& values, std::int64_t rows,
             std::int64_t cols) const {
    write_file(path, npy_header(elem::f32, rows, cols) +
                         encode(values, rows, cols, elem::f32, order::row_major));
  }
  command_result gemm(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"gemm", a, b, "-o", d, "--device", "emu", "--json"});
    return run_command(arguments);
  }
};

/// Small integers are exact in every type: so is the result.
TEST_F(formats_command, every_type_is_exact_with_small_numbers) {
  struct row {
    std::vector<std::string> options;
    elem a, b, d;
  };
  using enum elem;
  for (row const& r :
       {row{{"--dtype", "e4m3", "--out-dtype", "f32"}, e4m3, e4m3, f32},
        {{"--dtype", "e4m3", "--dtype-b", "e5m2", "--out-dtype", "f32"}, e4m3, e5m2, f32},
        {{"--dtype", "s8"}, s8, s8, s32},
        {{"--dtype", "s8", "--dtype-b", "u8", "--transpose-b"}, s8, u8, s32},
        {{"--dtype", "tf32"}, f32, f32, f32},
        {{"--dtype", "tf32", "--truncate-tf32"}, tf32, tf32, f32},
        {{"--dtype", "f32"}, f32, f32, f32}}) {
    bool const turned = r.options.back() == "--transpose-b";
    std::vector<float> b_used = b_values;
    if (r.b == u8)
      for (float& x : b_used) x = std::fabs(x);
    if (turned) {
      std::vector<float> t(b_used.size());
      for (std::int64_t i = 0; i < k; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          t[static_cast<std::size_t>(j * k + i)] = b_used[static_cast<std::size_t>(i * n + j)];
      write(b, t, n, k);
    } else {
      write(b, b_used, k, n);
    }
    auto arguments = r.options;
    arguments.push_back("--check");
    auto const result = gemm(arguments);
    ASSERT_EQ(result.status, 0) << result.err;
    auto const j = result.json();
    EXPECT_EQ(j["a"]["dtype"], name(r.a));
    EXPECT_EQ(j["b"]["dtype"], name(r.b));
    EXPECT_EQ(j["d"]["dtype"], name(r.d));
    EXPECT_TRUE(j["check"]["passed"]);
    matrix_file const file(parse_address(d));
    ASSERT_EQ(file.view().type, r.d);
    for (std::int64_t row = 0; row < m; ++row)
      for (std::int64_t col = 0; col < n; ++col) {
        float sum = 0;
        for (std::int64_t i = 0; i < k; ++i)
          sum += a_values[static_cast<std::size_t>(row * k + i)] *
                 b_used[static_cast<std::size_t>(i * n + col)];
        ASSERT_EQ(element(file.view(), row, col), sum) << r.options[1] << " " << row << " " << col;
      }
  }
}

/// 1 + 2^-11 lies between two numbers of tf32, of which 1 is even; 1 + 3 2^-12 is nearer to the
/// other.
TEST_F(formats_command, tf32_is_rounded_to_nearest_even_or_truncated) {
  std::vector<float> first_column(2 * 32), first_row(32 * 8);
  first_column[0] = 1 + 0x1p-11F, first_column[32] = 1 + 0x3p-12F;
  first_row[0] = 1;
  write(a, first_column, 2, 32);
  write(b, first_row, 32, 8);
  auto const column_of_d = [&](std::vector<std::string> const& options) {
    auto const r = gemm(options);
    EXPECT_EQ(r.status, 0) << r.err;
    matrix_file const file(parse_address(d));
    return std::pair(element(file.view(), 0, 0), element(file.view(), 1, 0));
  };
  EXPECT_EQ(column_of_d({"--dtype", "tf32"}), std::pair(1.0F, 1 + 0x1p-10F));
  for (char const* const type : {"tf32", "f32"}) {
    EXPECT_EQ(column_of_d({"--dtype", type, "--truncate-tf32"}), std::pair(1.0F, 1.0F));
    EXPECT_EQ(column_of_d({"--dtype", type, "--dtype-b", "f32", "--truncate-tf32"}),
              std::pair(1.0F, 1.0F));
  }
}

TEST_F(formats_command, results_have_the_type_that_suits_the_operands) {
  EXPECT_EQ(gemm({"--dtype", "e5m2"}).json()["d"]["dtype"], "bf16");
  EXPECT_EQ(gemm({"--dtype", "e4m3", "--promote", "never"}).json()["d"]["dtype"], "bf16");
  EXPECT_EQ(gemm({"--dtype", "e4m3", "--out-dtype", "e4m3"}).json()["d"]["dtype"], "e4m3");
  EXPECT_EQ(gemm({"--dtype", "s8", "--out-dtype", "bf16"}).json()["d"]["dtype"], "bf16");
}

TEST_F(formats_command, refusals_name_what_would_fit) {
  auto const code = [&](std::vector<std::string> const& options) {
    auto const r = gemm(options);
    return std::to_string(r.status) + " " + r.json()["error"]["code"].get<std::string>();
  };
  EXPECT_EQ(code({"--dtype", "e4m3", "--dtype-b", "s8"}), "2 TW0404");
  EXPECT_EQ(code({"--dtype", "tf32", "--out-dtype", "e4m3"}), "2 TW0405");
  EXPECT_EQ(code({"--dtype", "bf16", "--truncate-tf32"}), "2 TW0615");
  EXPECT_EQ(code({"--dtype", "s8", "--alpha", "0.5"}), "2 TW0438");
}

TEST(formats_plan, the_promotion_interval_and_its_cost_are_shown) {
  auto const plan = [](std::vector<std::string> options) {
    options.insert(options.begin(), {"plan", "4096", "4096", "4096", "--dtype", "e4m3"});
    return run_command(options);
  };
  EXPECT_NE(plan({}).out.find("promoted to float32 every 128 of K: predicted +"),
            std::string::npos);
  EXPECT_NE(plan({"--promote", "64"}).out.find("every 64 of K"), std::string::npos);
  EXPECT_NE(plan({"--promote", "never"}).out.find("never promoted (fast)"), std::string::npos);
  auto const j = plan({"--json"}).json();
  EXPECT_EQ(j["sums"]["promote_k"], 128);
  EXPECT_LT(j["sums"]["never_promoted_us"], j["chosen"]["predicted"]["us"]);
}

}  // namespace
