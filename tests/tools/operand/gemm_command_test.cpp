// SPDX-License-Identifier: Apache-2.0
// gemm_command_test.cpp  The built command computes right results from every kind of file.
#include "tests/tools/command.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/io/npy.hpp"
#include "tools/io/safetensors.hpp"

namespace {

using namespace tw;
using namespace tw_test;

/// Writes a .npy file in any order: NumPy's header with the order patched in.
void write_npy(std::string const& path, std::vector<float> const& values, std::int64_t rows,
               std::int64_t cols, elem type, order ord = order::row_major) {
  std::string header = npy_header(type, rows, cols);
  if (ord == order::col_major) header.replace(header.find("False"), 5, "True ");
  write_file(path, header + encode(values, rows, cols, type, ord));
}

/// alpha A B + beta C in float64, row-major. The values are small enough to be exact in float32.
std::vector<double> expected(std::vector<float> const& a, std::vector<float> const& b,
                             std::int64_t m, std::int64_t n, std::int64_t k) {
  std::vector<double> d(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t l = 0; l < k; ++l) {
        d[static_cast<std::size_t>(i * n + j)] +=
            double{a[static_cast<std::size_t>(i * k + l)]} * b[static_cast<std::size_t>(l * n + j)];
      }
    }
  }
  return d;
}

void expect_matrix(std::string const& address, std::vector<double> const& d, std::int64_t n,
                   elem type) {
  matrix_file const file(parse_address(address));
  ASSERT_EQ(file.view().type, type);
  ASSERT_EQ(file.view().cols, n);
  for (std::size_t i = 0; i < d.size(); ++i) {
    auto const at = static_cast<std::int64_t>(i);
    ASSERT_EQ(element(file.view(), at / n, at % n), static_cast<float>(d[i]))
        << address << " " << i;
  }
}

class gemm_command : public testing::Test {
 protected:
  static constexpr std::int64_t m = 37, n = 24, k = 41;
  scratch const folder;
  std::vector<float> const a = small_values(m, k, 1), b = small_values(k, n, 2),
                           c = small_values(m, n, 3);
  std::string const a_file = folder / "a.npy", b_file = folder / "b.npy", d_file = folder / "d.npy";
  std::string a_file_used = a_file, b_file_used = b_file, d_file_used = d_file;

  void SetUp() override {
    write_npy(a_file, a, m, k, elem::bf16);
    write_npy(b_file, b, k, n, elem::bf16);
  }

  command_result run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {"gemm", a_file_used, b_file_used, "-o", d_file_used, "--device", "emu"});
    return run_command(arguments);
  }
};

TEST_F(gemm_command, all_orders_and_types_agree_with_float64) {
  for (elem type : {elem::bf16, elem::f16, elem::f32}) {
    for (int orders = 0; orders < 4; ++orders) {
      write_npy(a_file, a, m, k, type, orders & 1 ? order::col_major : order::row_major);
      write_npy(b_file, b, k, n, type, orders & 2 ? order::col_major : order::row_major);
      auto const r = run({"--out-dtype", "f32", "--check", "--json"});
      ASSERT_EQ(r.status, 0) << r.err;
      auto const j = r.json();
      EXPECT_EQ(j["a"]["layout"], orders & 1 ? "column-major" : "row-major");
      EXPECT_EQ(j["a"]["file_dtype"], name(type));
      EXPECT_EQ(j["a"]["dtype"], type == elem::f16 ? "f16" : "bf16");
      EXPECT_TRUE(j["check"]["passed"]);
      EXPECT_LT(j["check"]["ratio"], 1.0);
      expect_matrix(d_file, expected(a, b, m, n, k), n, elem::f32);
    }
  }
}

TEST_F(gemm_command, the_output_type_defaults_to_the_operands_and_both_can_be_chosen) {
  for (char const* dtype : {"", "bf16", "f16"}) {
    for (char const* out : {"", "bf16", "f16", "f32"}) {
      std::vector<std::string> options{"--check", "--json"};
      if (*dtype) options.insert(options.end(), {"--dtype", dtype});
      if (*out) options.insert(options.end(), {"--out-dtype", out});
      auto const r = run(options);
      ASSERT_EQ(r.status, 0) << r.err;
      std::string const operands = *dtype ? dtype : "bf16";
      EXPECT_EQ(r.json()["a"]["dtype"], operands);
      EXPECT_EQ(r.json()["d"]["dtype"], *out ? out : operands);
    }
  }
}

TEST_F(gemm_command, takes_the_kernel_of_a_family) {
  write_npy(a_file, a, m, k, elem::bf16);
  write_npy(b_file, b, k, n, elem::bf16, order::col_major);
  auto const r = run({"--family", "sm80_gemm", "--check", "--json"});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.json()["kernel"].get<std::string>().find("sm80_bf16_bf16_"), 0U);
  auto const none = run({"--family", "gemv"});
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("TW0441"), std::string::npos) << none.err;
}

TEST_F(gemm_command, takes_the_kernels_of_an_architecture) {
  write_npy(a_file, a, m, k, elem::bf16);
  write_npy(b_file, b, k, n, elem::bf16);
  for (std::string const arch : {"sm80", "sm90", "sm100"}) {
    auto const r = run({"--arch", arch, "--check", "--json"});
    ASSERT_EQ(r.status, 0) << r.err;
    std::string const kernel = r.json()["kernel"];
    EXPECT_TRUE(kernel.starts_with(arch + "_")) << kernel;
  }
  write_npy(b_file, b, k, n, elem::bf16, order::col_major);
  for (std::string const arch : {"sm80", "sm100"}) {
    auto const aux = run({"--arch", arch, "--aux", folder / "aux.npy", "--check", "--json"});
    ASSERT_EQ(aux.status, 0) << aux.err;
    EXPECT_TRUE(aux.json()["kernel"].get<std::string>().starts_with(arch + "_"));
  }
  EXPECT_EQ(run({"--arch", "sm70"}).status, 2);
}

TEST_F(gemm_command, adds_c_of_every_type_and_order) {
  auto const product = expected(a, b, m, n, k);
  std::string const c_file = folder / "c.npy";
  for (elem type : {elem::bf16, elem::f16, elem::f32}) {
    for (order ord : {order::row_major, order::col_major}) {
      write_npy(c_file, c, m, n, type, ord);
      for (double beta : {1.0, -0.5, 0.0}) {
        std::vector<std::string> options{"-C",          c_file, "--alpha", "-2",
                                         "--out-dtype", "f32",  "--check"};
        if (beta != 1.0) options.insert(options.end(), {"--beta", std::to_string(beta)});
        auto const r = run(options);
        ASSERT_EQ(r.status, 0) << r.err;
        auto d = product;
        for (std::size_t i = 0; i < d.size(); ++i) d[i] = -2 * d[i] + beta * double{c[i]};
        expect_matrix(d_file, d, n, elem::f32);
      }
    }
  }
}

TEST_F(gemm_command, a_file_may_hold_the_transpose) {
  auto const turned = [](std::vector<float> const& v, std::int64_t rows, std::int64_t cols) {
    std::vector<float> t(v.size());
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j)
        t[static_cast<std::size_t>(j * rows + i)] = v[static_cast<std::size_t>(i * cols + j)];
    return t;
  };
  auto const at = turned(a, m, k), bt = turned(b, k, n);
  for (order ord : {order::row_major, order::col_major}) {
    write_npy(a_file, at, k, m, elem::f16, ord);
    write_npy(b_file, bt, n, k, elem::f16, ord);
    auto const r =
        run({"--transpose-a", "--transpose-b", "--out-dtype", "f32", "--check", "--json"});
    ASSERT_EQ(r.status, 0) << r.err;
    EXPECT_EQ(r.json()["a"]["transposed"], true);
    EXPECT_EQ(r.json()["b"]["layout"], ord == order::row_major ? "column-major" : "row-major");
    expect_matrix(d_file, expected(a, b, m, n, k), n, elem::f32);
  }
  auto const r = run({});
  EXPECT_EQ(r.status, 2);
  write_npy(a_file, a, m, k, elem::f16);
  EXPECT_NE(run({}).err.find("; --transpose-b if the file holds (N, K)"), std::string::npos);
  // A flag that was given is not what is missing.
  EXPECT_NE(run({"--transpose-b", "--transpose-a"}).err.find("; without --transpose-a if the file"),
            std::string::npos);
  write_npy(b_file, b, k, n, elem::f16);
  EXPECT_NE(run({"--transpose-b"}).err.find("; without --transpose-b if the file holds (K, N)"),
            std::string::npos);
  // Stacks: each matrix is transposed, the last two dimensions.
  constexpr std::int64_t stack = 3;
  std::vector<float> many;
  std::vector<double> want;
  for (unsigned i = 0; i < stack; ++i) {
    auto const one = small_values(k, n, 11 + i), t = turned(one, k, n);
    many.insert(many.end(), t.begin(), t.end());
    auto const d = expected(a, one, m, n, k);
    want.insert(want.end(), d.begin(), d.end());
  }
  write_file(b_file, npy_header(elem::f16, n, k, stack) +
                         encode(many, stack * n, k, elem::f16, order::row_major));
  ASSERT_EQ(run({"--batch", "--transpose-b", "--out-dtype", "f32", "--check"}).status, 0);
  std::string const d = read_file(d_file), data = d.substr(d.size() - 4 * want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    float got = 0;
    std::memcpy(&got, data.data() + 4 * i, 4);
    ASSERT_EQ(got, static_cast<float>(want[i])) << i;
  }
}

/// Rows whose sum is 64 (3e38) - 64 (3e38) in float32: infinite or NaN, where the exact sum is 0.
std::vector<float> overflowing_rows(std::int64_t rows, std::int64_t overflowing) {
  std::vector<float> v(static_cast<std::size_t>(rows * 128), 1.0F);
  for (std::int64_t i = 0; i < overflowing * 128; ++i)
    v[static_cast<std::size_t>(i)] = i % 128 < 64 ? 3e38F : -3e38F;
  return v;
}

TEST_F(gemm_command, a_check_that_judged_too_little_has_not_passed_and_nothing_is_written) {
  std::string const aux = folder / "aux.npy";
  write_npy(b_file, std::vector<float>(128 * 16, 1.0F), 128, 16, elem::bf16, order::col_major);
  for (std::int64_t const overflowing : {20, 3, 1, 0}) {
    write_npy(a_file, overflowing_rows(20, overflowing), 20, 128, elem::bf16);
    fs::remove(d_file);
    fs::remove(aux);
    auto const r = run({"--check", "--aux", aux});
    bool const enough = overflowing <= 2;
    EXPECT_EQ(r.status, enough ? 0 : 1) << r.out << r.err;
    EXPECT_EQ(fs::exists(d_file), enough);
    EXPECT_EQ(fs::exists(aux), enough);
    EXPECT_EQ(r.out.find("passed") != std::string::npos, enough) << r.out;
    EXPECT_EQ(r.out.find("INCONCLUSIVE") == std::string::npos, enough) << r.out;
    EXPECT_EQ(r.err.find("judge too few") == std::string::npos, enough) << r.err;
    EXPECT_EQ(r.out.find("nan"), std::string::npos) << r.out;
    auto const check = run({"--check", "--aux", aux, "--json"}).json()["check"];
    EXPECT_EQ(check["passed"], enough);
    EXPECT_EQ(check["unjudged"], 2 * 16 * overflowing);  // of D and of the auxiliary output
    EXPECT_EQ(check["judged"], 2 * 16 * (20 - overflowing));
    EXPECT_EQ(check["max_error"].is_null(), overflowing == 20) << check;
    EXPECT_EQ(check["at_max_ratio"].is_null(), overflowing == 20) << check;
  }
}

TEST_F(gemm_command, infinite_operands_are_judged) {
  write_npy(a_file, {2, 1}, 1, 2, elem::bf16);
  write_npy(b_file, {-3e38F, HUGE_VALF}, 2, 1, elem::bf16);
  auto const r = run({"--check"});  // -6e38 overflows and inf is added: float32 gives NaN
  EXPECT_EQ(r.status, 1) << r.out;
  EXPECT_EQ(r.out.find("FAILED"), std::string::npos) << r.out;
  EXPECT_EQ(r.out.find("-nan"), std::string::npos) << r.out;
  write_npy(b_file, {-3, HUGE_VALF}, 2, 1, elem::bf16);
  EXPECT_EQ(run({"--check"}).status, 0);
  write_npy(b_file, {NAN, HUGE_VALF}, 2, 1, elem::bf16);
  EXPECT_EQ(run({"--check"}).status, 0);
}

TEST_F(gemm_command, stacks_of_matrices_are_batches) {
  constexpr std::int64_t stack = 3;
  std::string const stack_file = folder / "stack.npy";
  std::vector<float> many = small_values(stack * m, k, 7);
  write_file(stack_file, npy_header(elem::f32, m, k, stack) +
                             encode(many, stack * m, k, elem::f32, order::row_major));
  a_file_used = stack_file;
  auto const r = run({"--batch", "--out-dtype", "f32", "--check", "--json"});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.json()["batch"], stack);
  EXPECT_EQ(r.json()["check"]["rows"], stack * m);
  // B is the same for all: the stack is one GEMM of stack * m rows, after another header.
  std::string const d = read_file(d_file);
  EXPECT_NE(d.find("'shape': (3, 37, 24)"), std::string::npos);
  auto const want = expected(many, b, stack * m, n, k);
  std::string const data = d.substr(d.size() - 4 * want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    float got = 0;
    std::memcpy(&got, data.data() + 4 * i, 4);
    ASSERT_EQ(got, static_cast<float>(want[i])) << i;
  }
}

TEST_F(gemm_command, stacks_that_do_not_fit_are_refused) {
  std::string const two = folder / "two.npy", three = folder / "three.npy";
  auto const write = [&](std::string const& path, std::int64_t stack, std::int64_t rows,
                         std::int64_t cols, bool fortran) {
    std::string header = npy_header(elem::f32, rows, cols, stack);
    if (fortran) header.replace(header.find("False"), 5, "True ");
    write_file(path, header + std::string(static_cast<std::size_t>(stack * rows * cols * 4), 0));
  };
  auto const code = [&](std::vector<std::string> const& options) {
    auto const r = run(options);
    EXPECT_EQ(r.status, 2);
    return r.err.substr(r.err.find("TW"), 6);
  };
  write(two, 2, m, k, false);
  write(three, 3, k, n, false);
  a_file_used = two;
  EXPECT_EQ(code({}), "TW0605");  // --batch is missing
  b_file_used = three;
  EXPECT_EQ(code({"--batch"}), "TW0616");  // 2 and 3 matrices
  b_file_used = b_file;
  write(two, 2, m, k, true);
  EXPECT_EQ(code({"--batch"}), "TW0605");  // interleaved
  write(two, 2, m, k, false);
  d_file_used = folder / "model.safetensors.index.json:x";
  EXPECT_EQ(code({"--batch"}), "TW0612");
}

TEST_F(gemm_command, reads_and_writes_safetensors_with_data_at_any_address) {
  std::string const raw = encode(a, m, k, elem::f32, order::row_major);
  std::string const data = raw + encode(b, k, n, elem::f32, order::row_major);
  for (std::size_t padding = 0; padding < 4; ++padding) {  // no multiple of 4 for three of them
    nlohmann::ordered_json const header{
        {"a", {{"dtype", "F32"}, {"shape", {m, k}}, {"data_offsets", {0, raw.size()}}}},
        {"b", {{"dtype", "F32"}, {"shape", {k, n}}, {"data_offsets", {raw.size(), data.size()}}}}};
    std::string const text = header.dump() + std::string(padding, ' ');
    std::string length(8, '\0');
    for (int i = 0; i < 8; ++i)
      length[static_cast<std::size_t>(i)] = static_cast<char>(text.size() >> (8 * i));
    write_file(folder / "w.safetensors", length + text + data);
    auto const r = run_command({"gemm", folder / "w.safetensors:a", folder / "w.safetensors:b",
                                "-o", folder / "d.safetensors:y", "--out-dtype", "f32", "--device",
                                "emu", "--check", "--threads", "1"});
    ASSERT_EQ(r.status, 0) << r.err;
    expect_matrix(folder / "d.safetensors:y", expected(a, b, m, n, k), n, elem::f32);
  }
}

TEST_F(gemm_command, rounds_float32_to_nearest_even) {
  write_npy(a_file, {1.00390625F, 1.01171875F, -1.00390625F}, 3, 1, elem::f32);  // ties in bf16
  write_npy(b_file, {1.0F}, 1, 1, elem::f32);
  ASSERT_EQ(run({"--quiet"}).status, 0);
  expect_matrix(d_file, {1.0, 1.015625, -1.0}, 1, elem::bf16);
}

TEST_F(gemm_command, the_smallest_problem_works) {
  write_npy(a_file, {3.0F}, 1, 1, elem::f16);
  write_npy(b_file, {-2.5F}, 1, 1, elem::f16);
  auto const r = run({"--check"});
  ASSERT_EQ(r.status, 0) << r.err;
  expect_matrix(d_file, {-7.5}, 1, elem::f16);
}

TEST_F(gemm_command, says_what_it_did_to_people_and_to_programs) {
  auto const text = run({"--check"});
  EXPECT_EQ(text.status, 0);
  EXPECT_EQ(text.err, "");
  for (char const* part : {"M = 37, N = 24, K = 41", "37x41 bf16 row-major", "emulator",
                           "sm90_bf16", "FLOP/s", "all 888 elements against float64", "passed"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part << " is not in\n" << text.out;
  }
  auto const record = run({"--json"}).json();
  for (char const* key : {"m", "n", "k", "alpha", "beta", "a", "b", "c", "d", "device",
                          "device_name", "kernel", "plan", "seconds", "tflops", "check"}) {
    EXPECT_TRUE(record.contains(key)) << key;
  }
  EXPECT_EQ(record["device"], "emu");
  EXPECT_TRUE(record["check"].is_null());
  EXPECT_GT(record["tflops"], 0.0);
  EXPECT_EQ(run({"--quiet"}).out, "");
}

TEST_F(gemm_command, an_invariant_row_has_the_bits_that_it_has_alone) {
  constexpr std::int64_t rows = 70, cols = 40, inner = 600;
  auto const random = [](std::int64_t count, std::uint32_t seed) {
    std::vector<float> v(static_cast<std::size_t>(count));
    for (float& x : v) {
      seed = seed * 1664525U + 1013904223U;
      x = static_cast<float>(seed >> 8) / 8388608.0F - 1.0F;
    }
    return v;
  };
  std::vector<float> const all = random(rows * inner, 1);
  write_npy(folder / "all.npy", all, rows, inner, elem::bf16);
  write_npy(folder / "one.npy", {all.begin() + 30 * inner, all.begin() + 31 * inner}, 1, inner,
            elem::bf16);
  write_npy(b_file, random(inner * cols, 2), inner, cols, elem::bf16, order::col_major);
  auto const result = [&](std::string const& a_name) {
    std::string const d = folder / ("d_" + a_name);
    auto const r = run_command({"gemm", folder / a_name, b_file, "-o", d, "--device", "emu",
                                "--out-dtype", "f32", "--invariant", "--check", "--json"});
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_EQ(r.json()["invariant"], "wgmma of 16 elements of K, one after another, in float32");
    std::string const file = read_file(d);
    return file.substr(file.size() - (a_name == "one.npy" ? 1 : rows) * cols * 4);
  };
  EXPECT_EQ(result("all.npy").substr(30 * cols * 4, cols * 4), result("one.npy"));
}

TEST_F(gemm_command, may_replace_one_of_its_inputs) {
  auto const d = expected(a, b, m, n, k);
  auto const r = run_command(
      {"gemm", a_file, b_file, "-o", a_file, "--out-dtype", "f32", "--device", "emu", "--quiet"});
  ASSERT_EQ(r.status, 0) << r.err;
  expect_matrix(a_file, d, n, elem::f32);
}

TEST_F(gemm_command, a_leading_dimension_that_tma_cannot_address_is_in_the_log) {
  auto const r = run_command({"gemm", a_file, b_file, "-o", d_file, "--device", "emu"},
                             {"TW_LOG_LEVEL=info", "TW_LOG_FILE=" + (folder / "log")});
  EXPECT_EQ(r.status, 0);
  EXPECT_NE(r.err.find("performance: A: leading dimension of 82 bytes"), std::string::npos)
      << r.err;
  EXPECT_NE(read_file(folder / "log").find("performance: A"), std::string::npos);
}

}  // namespace
