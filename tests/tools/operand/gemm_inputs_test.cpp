// SPDX-License-Identifier: Apache-2.0
// gemm_inputs_test.cpp  Operands that are not a bf16 matrix in a file: float64, vectors, stacks and
//                       shards of .safetensors, streams, nothing at all.
#include <cmath>
#include <cstring>
#include <random>

#include "tests/tools/command.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/io/npy.hpp"
#include "tools/io/safetensors.hpp"
#include "tools/operand/operand.hpp"

namespace {

using namespace tw;
using namespace tw_test;

/// An f32 .npy file of any shape.
std::string npy(std::vector<std::int64_t> const& shape, std::vector<float> const& values) {
  return npy_header(elem::f32, shape) +
         encode(values, 1, static_cast<std::int64_t>(values.size()), elem::f32, order::row_major);
}

std::vector<float> product(std::vector<float> const& a, std::vector<float> const& b, std::int64_t m,
                           std::int64_t n, std::int64_t k) {
  std::vector<float> d(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m * n; ++i)
    for (std::int64_t l = 0; l < k; ++l)
      d[static_cast<std::size_t>(i)] +=
          a[static_cast<std::size_t>(i / n * k + l)] * b[static_cast<std::size_t>(l * n + i % n)];
  return d;
}

class inputs : public testing::Test {
 protected:
  static constexpr std::int64_t m = 5, n = 24, k = 16;
  scratch const folder;
  std::vector<float> const a = small_values(m, k, 1), b = small_values(k, n, 2);

  /// gemm A B -o d.npy in float32; D's bytes.
  std::string d_of(std::string const& a_file, std::string const& b_file,
                   std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"gemm", a_file, b_file, "-o", folder / "d.npy", "--out-dtype",
                                     "f32", "--device", "emu", "--check", "--quiet"});
    auto const r = run_command(options);
    EXPECT_EQ(r.status, 0) << r.err;
    return read_file(folder / "d.npy");
  }
  std::string put(std::string const& name, std::string const& content) const {
    write_file(folder / name, content);
    return folder / name;
  }
};

TEST_F(inputs, vectors_mean_what_they_mean_in_numpy) {
  std::vector<float> const row(a.begin(), a.begin() + k), column = small_values(k, 1, 3);
  std::string const a_file = put("a.npy", npy({m, k}, a)), b_file = put("b.npy", npy({k, n}, b));
  std::string const x = put("x.npy", npy({k}, row)), y = put("y.npy", npy({k}, column));
  EXPECT_EQ(d_of(x, b_file), npy({n}, product(row, b, 1, n, k)));
  EXPECT_EQ(d_of(a_file, y), npy({m}, product(a, column, m, 1, k)));
  EXPECT_EQ(d_of(x, y), npy({}, product(row, column, 1, 1, k)));
  std::string const c = put("c.npy", npy({n}, small_values(1, n, 4)));
  auto want = product(row, b, 1, n, k);
  for (std::size_t i = 0; i < want.size(); ++i) want[i] += small_values(1, n, 4)[i];
  EXPECT_EQ(d_of(x, b_file, {"-C", c}), npy({n}, want));
  // A matrix C is not a vector, and beside matrices a vector is no C.
  auto const r = run_command({"gemm", a_file, b_file, "-C", c, "-o", folder / "d.npy"});
  EXPECT_EQ(r.status, 2);
  EXPECT_NE(r.err.find("TW0605"), std::string::npos) << r.err;
}

TEST_F(inputs, an_inner_dimension_of_nothing_gives_beta_c_or_zeros) {
  std::string const none_a = put("a.npy", npy({m, 0}, {})), none_b = put("b.npy", npy({0, n}, {}));
  std::vector<float> const c = small_values(m, n, 5);
  std::vector<float> twice = c;
  for (float& x : twice) x *= 2;
  EXPECT_EQ(d_of(none_a, none_b), npy({m, n}, std::vector<float>(m * n)));
  EXPECT_EQ(d_of(none_a, none_b, {"-C", put("c.npy", npy({m, n}, c)), "--beta", "2"}),
            npy({m, n}, twice));
  auto const r = run_command({"gemm", none_a, none_b, "-o", folder / "d.npy", "--json"});
  EXPECT_EQ(r.json()["k"], 0);
  std::vector<float> const bias = small_values(1, n, 6);
  std::vector<float> rows;
  for (int i = 0; i < m; ++i) rows.insert(rows.end(), bias.begin(), bias.end());
  EXPECT_EQ(d_of(none_a, none_b, {"--bias", put("bias.npy", npy({n}, bias))}), npy({m, n}, rows));
  for (std::vector<std::string> const& types :
       std::vector<std::vector<std::string>>{{"--dtype", "e4m3"},
                                             {"--dtype", "f32"},
                                             {"--scaling-a", "row", "--scaling-b", "128x128"}})
    EXPECT_EQ(d_of(none_a, none_b, types), npy({m, n}, std::vector<float>(m * n)));
}

TEST_F(inputs, a_result_without_elements_is_written) {
  std::string const b_file = put("b.npy", npy({k, n}, b)), a_file = put("a.npy", npy({m, k}, a));
  EXPECT_EQ(d_of(put("no_rows.npy", npy({0, k}, {})), b_file), npy({0, n}, {}));
  EXPECT_EQ(d_of(a_file, put("no_cols.npy", npy({k, 0}, {}))), npy({m, 0}, {}));
  EXPECT_EQ(d_of(put("no_stack.npy", npy({0, m, k}, {})), b_file, {"--batch"}), npy({0, m, n}, {}));
  auto const r = run_command({"gemm", folder / "no_rows.npy", b_file, "-o", folder / "d.npy"});
  EXPECT_NE(r.out.find("nothing was computed"), std::string::npos) << r.out;
}

/// A .safetensors file of F32 tensors, one after the other.
std::string safetensors(
    std::vector<std::tuple<std::string, std::vector<std::int64_t>, std::vector<float>>> const&
        all) {
  nlohmann::ordered_json header;
  std::string data;
  for (auto const& [name, shape, values] : all) {
    std::string const bytes = npy(shape, values).substr(npy_header(elem::f32, shape).size());
    header[name] = {{"dtype", "F32"},
                    {"shape", shape},
                    {"data_offsets", {data.size(), data.size() + bytes.size()}}};
    data += bytes;
  }
  std::string const text = header.dump();
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(text.size() >> (8 * i) & 0xff);
  return file + text + data;
}

TEST_F(inputs, a_tensor_of_three_dimensions_is_a_batch) {
  constexpr std::int64_t experts = 3;
  std::vector<float> const many = small_values(experts * k, n, 6);
  std::string const w = put("w.safetensors", safetensors({{"experts", {experts, k, n}, many}}));
  std::string const a_file = put("a.npy", npy({m, k}, a));
  std::vector<float> want;
  for (std::int64_t e = 0; e < experts; ++e) {
    std::vector<float> const one(many.begin() + e * k * n, many.begin() + (e + 1) * k * n);
    for (float const x : product(a, one, m, n, k)) want.push_back(x);
  }
  EXPECT_EQ(d_of(a_file, w + ":experts", {"--batch"}), npy({experts, m, n}, want));
  // The result as a tensor of three dimensions.
  auto const r = run_command({"gemm", a_file, w, "-o", folder / "d.safetensors:y", "--batch",
                              "--out-dtype", "f32", "--device", "emu"});
  ASSERT_EQ(r.status, 0) << r.err;
  matrix_file const d(parse_address(folder / "d.safetensors:y"), accepted_shapes{.stacks = true});
  EXPECT_EQ(d.view().matrices, experts);
  EXPECT_EQ(element(d.view(), experts * m - 1, n - 1), want.back());
  auto const without = run_command({"gemm", a_file, w, "-o", folder / "d.npy"});
  EXPECT_NE(without.err.find("add --batch"), std::string::npos) << without.err;
}

TEST_F(inputs, a_sharded_checkpoint_is_read_through_its_index) {
  put("model-1.safetensors", safetensors({{"other", {1, 1}, {1}}}));
  put("model-2.safetensors", safetensors({{"layers.0.w", {k, n}, b}, {"x", {1, 1}, {1}}}));
  std::string const index =
      put("model.safetensors.index.json",
          R"({"metadata":{"total_size":9},"weight_map":{"layers.0.w":"model-2.safetensors",)"
          R"("gone":"model-3.safetensors","evil":"../model-2.safetensors","odd":7}})");
  std::string const a_file = put("a.npy", npy({m, k}, a));
  EXPECT_EQ(d_of(a_file, index + ":layers.0.w"), npy({m, n}, product(a, b, m, n, k)));
  for (auto const& [tensor, code] : {std::pair{"layers.0.v", "TW0610"},
                                     {"gone", "TW0601"},
                                     {"evil", "TW0608"},
                                     {"odd", "TW0608"},
                                     {"", "TW0610"}}) {
    auto const r = run_command({"gemm", a_file, index + ":" + tensor, "-o", folder / "d.npy"});
    EXPECT_EQ(r.status, 2);
    EXPECT_EQ(r.err.rfind(std::string("tilewright: ") + code, 0), 0U) << r.err;
  }
  auto const typo = run_command({"gemm", a_file, index + ":layers.0.v", "-o", folder / "d.npy"});
  EXPECT_NE(typo.err.find("did you mean \"layers.0.w\"?"), std::string::npos) << typo.err;
  put("model.safetensors.index.json", "{]");
  EXPECT_EQ(run_command({"gemm", a_file, index + ":w", "-o", folder / "d.npy"}).status, 2);
  EXPECT_EQ(run_command({"gemm", a_file, a_file, "-o", index + ":w"}).status, 2);
}

TEST_F(inputs, streams_are_read_and_written) {
  std::string const a_file = put("a.npy", npy({m, k}, a)), b_file = put("b.npy", npy({k, n}, b));
  std::string const head = std::string(TW_COMMAND) + " gemm ";
  std::string const tail = " --out-dtype f32 --device emu ";
  std::string const want = npy({m, n}, product(a, b, m, n, k));
  auto const shell = [](std::string const& line) {
    return WEXITSTATUS(std::system(("bash -c '" + line + "'").c_str()));
  };
  std::string const d = folder / "d.npy";
  EXPECT_EQ(shell(head + "- " + b_file + tail + "--quiet -o " + d + " < " + a_file), 0);
  EXPECT_EQ(read_file(d), want);
  EXPECT_EQ(shell(head + a_file + " /dev/stdin" + tail + "--quiet -o " + d + " < " + b_file), 0);
  EXPECT_EQ(read_file(d), want);
  EXPECT_EQ(shell(head + "<(cat " + a_file + ") <(cat " + b_file + ")" + tail + "-o - > " + d +
                  " 2> " + (folder / "err")),
            0);
  EXPECT_EQ(read_file(d), want);
  EXPECT_NE(read_file(folder / "err").find("kernel"), std::string::npos);  // the report
  EXPECT_EQ(shell("cat " + a_file + " | " + head + "- " + b_file + tail + "-o - --quiet > " + d),
            0);
  EXPECT_EQ(read_file(d), want);
  std::string const quiet = " 2> /dev/null";
  EXPECT_EQ(shell(head + "- -" + tail + "-o " + d + " < " + a_file + quiet), 2);
  EXPECT_EQ(shell(head + a_file + " " + b_file + tail + "-o - --json" + quiet), 2);
  EXPECT_EQ(shell(head + a_file + " " + b_file + tail + "-o - > /dev/full" + quiet), 2);
  EXPECT_EQ(shell(head + "- " + b_file + tail + "-o " + d + " < /dev/null" + quiet), 2);
}

TEST(doubles, are_rounded_once) {
  std::mt19937_64 g(7);
  std::vector<double> values{0.0,    -0.0,      HUGE_VAL, 1e300, -1e300,
                             1e-300, 65519.999, 65520.0,  5e-324};
  for (int i = 0; i < 20000; ++i) {
    // Next to the midpoint of two neighbouring bf16 or f16, where two roundings go wrong.
    double const unit = std::ldexp(1.0, static_cast<int>(g() % 40) - 20);
    double const step = g() % 2 == 0 ? 0x1p-8 : 0x1p-11;
    double const middle = unit * (1 + step * (2 * static_cast<double>(g() % 64) + 1));
    values.push_back(middle * (1 + (static_cast<double>(g() % 3) - 1) * 0x1p-40));
  }
  matrix_view file{elem::f32, order::row_major, 1, static_cast<std::int64_t>(values.size()),
                   reinterpret_cast<std::byte const*>(values.data())};
  file.doubles = true;
  for (elem const type : {elem::f16, elem::bf16, elem::f32}) {
    operand const rounded(file, type);
    for (std::size_t i = 0; i < values.size(); ++i) {
      double const x = values[i];
      float const got = element(rounded.view(), 0, static_cast<std::int64_t>(i));
      // The neighbours, on both sides of it, are not nearer.
      double const error = std::fabs(static_cast<double>(got) - x);
      if (!std::isfinite(got) || std::fabs(x) < 1e-30) continue;
      double const ulp = type == elem::f32 ? 0x1p-23 : type == elem::f16 ? 0x1p-10 : 0x1p-7;
      double const scale = std::ldexp(1.0, std::max(std::ilogb(x), type == elem::f16 ? -14 : -126));
      EXPECT_LE(error, scale * ulp / 2) << x << " as " << name(type);
    }
    EXPECT_TRUE(std::isinf(element(rounded.view(), 0, 3)) || type == elem::f32);
    EXPECT_EQ(std::signbit(element(rounded.view(), 0, 1)), true);
  }
}

}  // namespace
