// SPDX-License-Identifier: Apache-2.0
// gemm_scale_test.cpp  `tilewright gemm --scale-a --scale-b` with what `tilewright quantize`
//                      writes: D is near the GEMM of the wide matrices, reports name the
//                      conventions.
#include <cmath>
#include <filesystem>

#include "tests/tools/command.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/io/npy.hpp"

namespace {

using namespace tw;
using namespace tw_test;

class gemm_scale : public testing::Test {
 protected:
  static constexpr std::int64_t m = 40, n = 136, k = 300;
  scratch const folder;
  std::vector<float> const a = small_values(m, k, 1), b = small_values(n, k, 2);
  std::string const a8 = folder / "a8.npy", b8 = folder / "b8.npy", d = folder / "d.npy";
  std::string const a_scale = folder / "a8.scale.npy", b_scale = folder / "b8.scale.npy";

  void SetUp() override {
    write_file(folder / "a.npy",
               npy_header(elem::bf16, m, k) + encode(a, m, k, elem::bf16, order::row_major));
    write_file(folder / "b.npy",
               npy_header(elem::bf16, n, k) + encode(b, n, k, elem::bf16, order::row_major));
  }
  void quantize(char const* name, std::vector<std::string> options) {
    options.insert(options.begin(), {"quantize", folder / (std::string(name) + ".npy"),
                                     folder / (std::string(name) + "8.npy")});
    command_result const r = run_command(options);
    ASSERT_EQ(r.status, 0) << r.err;
  }
  command_result gemm(std::vector<std::string> options) {
    options.insert(options.begin(), {"gemm", a8, b8, "--transpose-b", "-o", d, "--device", "emu",
                                     "--scale-a", a_scale, "--scale-b", b_scale});
    return run_command(options);
  }
  /// Values have an error of 2^-4 (e4m3) or less each.
  void expect_near() {
    matrix_file const file(parse_address(d));
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double s = 0, t = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          double const x = double{a[static_cast<std::size_t>(i * k + l)]} *
                           b[static_cast<std::size_t>(j * k + l)];
          s += x, t += std::fabs(x);
        }
        ASSERT_NEAR(element(file.view(), i, j), s, 0.07 * t) << i << ", " << j;
      }
  }
};

TEST_F(gemm_scale, blocks_on_both_sides_pass_the_check) {
  struct pair {
    std::vector<std::string> a, b;
    char const *a_name, *b_name;
  };
  for (pair const& p : {pair{{"--scaling", "1x128"},
                             {"--scaling", "128x128"},
                             "1x128 f32 (torch BlockWise1x128",
                             "128x128 f32 (torch BlockWise128x128"},
                        pair{{"--scaling", "128x128"},
                             {"--scaling", "128x128", "--scale-as", "deepgemm"},
                             "128x128 f32 (torch BlockWise128x128",
                             "128x128 f32 (DeepGEMM"},
                        pair{{"--scaling", "1x128", "--scale-as", "deepgemm", "--scale-type",
                              "ue8m0x4", "--power-of-two"},
                             {"--scaling", "1x128", "--scale-as", "flashinfer-k"},
                             "1x128 ue8m0 (DeepGEMM, four UE8M0 in an int32)",
                             "1x128 f32 (FlashInfer K)"}}) {
    std::vector<std::string> of_a = p.a, of_b = p.b;
    for (auto* x : {&of_a, &of_b}) x->insert(x->end(), {"--to", "e4m3"});
    quantize("a", of_a);
    quantize("b", of_b);
    for (std::string const arch : {"sm90", "sm100"}) {
      command_result const r = gemm({"--check", "--arch", arch});
      ASSERT_EQ(r.status, 0) << r.err << r.out;
      EXPECT_NE(r.out.find(std::string("scale A  ") + p.a_name), std::string::npos) << r.out;
      EXPECT_NE(r.out.find(std::string("scale B  ") + p.b_name), std::string::npos) << r.out;
      for (std::string const kernel : {arch + "_e4m3_bf16_tn_", std::string("_scaled")})
        EXPECT_NE(r.out.find(kernel), std::string::npos) << r.out;
      expect_near();
    }
  }
}

TEST_F(gemm_scale, tensors_and_rows_are_scales_of_the_epilogue) {
  for (char const* type : {"e4m3", "s8"}) {
    quantize("a", {"--to", type, "--scaling", "row"});
    quantize("b", {"--to", type, "--scaling", "tensor"});
    command_result const r = gemm({"--check", "--json", "--out-dtype", "bf16"});
    ASSERT_EQ(r.status, 0) << r.err << r.out;
    EXPECT_EQ(r.json()["scale_a"]["convention"], "row f32 (torch RowWise, cuBLASLt OUTER_VEC_32F)");
    EXPECT_EQ(r.json()["scale_b"]["convention"],
              "tensor f32 (torch TensorWise, cuBLASLt SCALAR_32F)");
    expect_near();
  }
}

TEST_F(gemm_scale, wide_matrices_are_quantised_first) {
  struct row {
    std::vector<std::string> options;
    char const* kernel;
  };
  for (row const& c :
       {row{{"--scaling-a", "1x128", "--scaling-b", "128x128"}, "_scaled"},
        row{{"--scaling-a", "row", "--scaling-b", "tensor", "--dtype", "s8", "--out-dtype", "bf16"},
            "_ops"}}) {
    std::vector<std::string> words{
        "gemm", folder / "a.npy", folder / "b.npy", "--transpose-b", "-o", d, "--device",
        "emu",  "--check"};
    words.insert(words.end(), c.options.begin(), c.options.end());
    command_result const r = run_command(words);
    ASSERT_EQ(r.status, 0) << r.err << r.out;
    EXPECT_NE(r.out.find("bf16 row-major, quantised to "), std::string::npos) << r.out;
    EXPECT_NE(r.out.find(c.kernel), std::string::npos) << r.out;
    expect_near();
  }
  command_result const r = run_command(
      {"gemm", folder / "a.npy", folder / "b.npy", "-o", d, "--transpose-b", "--scaling-a", "row"});
  EXPECT_EQ(r.status, 2);  // B stays bf16
  EXPECT_NE(r.err.find("TW0404"), std::string::npos) << r.err;
}

TEST_F(gemm_scale, stacks_of_wide_matrices_are_quantised_matrix_by_matrix) {
  constexpr std::int64_t matrices = 3;
  float const size[matrices] = {1.0F, 48.0F, 0.03125F};
  std::vector<std::vector<float>> of_a, of_b;
  for (auto const& [name, rows, of] : {std::tuple{"a", m, &of_a}, std::tuple{"b", n, &of_b}}) {
    std::string all;
    for (std::int64_t i = 0; i < matrices; ++i) {
      std::vector<float> x = small_values(rows, k, static_cast<unsigned>(7 * i + rows));
      for (float& e : x) e *= size[i];
      std::string const one = encode(x, rows, k, elem::bf16, order::row_major);
      write_file(folder / (name + std::to_string(i) + ".npy"),
                 npy_header(elem::bf16, rows, k) + one);
      all += one, of->push_back(x);
    }
    write_file(folder / (std::string(name) + "s.npy"), npy_header(elem::bf16, rows, k, 3) + all);
  }
  auto const run = [&](std::string const& x, std::string const& y, std::string const& out,
                       char const* scaling_a, char const* scaling_b) {
    command_result const r = run_command(
        {"gemm", folder / x, folder / y, "--batch", "--transpose-b", "-o", folder / out,
         "--scaling-a", scaling_a, "--scaling-b", scaling_b, "--check", "--device", "emu"});
    ASSERT_EQ(r.status, 0) << scaling_a << " " << scaling_b << r.err << r.out;
  };
  auto const data = [&](std::string const& name) {
    std::string const file = read_file(folder / name);
    return file.substr(file.find('\n') + 1);
  };
  for (auto const& [scaling_a, scaling_b] :
       {std::pair{"1x128", "128x128"}, std::pair{"128x128", "1x128"},
        std::pair{"1x128", "1x128"}}) {
    run("as.npy", "bs.npy", "ds.npy", scaling_a, scaling_b);
    std::string alone;
    for (std::int64_t i = 0; i < matrices; ++i) {
      std::string const at = std::to_string(i) + ".npy";
      run("a" + at, "b" + at, "one.npy", scaling_a, scaling_b);
      alone += data("one.npy");
    }
    EXPECT_EQ(data("ds.npy"), alone) << scaling_a << " " << scaling_b;
  }
  // Scales of a tensor and of rows that are other ones for each matrix belong to the main loop, so
  // the sums have other roundings than alone. Each matrix is near the product of its wide ones.
  for (auto const& [scaling_a, scaling_b, b_file] :
       {std::tuple{"tensor", "tensor", "bs.npy"}, std::tuple{"row", "row", "bs.npy"},
        std::tuple{"row", "tensor", "b0.npy"}, std::tuple{"tensor", "1x128", "b0.npy"}}) {
    run("as.npy", b_file, "ds.npy", scaling_a, scaling_b);
    matrix_file const file(parse_address(folder / "ds.npy"), accepted_shapes{.stacks = true});
    for (std::int64_t i = 0; i < matrices; ++i) {
      matrix_view one = file.view();
      one.matrices = 1, one.data += i * m * n * 2;
      std::vector<float> const &x = of_a[static_cast<std::size_t>(i)],
                               &y = of_b[b_file[1] == 's' ? static_cast<std::size_t>(i) : 0];
      for (std::int64_t row = 0; row < m; ++row)
        for (std::int64_t col = 0; col < n; ++col) {
          double s = 0, t = 0;
          for (std::int64_t l = 0; l < k; ++l) {
            double const product = double{x[static_cast<std::size_t>(row * k + l)]} *
                                   y[static_cast<std::size_t>(col * k + l)];
            s += product, t += std::fabs(product);
          }
          ASSERT_NEAR(element(one, row, col), s, 0.07 * t) << scaling_a << " " << i;
        }
    }
  }
  // Kernels of other types have scales in the epilogue, which are the same for a batch.
  command_result const r =
      run_command({"gemm", folder / "as.npy", folder / "bs.npy", "--batch", "--transpose-b", "-o",
                   folder / "no.npy", "--scaling-a", "row", "--scaling-b", "tensor", "--dtype",
                   "s8", "--out-dtype", "bf16", "--device", "emu"});
  EXPECT_EQ(r.status, 2);
  EXPECT_EQ(r.err.rfind("tilewright: TW0454", 0), 0U) << r.err;
  EXPECT_NE(r.err.find("each matrix of a batch"), std::string::npos) << r.err;
}

TEST_F(gemm_scale, plans_name_scales_and_their_place) {
  auto const plan = [](char const* of_a, char const* of_b) {
    return run_command({"plan", "512", "512", "1152", "--dtype", "e4m3", "--all-kernels",
                        "--scale-a", of_a, "--scale-b", of_b})
        .out;
  };
  std::string const blocks = plan("1x128", "deepgemm:128x128"), rows = plan("row", "tensor");
  EXPECT_NE(blocks.find("scale A    1x128 f32 (torch BlockWise1x128"), std::string::npos) << blocks;
  EXPECT_NE(blocks.find("scale B    128x128 f32 (DeepGEMM"), std::string::npos) << blocks;
  EXPECT_NE(blocks.find("multiplied in the main loop"), std::string::npos) << blocks;
  EXPECT_NE(rows.find("multiplied in the epilogue"), std::string::npos) << rows;
}

/// 3 x 3 blocks of B in Fortran order: (Kb, Nb) with K contiguous, or (Nb, Kb) with N contiguous.
TEST_F(gemm_scale, square_scales_in_fortran_order_need_a_name) {
  constexpr std::int64_t cols = 264;
  std::vector<float> x = small_values(cols, k, 3);
  for (std::size_t i = 128 * k; i < x.size(); ++i) x[i] *= 16;  // scales that differ
  write_file(folder / "b.npy",
             npy_header(elem::bf16, cols, k) + encode(x, cols, k, elem::bf16, order::row_major));
  quantize("a", {"--to", "e4m3", "--scaling", "1x128"});
  quantize("b", {"--to", "e4m3", "--scaling", "128x128", "--scale-as", "flashinfer-k"});
  auto const named = [&](char const* name) {
    command_result const r = gemm({"--scale-b-as", name});
    EXPECT_EQ(r.status, 0) << name << r.err;
    return read_file(d);
  };
  std::string const want = named("flashinfer-k");
  std::string file = read_file(b_scale);
  std::string const c_order = "'fortran_order': False", fortran = "'fortran_order': True ";
  ASSERT_NE(file.find(c_order), std::string::npos);
  file.replace(file.find(c_order), c_order.size(), fortran);
  write_file(b_scale, file);
  std::filesystem::remove(d);
  command_result const r = gemm({});
  EXPECT_EQ(r.status, 2);
  EXPECT_EQ(r.err.rfind("tilewright: TW0451: scale of B", 0), 0U) << r.err;
  EXPECT_NE(r.err.find("deepgemm:128x128 or flashinfer-mn:128x128"), std::string::npos) << r.err;
  EXPECT_FALSE(std::filesystem::exists(d));
  EXPECT_EQ(named("flashinfer-mn"), want);
  EXPECT_NE(named("deepgemm"), want);
}

TEST_F(gemm_scale, refuses_scales_that_fit_none) {
  quantize("a", {"--to", "e4m3", "--scaling", "1x128"});
  quantize("b", {"--to", "e4m3", "--scaling", "128x128"});
  command_result r = run_command({"gemm", a8, b8, "--transpose-b", "-o", d, "--scale-a", b_scale});
  EXPECT_EQ(r.status, 2);
  EXPECT_EQ(r.err.rfind("tilewright: TW0450: scale of A", 0), 0U) << r.err;
  r = gemm({"--scale-a-as", "mx"});
  EXPECT_EQ(r.status, 2);
  EXPECT_NE(r.err.find("mx is none of tensor, row, 1x128"), std::string::npos) << r.err;
  r = gemm({"--scale-b-as", "deepgemm"});
  EXPECT_EQ(r.err.rfind("tilewright: TW0450: scale of B", 0), 0U) << r.err;
  r = gemm({"--dtype", "bf16"});
  EXPECT_EQ(r.err.rfind("tilewright: TW0454", 0), 0U) << r.err;
}

}  // namespace
