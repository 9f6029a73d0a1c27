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

/// Stacks of three matrices of other magnitudes, and each of them alone.
class gemm_result_scale_stack : public testing::Test {
 protected:
  static constexpr std::int64_t m = 42, n = 528, k = 64, matrices = 3;
  scratch const folder;

  static std::string of(char const* name, std::int64_t i) {
    return std::string(name) + std::to_string(i) + ".npy";
  }
  void SetUp() override {
    write("a", m, 1);
    write("b", n, 10);
    std::vector<float> const next = small_values(24, n, 5);
    write_file(folder / "next.npy",
               npy_header(elem::bf16, 24, n) + encode(next, 24, n, elem::bf16, order::row_major));
  }
  void write(char const* name, std::int64_t rows, unsigned seed) {
    std::string all;
    for (std::int64_t i = 0; i < matrices; ++i) {
      std::vector<float> x = small_values(rows, k, seed + static_cast<unsigned>(i));
      for (float& e : x) e *= i == 0 ? 1.0F : i == 1 ? 24.0F : 0.0625F;
      std::string const one = encode(x, rows, k, elem::bf16, order::row_major);
      write_file(folder / of(name, i), npy_header(elem::bf16, rows, k) + one);
      all += one;
    }
    write_file(folder / (std::string(name) + ".npy"),
               npy_header(elem::bf16, rows, k, matrices) + all);
  }
  static void run(std::vector<std::string> words, std::vector<std::string> const& more = {}) {
    words.insert(words.begin(), "gemm");
    words.insert(words.end(), {"--transpose-b", "--device", "emu", "--check", "--quiet"});
    words.insert(words.end(), more.begin(), more.end());
    command_result const r = run_command(words);
    ASSERT_EQ(r.status, 0) << r.err << r.out;
  }
  /// The elements of a .npy file, and its shape.
  std::string elements(std::string const& name) const {
    std::string const file = read_file(folder / name);
    return file.substr(file.find('\n') + 1);
  }
  std::string shape(std::string const& name) const {
    std::string const file = read_file(folder / name);
    std::size_t const at = file.find("'shape': ") + 9;
    return file.substr(at, file.find(')', at) + 1 - at);
  }
  std::string each(char const* name) const {
    std::string all;
    for (std::int64_t i = 0; i < matrices; ++i) all += elements(of(name, i));
    return all;
  }
};

TEST_F(gemm_result_scale_stack, has_the_bits_of_each_matrix_alone_and_another_gemm_reads_it) {
  struct way {
    std::vector<std::string> options;
    char const *shape, *convention;
  };
  for (way const& w :
       {way{{"--scale-d", "amax-row"}, "(3, 42, 1)", "row f32"},
        way{{"--scale-d", "amax-1x128"}, "(3, 5, 42)", "1x128 f32 (torch BlockWise1x128"},
        way{{"--scale-d", "amax-1x128", "--scale-d-as", "cublaslt"}, "(3, 5, 42)", "cuBLASLt"},
        way{{"--scale-d", "amax-1x128", "--scale-d-as", "flashinfer-mn"},
            "(3, 5, 42)",
            "FlashInfer MN"},
        way{{"--scale-d", "amax-1x128", "--scale-d-as", "flashinfer-k"},
            "(3, 42, 5)",
            "FlashInfer K"},
        way{{"--scale-d", "amax-1x128", "--scale-d-as", "deepgemm"},
            "(3, 5, 44)",
            "1x128 f32 (DeepGEMM"},
        way{{"--scale-d", "amax-1x128", "--scale-d-as", "deepgemm", "--scale-d-type", "ue8m0",
             "--scale-d-power-of-two"},
            "(3, 5, 48)",
            "1x128 ue8m0 (DeepGEMM"},
        way{{"--scale-d", "amax-1x128", "--scale-d-as", "deepgemm", "--scale-d-type", "ue8m0x4",
             "--scale-d-power-of-two"},
            "(3, 2, 44)",
            "DeepGEMM, four UE8M0"}}) {
    std::string name;
    for (std::string const& word : w.options) name += word + " ";
    std::vector<std::string> stacked = w.options;
    stacked.emplace_back("--batch");
    run({folder / "a.npy", folder / "b.npy", "-o", folder / "d.npy"}, stacked);
    for (std::int64_t i = 0; i < matrices; ++i)
      run({folder / of("a", i), folder / of("b", i), "-o", folder / of("d", i)}, w.options);
    EXPECT_EQ(elements("d.npy"), each("d")) << name;
    EXPECT_EQ(shape("d.npy"), "(3, 42, 528)");
    std::string alone;
    for (std::int64_t i = 0; i < matrices; ++i)
      alone += elements("d" + std::to_string(i) + ".scale.npy");
    EXPECT_EQ(elements("d.scale.npy"), alone) << name;
    EXPECT_EQ(shape("d.scale.npy"), w.shape) << name;
    if (w.options[1] == "amax-row") continue;  // alone they are scales of the epilogue

    std::vector<std::string> const words{"gemm",
                                         folder / "d.npy",
                                         folder / "next.npy",
                                         "--transpose-b",
                                         "--batch",
                                         "-o",
                                         folder / "e.npy",
                                         "--scale-a",
                                         folder / "d.scale.npy",
                                         "--scaling-b",
                                         "128x128",
                                         "--check",
                                         "--device",
                                         "emu"};
    command_result const r = run_command(words);
    ASSERT_EQ(r.status, 0) << name << r.err;
    EXPECT_NE(r.out.find(w.convention), std::string::npos) << r.out;
    for (std::int64_t i = 0; i < matrices; ++i)
      run({folder / of("d", i), folder / "next.npy", "-o", folder / of("e", i)},
          {"--scale-a", folder / ("d" + std::to_string(i) + ".scale.npy"), "--scaling-b",
           "128x128"});
    EXPECT_EQ(elements("e.npy"), each("e")) << name;
  }
}

TEST_F(gemm_result_scale_stack, safetensors_files_and_a_stack_of_one_have_the_dimension_too) {
  run({folder / "a.npy", folder / "b.npy", "-o", folder / "d.safetensors:w"},
      {"--batch", "--scale-d", "amax-1x128"});
  std::string const scales = read_file(folder / "d.scale.safetensors");
  EXPECT_NE(scales.find("[3,5,42]"), std::string::npos) << scales.substr(0, 200);
  run({folder / "d.safetensors:w", folder / "next.npy", "-o", folder / "e.npy"},
      {"--batch", "--scale-a", folder / "d.scale.safetensors:w", "--scaling-b", "128x128"});
  run({folder / "a.npy", folder / "b.npy", "-o", folder / "d.npy"},
      {"--batch", "--scale-d", "amax-1x128"});
  run({folder / "d.npy", folder / "next.npy", "-o", folder / "f.npy"},
      {"--batch", "--scale-a", folder / "d.scale.npy", "--scaling-b", "128x128"});
  EXPECT_EQ(elements("e.npy"), elements("f.npy"));

  std::string const one = elements("a1.npy");
  write_file(folder / "one.npy", npy_header(elem::bf16, m, k, 1) + one);
  for (auto const& [kind, shape_of_it] :
       {std::pair{"amax-row", "(1, 42, 1)"}, std::pair{"amax-1x128", "(1, 5, 42)"}}) {
    run({folder / "one.npy", folder / "b1.npy", "-o", folder / "d.npy"},
        {"--batch", "--scale-d", kind});
    EXPECT_EQ(shape("d.npy"), "(1, 42, 528)");
    EXPECT_EQ(shape("d.scale.npy"), shape_of_it);
  }
}

TEST_F(gemm_result_scale_stack, a_given_scale_is_that_of_all_matrices) {
  run({folder / "a.npy", folder / "b.npy", "-o", folder / "d.npy"}, {"--batch", "--scale-d", "2"});
  for (std::int64_t i = 0; i < matrices; ++i)
    run({folder / of("a", i), folder / of("b", i), "-o", folder / of("d", i)}, {"--scale-d", "2"});
  EXPECT_EQ(elements("d.npy"), each("d"));
  EXPECT_FALSE(std::filesystem::exists(folder / "d.scale.npy"));
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
  expect_refused("need amax-row, amax-1x128, a number or a file", {"--scale-d", "amax-tensor"});
  expect_refused("TW0612", {"--scale-d", "0.5", "--scale-d-out", folder / "s.npy"});
  expect_refused("TW0612", {"--scale-d", "amax-row", "--scale-d-out", a});
  expect_refused("TW0616", {"--scale-d", a});
}

}  // namespace
