// SPDX-License-Identifier: Apache-2.0
// moe_command_test.cpp  A layer of a mixture of experts by two GEMMs of the command on files has
//                       the bits of the layer in C++ (the two command lines of docs/groups.md).
#include <array>
#include <cstring>
#include <random>

#include "tests/moe_gemms.hpp"
#include "tests/tools/command.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/dispatch/moe.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/io/npy.hpp"

namespace {

using namespace tw;
using namespace tw_test;

constexpr std::int64_t tokens = 37, choices = 2, experts = 5, model = 64, inner = 48,
                       pairs = tokens * choices;

template <class T>
void write_npy(std::string const& path, elem type, std::vector<std::int64_t> const& shape,
               std::vector<T> const& values) {
  std::string content = npy_header(type, shape);
  content.append(reinterpret_cast<char const*>(values.data()), values.size() * sizeof(T));
  write_file(path, content);
}

TEST(MoeCommand, ALayerOnFilesHasTheBitsOfTheLayerInCpp) {
  std::mt19937_64 rng(20261216);
  std::normal_distribution<float> normal;
  auto const fill = [&](std::int64_t count, float scale) {
    std::vector<bf16> x(static_cast<std::size_t>(count));
    for (bf16& v : x) v = to_bf16(scale * normal(rng));
    return x;
  };
  std::vector<bf16> const x = fill(tokens * model, 1),
                          gate_up = fill(experts * 2 * inner * model, 0.125F),
                          down = fill(experts * model * inner, 0.125F);
  std::vector<std::int32_t> chosen(pairs), ends(experts), source(pairs), place(pairs);
  for (std::int32_t& e : chosen) e = std::array{0, 1, 3, 4}[rng() % 4];  // none goes to 2
  std::vector<float> weights(pairs);
  for (float& w : weights) w = static_cast<float>(rng() % 100) / 100;
  moe_problem route{.tokens = tokens, .choices = choices, .experts = experts, .cols = model};
  moe_operands o;
  o.chosen = chosen.data(), o.ends = ends.data(), o.source = source.data(), o.place = place.data();
  moe_sort_emulated(route, o);
  std::vector<std::int32_t> token(pairs);
  for (std::size_t i = 0; i < pairs; ++i) token[i] = source[i] / static_cast<std::int32_t>(choices);

  std::vector<bf16> hidden(pairs * inner), out(pairs * model), y(tokens * model);
  gemm_problem up = test::gate_up_gemm(pairs, model, inner, experts);
  up.groups->gather_from = tokens;
  gemm_operands of_up{x.data(), gate_up.data(), nullptr, hidden.data()};
  of_up.groups = ends.data(), of_up.gather = token.data();
  gemm_emulated(up, of_up, {});
  gemm_problem back = test::down_gemm(pairs, model, inner, experts);
  back.groups->scatter_to = pairs;
  back.epilogue.row_weight = along::rows;
  gemm_operands of_back{hidden.data(), down.data(), nullptr, out.data()};
  of_back.groups = ends.data(), of_back.scatter = source.data();
  of_back.row_weight = weights.data();
  gemm_emulated(back, of_back, {});
  route.scattered = true;
  o.from = out.data(), o.to = y.data();
  moe_combine_emulated(route, o);

  scratch const folder;
  write_npy(folder / "x.npy", elem::bf16, {tokens, model}, x);
  write_npy(folder / "gate_up.npy", elem::bf16, {experts, 2 * inner, model}, gate_up);
  write_npy(folder / "down.npy", elem::bf16, {experts, model, inner}, down);
  write_npy(folder / "ends.npy", elem::s32, {experts}, ends);
  write_npy(folder / "token.npy", elem::s32, {pairs}, token);
  write_npy(folder / "source.npy", elem::s32, {pairs}, source);
  write_npy(folder / "weights.npy", elem::f32, {pairs}, weights);
  auto const run = [&](std::vector<std::string> words) {
    for (std::string& w : words)
      if (w.ends_with(".npy")) w = folder / w;
    for (char const* w : {"--transpose-b", "--device", "emu", "--check", "--quiet"})
      words.push_back(w);
    command_result const r = run_command(words);
    EXPECT_EQ(r.status, 0) << r.err;
  };
  run({"gemm", "x.npy", "gate_up.npy", "-o", "hidden.npy", "--groups", "ends.npy", "--gather",
       "token.npy", "--gate", "swiglu:split"});
  run({"gemm", "hidden.npy", "down.npy", "-o", "out.npy", "--groups", "ends.npy", "--scatter",
       "source.npy", "--row-weight", "weights.npy"});
  auto const expect_bits = [&](char const* name, std::vector<bf16> const& want) {
    matrix_file const file(parse_address(folder / name));
    ASSERT_EQ(file.view().size().count, static_cast<std::int64_t>(want.size() * sizeof(bf16)));
    EXPECT_EQ(std::memcmp(file.view().data, want.data(), want.size() * sizeof(bf16)), 0) << name;
  };
  expect_bits("hidden.npy", hidden);
  expect_bits("out.npy", out);
  matrix_file const file(parse_address(folder / "out.npy"));
  std::vector<bf16> rows(out.size()), of_files(y.size());
  std::memcpy(rows.data(), file.view().data, rows.size() * sizeof(bf16));
  o.from = rows.data(), o.to = of_files.data();
  moe_combine_emulated(route, o);
  EXPECT_EQ(std::memcmp(of_files.data(), y.data(), y.size() * sizeof(bf16)), 0);
}

}  // namespace
