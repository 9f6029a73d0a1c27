// SPDX-License-Identifier: Apache-2.0
// gemm_epilogue_test.cpp  The built command with fused epilogues: --check passes, D has its shape
//                         and values, and what does not fit is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/tools/command.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/io/npy.hpp"

namespace {

using namespace tw;
using namespace tw_test;

class gemm_epilogue_command : public testing::Test {
 protected:
  static constexpr std::int64_t m = 37, n = 48, k = 41;
  scratch const folder;

  std::string write(std::string const& name, std::int64_t rows, std::int64_t cols, elem type,
                    order ord = order::row_major) {
    std::string const path = folder / (name + ".npy");
    std::string header = npy_header(type, rows, cols);
    if (ord == order::col_major) header.replace(header.find("False"), 5, "True ");
    auto const values = small_values(rows, cols, static_cast<int>(name.size()) + name[0]);
    write_file(path, header + encode(values, rows, cols, type, ord));
    return path;
  }
  /// An array of one dimension: "(1, n, )" becomes "(n, )".
  std::string vector(std::string const& name, std::int64_t count, elem type) {
    std::string const path = folder / (name + ".npy");
    std::string header = npy_header(type, 1, count);
    header.replace(header.find("(1, "), 4, "(   ");
    write_file(path, header + encode(small_values(1, count, 5), 1, count, type, order::row_major));
    return path;
  }
  command_result run(std::vector<std::string> options) {
    std::string const a = write("a", m, k, elem::bf16);
    std::string const b = write("b", k, n, elem::bf16, order::col_major);
    std::vector<std::string> all{"gemm",           a,          b,     "-o",
                                 folder / "d.npy", "--device", "emu", "--check"};
    all.insert(all.end(), options.begin(), options.end());
    return run_command(all);
  }
  std::int64_t d_cols() const { return matrix_file(parse_address(folder / "d.npy")).view().cols; }
};

TEST_F(gemm_epilogue_command, every_option_passes_the_check) {
  std::vector<std::vector<std::string>> const cases = {
      {"--bias", vector("bias", n, elem::bf16), "--activation", "gelu"},
      {"--bias", vector("bias2", m, elem::f32), "--bias-along", "rows", "--activation", "relu"},
      {"--row-scale", vector("rows", m, elem::f32), "--col-scale", vector("cols", n, elem::f16)},
      {"--activation", "gelu-erf", "--alpha", "0.05", "--residual", write("r", m, n, elem::f32)},
      {"--activation", "silu", "-C", write("c", m, n, elem::bf16), "--beta", "0.5"},
      {"--out-dtype", "f32", "--activation", "silu"},
  };
  for (auto const& options : cases) {
    command_result const r = run(options);
    EXPECT_EQ(r.status, 0) << options[0] << r.out << r.err;
    EXPECT_EQ(d_cols(), n);
  }
}

TEST_F(gemm_epilogue_command, a_gate_halves_the_columns) {
  for (char const* gate : {"swiglu:split", "swiglu:interleaved", "geglu:split", "reglu:interleaved",
                           "bilinear:split"}) {
    command_result const r =
        run({"--gate", gate, "--alpha", "0.1", "--bias", vector("bias", n, elem::f32), "--residual",
             write("half", m, n / 2, elem::bf16)});
    EXPECT_EQ(r.status, 0) << gate << r.out << r.err;
    EXPECT_EQ(d_cols(), n / 2);
  }
}

TEST_F(gemm_epilogue_command, the_values_before_the_activation_are_a_second_file) {
  std::string const aux = folder / "aux.npy";
  ASSERT_EQ(run({"--activation", "relu", "--aux", aux}).status, 0);
  matrix_file const d(parse_address(folder / "d.npy")), x(parse_address(aux));
  ASSERT_EQ(x.view().cols, n);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      ASSERT_EQ(element(d.view(), i, j), std::max(element(x.view(), i, j), 0.0F));
  command_result const gated = run({"--gate", "swiglu:split", "--alpha", "0.1", "--aux", aux});
  EXPECT_EQ(gated.status, 0) << gated.err;
  EXPECT_EQ(matrix_file(parse_address(aux)).view().cols, n);
}

TEST_F(gemm_epilogue_command, the_report_has_the_second_file) {
  std::string const aux = folder / "aux.npy";
  command_result const text = run({"--activation", "relu", "--aux", aux});
  EXPECT_NE(text.out.find("aux      37x48 bf16 row-major -> " + aux), std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("passed: all 3552 elements"), std::string::npos) << text.out;
  auto const record = run({"--activation", "relu", "--aux", aux, "--json"}).json();
  EXPECT_EQ(record["aux"]["file"], aux);
  EXPECT_EQ(record["aux"]["cols"], n);
  EXPECT_TRUE(run({"--json"}).json()["aux"].is_null());
}

TEST_F(gemm_epilogue_command, two_results_do_not_go_to_one_file) {
  std::string const a = write("a", m, k, elem::bf16);
  std::string const b = write("b", k, n, elem::bf16, order::col_major);
  auto const to = [&](std::string const& d, std::string const& aux) {
    return run_command({"gemm", a, b, "-o", folder / d, "--aux", folder / aux, "--activation",
                        "relu", "--device", "emu"});
  };
  auto const refused = [&](std::string const& d, std::string const& aux) {
    command_result const r = to(d, aux);
    EXPECT_EQ(r.status, 2) << d << aux << r.out;
    EXPECT_NE(r.err.find("TW0612"), std::string::npos) << r.err;
    EXPECT_FALSE(fs::exists(folder / d));
  };
  refused("s.npy", "s.npy");
  refused("s.npy", "./s.npy");
  refused("s.npy", "../" + fs::path(folder / "").parent_path().filename().string() + "/s.npy");
  refused("s.safetensors:D", "s.safetensors:D");
  refused("s.safetensors", "s.safetensors:D");
  EXPECT_EQ(to("two.safetensors:D", "./two.safetensors:X").status, 0);  // two tensors of a file
  for (char const* tensor : {"D", "X"}) {
    matrix_file const file(parse_address(folder / "two.safetensors:" + tensor));
    EXPECT_EQ(file.view().rows, m);
    EXPECT_EQ(file.view().cols, n);
  }
  EXPECT_EQ(to("s.npy", "x.npy").status, 0);
  fs::create_symlink("s.npy", folder / "link.npy");  // results go through links
  EXPECT_NE(to("s.npy", "link.npy").err.find("TW0612"), std::string::npos);
}

TEST_F(gemm_epilogue_command, words_of_shape_files_are_accepted_too) {
  for (char const* word : {"gelu_erf", "gelu-erf"})
    EXPECT_EQ(run({"--activation", word, "--json"}).json()["epilogue"], "gelu-erf") << word;
  for (char const* word : {"swiglu:interleaved", "swiglu_interleaved"})
    EXPECT_NE(run({"--gate", word}).out.find("(interleaved)"), std::string::npos) << word;
  for (char const* word : {"geglu-erf:split", "geglu_erf", "geglu_erf_split"})
    EXPECT_NE(run({"--gate", word}).out.find("gelu-erf, times what its gate passes (split)"),
              std::string::npos)
        << word;
}

/// Weights (N, K) as np.save writes them, without a copy.
TEST_F(gemm_epilogue_command, weights_by_rows_are_read_as_their_transpose) {
  std::string const x = write("x", m, k, elem::f32), w = write("weights", n, k, elem::f32);
  std::vector<std::string> const line{"gemm",     x,     w,         "-o",     folder / "h.npy",
                                      "--device", "emu", "--check", "--gate", "swiglu:split",
                                      "--alpha",  "0.1"};
  auto with = line;
  with.insert(with.end(), {"--transpose-b", "--aux", folder / "before.npy"});
  command_result const r = run_command(with);
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("column-major, the transpose of its file"), std::string::npos) << r.out;
  command_result const untold = run_command(line);
  EXPECT_NE(untold.err.find("--transpose-b if the file holds (N, K)"), std::string::npos)
      << untold.err;
}

TEST_F(gemm_epilogue_command, relu_keeps_nothing_below_zero) {
  ASSERT_EQ(run({"--activation", "relu"}).status, 0);
  matrix_file const d(parse_address(folder / "d.npy"));
  int zeros = 0, positive = 0;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      float const x = element(d.view(), i, j);
      ASSERT_GE(x, 0.0F);
      ++(x > 0 ? positive : zeros);
    }
  EXPECT_GT(zeros, 100);
  EXPECT_GT(positive, 100);
}

TEST_F(gemm_epilogue_command, what_does_not_fit_is_refused) {
  auto const refused = [&](std::vector<std::string> const& options, char const* code) {
    command_result const r = run(options);
    EXPECT_EQ(r.status, 2) << r.out << r.err;
    EXPECT_NE(r.err.find(code), std::string::npos) << r.err;
  };
  refused({"--bias", vector("short", n - 1, elem::f32)}, "TW0616");
  refused({"--bias", vector("b2", n, elem::f32), "--bias-along", "rows"}, "TW0616");
  refused({"--row-scale", write("matrix", m, n, elem::f32)}, "TW0616");
  refused({"--gate", "swiglu:split", "--residual", write("wide", m, n, elem::f32)}, "TW0616");
  refused({"--gate", "swiglu:split", "-C", write("c", m, n / 2, elem::f32)}, "TW0413");
  refused({"--gate", "swiglu:halves"}, "swiglu:split");
  refused({"--gate", "swiglu:split", "--activation", "relu"}, "excludes");
  refused({"--activation", "tanh"}, "gelu-erf");
  refused({"--residual", write("wide", m, n + 1, elem::f32)}, "shape of the residual");
  refused({"--bias-along", "rows"}, "--bias");
  refused({"--aux", folder / "x.npy", "--out-dtype", "f32"}, "need bf16, the type of A and B");
}

}  // namespace
