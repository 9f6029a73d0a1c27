// SPDX-License-Identifier: Apache-2.0
// quantize_command_test.cpp  The built command writes values and scales that decode to the matrix,
//                            in the order of each library.
#include <cmath>

#include "tests/tools/command.hpp"
#include "tilewright/problem/reference.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/io/npy.hpp"
#include "tools/operand/scale_file.hpp"

namespace {

using namespace tw;
using namespace tw_test;

class quantize_command : public testing::Test {
 protected:
  static constexpr std::int64_t rows = 70, cols = 300;
  scratch const folder;
  std::vector<float> values = small_values(rows, cols, 7);
  std::string const in = folder / "x.npy", out = folder / "x8.npy";

  void SetUp() override {
    for (std::size_t i = 0; i < values.size(); i += 11) values[i] *= 100;
    write(order::row_major);
  }
  void write(order ord) {
    std::string const header = npy_header(elem::bf16, {rows, cols}, ord == order::col_major);
    write_file(in, header + encode(values, rows, cols, elem::bf16, ord));
  }
  command_result run(std::vector<std::string> options) {
    options.insert(options.begin(), {"quantize", in, out});
    return run_command(options);
  }

  /// Every element is near its decoded value; `outer` and K as operand A or B has them.
  void expect_decodes(std::string const& values_at, std::string const& scales_at, bool is_b,
                      scale_choice const& choice, double step) {
    matrix_file const file(parse_address(values_at));
    matrix_file const scales(parse_address(scales_at), scale_shapes);
    matrix_view const over = is_b ? transposed(file.view()) : file.view();
    scaled_operand const x{is_b, over.rows, over.cols};
    auto const found = recognise_scale(scale_tensor_of(scales.view()), x, choice);
    ASSERT_TRUE(std::holds_alternative<scale_desc>(found)) << to_string(std::get<rejection>(found));
    scale_desc const s = std::get<scale_desc>(found);
    for (std::int64_t i = 0; i < x.outer; ++i)
      for (std::int64_t k = 0; k < x.k; ++k) {
        double const scale = load_element({s.type, order::row_major, 1}, scales.view().data, 0,
                                          scale_offset(s, i, k));
        double const decoded = element(over, i, k) * scale;
        auto const at = static_cast<std::size_t>(is_b ? k * cols + i : i * cols + k);
        double const x_of_file = to_float(to_bf16(values[at]));
        ASSERT_LE(std::fabs(decoded - x_of_file), step * std::fabs(x_of_file) + 1.5 * scale)
            << i << ", " << k;
      }
  }
};

TEST_F(quantize_command, values_times_scales_are_the_matrix) {
  struct row {
    std::vector<std::string> options;
    char const* choice;
    double step;  // half a last bit
  };
  for (order const ord : {order::row_major, order::col_major}) {
    write(ord);
    for (row const& c :
         {row{{"--to", "e4m3", "--scaling", "tensor"}, "tensor", 0x1p-4},
          row{{"--to", "e5m2", "--scaling", "row"}, "row", 0x1p-3},
          row{{"--to", "e4m3", "--scaling", "1x128"}, "torch:1x128", 0x1p-4},
          row{{"--to", "s8", "--scaling", "128x128"}, "torch:128x128", 0x1p-2},
          row{{"--to", "e4m3", "--scaling", "1x128", "--scale-as", "deepgemm"}, "deepgemm", 0x1p-4},
          row{{"--to", "e4m3", "--scaling", "1x128", "--scale-as", "deepgemm", "--scale-type",
               "ue8m0x4", "--power-of-two"},
              "deepgemm",
              0x1p-4},
          row{{"--to", "e4m3", "--scaling", "128x128", "--scale-as", "flashinfer-mn",
               "--scale-type", "ue8m0", "--power-of-two"},
              "flashinfer-mn",
              0x1p-4}}) {
      for (bool const is_b : {false, true}) {
        SCOPED_TRACE(testing::Message() << c.choice << (is_b ? ", B" : ", A"));
        std::vector<std::string> options = c.options;
        if (is_b) options.insert(options.end(), {"--operand", "b"});
        command_result const r = run(options);
        ASSERT_EQ(r.status, 0) << r.err;
        expect_decodes(out, folder / "x8.scale.npy", is_b, *parse_scale_choice(c.choice), c.step);
      }
    }
  }
}

TEST_F(quantize_command, writes_safetensors_and_reports) {
  std::string const to = folder / "w.safetensors:w", scales = folder / "s.safetensors:w_scale";
  command_result const r = run_command(
      {"quantize", in, to, "--to", "e4m3", "--scaling", "1x128", "--scale-out", scales, "--json"});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.json()["scaling"], "1x128");
  EXPECT_EQ(r.json()["zero_blocks"], 0);
  EXPECT_EQ(matrix_file(parse_address(to)).view().type, elem::e4m3);
  expect_decodes(to, scales, false, {}, 0x1p-4);
}

TEST_F(quantize_command, counts_what_has_no_value) {
  values[3] = NAN, values[5] = HUGE_VALF;
  for (std::int64_t i = 0; i < cols; ++i) values[static_cast<std::size_t>(cols + i)] = 0;
  write(order::row_major);
  command_result const r = run({"--to", "e4m3", "--scaling", "row"});
  ASSERT_EQ(r.status, 0) << r.err;
  for (char const* note : {"1 element is NaN and stayed NaN", "1 infinity is clamped to 448",
                           "1 block has no finite element but zero: scale 1"})
    EXPECT_NE(r.out.find(note), std::string::npos) << r.out;
}

TEST_F(quantize_command, refuses_with_a_code) {
  auto const code = [&](std::vector<std::string> const& options) {
    command_result const r = run(options);
    EXPECT_EQ(r.status, 2);
    return r.err.substr(0, r.err.find(':', 12));
  };
  EXPECT_EQ(code({"--to", "e4m3"}), "tilewright: TW0615");
  EXPECT_EQ(code({"--to", "bf16", "--scaling", "row"}), "tilewright: TW0615");
  EXPECT_EQ(code({"--to", "e4m3", "--scaling", "row", "--scale-as", "deepgemm"}),
            "tilewright: TW0450");
  EXPECT_EQ(code({"--to", "e4m3", "--scaling", "1x128", "--scale-type", "ue8m0"}),
            "tilewright: TW0452");
  EXPECT_EQ(code({"--to", "e4m3", "--scaling", "row", "--scale-out", out}), "tilewright: TW0612");
  ASSERT_EQ(run({"--to", "e4m3", "--scaling", "row"}).status, 0);
  command_result const again =
      run_command({"quantize", out, folder / "y.npy", "--to", "e4m3", "--scaling", "row"});
  EXPECT_EQ(again.err.rfind("tilewright: TW0452", 0), 0U) << again.err;
}

}  // namespace
