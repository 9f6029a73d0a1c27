// SPDX-License-Identifier: Apache-2.0
// field_words_test.cpp  The library's refusals name its fields, the command's its options.
#include "tools/report/field_words.hpp"

#include <fstream>
#include <regex>

#include "tests/tools/command.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/problem/quantize.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tools/io/npy.hpp"

namespace {

using namespace tw;
using namespace tw_test;

/// The string literals of a source: comments may name options.
std::string literals_of(fs::path const& file) {
  std::ifstream in(file);
  std::string text;
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(' ') != std::string::npos &&
        line.compare(line.find_first_not_of(' '), 2, "//") == 0)
      continue;
    for (std::size_t at = 0; (at = line.find('"', at)) != std::string::npos;) {
      std::size_t const end = line.find('"', at + 1);
      if (end == std::string::npos) break;
      text += line.substr(at + 1, end - at - 1) + "\n";
      at = end + 1;
    }
  }
  return text;
}

TEST(FieldWords, NoTextOfTheLibraryNamesAnOption) {
  std::regex const option("--[a-z]");
  int files = 0;
  for (char const* const folder : {"problem", "family", "dispatch", "emu"})
    for (auto const& entry :
         fs::recursive_directory_iterator(fs::path(TW_SOURCE_DIR "/src") / folder)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      ++files;
      std::string const text = literals_of(entry.path());
      std::smatch found;
      EXPECT_FALSE(std::regex_search(text, found, option))
          << entry.path() << ": " << found.str() << found.suffix().str().substr(0, 40);
    }
  EXPECT_GT(files, 80);
}

TEST(FieldWords, NoTextOfTheCommandNamesAField) {
  std::regex const field("gemm_problem::|gemm_operands::|scale_desc::|quantize_problem::");
  for (auto const& entry : fs::recursive_directory_iterator(TW_SOURCE_DIR "/tools")) {
    if (entry.path().extension() != ".cpp" || entry.path().filename() == "field_words.cpp")
      continue;
    EXPECT_FALSE(std::regex_search(literals_of(entry.path()), field)) << entry.path();
  }
}

gemm_problem fp8_problem() {
  gemm_problem p;
  p.m = 64, p.n = 32, p.k = 128;
  p.a = {elem::e4m3, order::row_major, 128}, p.b = {elem::e4m3, order::col_major, 128};
  p.d = {elem::e4m3, order::row_major, 32};
  return p;
}

TEST(FieldWords, EachRefusalHasItsOption) {
  struct expected {
    rejection of_library;
    char const* option;
  };
  std::vector<expected> all;
  gemm_problem p = fp8_problem();
  p.scale_d = output_scales{{.type = elem::ue8m0, .block_outer = 1, .stride_outer = 1}};
  all.push_back({accept(p).value(), "--scale-d-power-of-two"});
  p = fp8_problem(), p.a.type = p.b.type = elem::bf16;
  all.push_back({accept(p).value(), "--scale-d"});
  p = fp8_problem(), p.a.type = p.b.type = p.d.type = elem::bf16;
  p.epilogue.gate = gating::split, p.b.ord = order::row_major;
  all.push_back({accept(p).value(), "--transpose-b"});
  p.b.ord = order::col_major, p.c = p.d, p.beta = 1;
  all.push_back({accept(p).value(), "--residual"});
  p = fp8_problem(), p.a.type = p.b.type = elem::s8, p.d.type = elem::s32, p.k = 1 << 20;
  p.a.pitch_elems = p.b.pitch_elems = p.k;
  all.push_back({accept(p).value(), "--wrap"});
  quantize_problem q{
      64, 128, {elem::f32, order::row_major, 128}, {elem::e4m3, order::row_major, 128}, {}};
  q.scale = {.type = elem::ue8m0, .block_outer = 1, .stride_outer = 1};
  all.push_back({accept(q).value(), "--power-of-two"});
  auto const square = dense_scales(elem::f32, {2, 2});
  for (bool const is_b : {false, true}) {
    auto const read = recognise_scale(square, {is_b, 256, 256});
    all.push_back({std::get<rejection>(read), is_b ? "--scale-b-as " : "--scale-a-as "});
  }
  auto const blocks = recognise_block_scale(dense_scales(elem::ue8m0, {128, 8}), {true, 128, 256},
                                            block_format::mxfp8);
  all.push_back({std::get<rejection>(blocks), "--scale-b-as linear or 32x4x4"});
  p = fp8_problem(), p.scale_a = scale_desc{.tiled = true};
  all.push_back({accept(p).value(), "order 32x4x4 of the scales of A: got"});
  for (expected const& x : all) {
    std::string const text = to_string(x.of_library), said = to_string(with_options(x.of_library));
    EXPECT_EQ(text.find(x.option), std::string::npos) << text;
    EXPECT_NE(said.find(x.option), std::string::npos) << said;
    EXPECT_EQ(said.find("::"), std::string::npos) << said;
    std::string const of_c = to_string(with_arguments(x.of_library));
    EXPECT_EQ(of_c.find("::"), std::string::npos) << of_c;
    EXPECT_EQ(of_c.find("--"), std::string::npos) << of_c;
    EXPECT_NE(of_c, text);
  }
}

TEST(FieldWords, OperandsHaveTheNamesOfArguments) {
  auto const what = [](char const* of_library) {
    return with_arguments(rejection{"TW0000", of_library, "A e4m3, B bf16", "", ""}).what;
  };
  EXPECT_EQ(what("type of D"), "type of d");
  EXPECT_EQ(what("address of the scales of A (gemm_operands::scale_a)"), "address of scale_a");
  EXPECT_EQ(what("the second level of B's scales (gemm_operands::second_level_b)"), "second_b");
  EXPECT_EQ(what("memory of the auxiliary output"), "memory of aux");
  EXPECT_EQ(what("GEMMs in the batch"), "GEMMs in the batch");
  EXPECT_EQ(with_arguments(rejection{"", "", "A e4m3, B bf16", "", ""}).got, "a e4m3, b bf16");
}

TEST(FieldWords, TheCommandSaysThem) {
  scratch const folder;
  for (auto const& [file, rows] : {std::pair{"a.npy", 4}, {"b.npy", 16}})
    write_file(folder / file, npy_header(elem::f16, rows, 16) +
                                  std::string(static_cast<std::size_t>(32 * rows), '\0'));
  auto const refused = [&](std::vector<std::string> options) {
    std::vector<std::string> words{
        "gemm", folder / "a.npy", folder / "b.npy", "-o", folder / "d.npy", "--device", "emu"};
    words.insert(words.end(), options.begin(), options.end());
    auto const r = run_command(words);
    EXPECT_EQ(r.status, 2) << r.out;
    EXPECT_EQ(r.err.find("::"), std::string::npos) << r.err;
    return r.err;
  };
  EXPECT_NE(refused({"--scale-d", "amax-row", "--scale-d-type", "ue8m0"}).find("TW0450"),
            std::string::npos);
  std::string const blocks = refused({"--scale-d", "amax-1x128", "--scale-d-type", "ue8m0"});
  EXPECT_NE(blocks.find("--scale-d-power-of-two"), std::string::npos) << blocks;
  std::string const row = refused({"--scale-d", "amax-row", "--scale-d-type", "ue8m0x4"});
  EXPECT_NE(row.find("TW0450: scales of D"), std::string::npos) << row;
  for (char const* const ignored :
       {"--scale-d-power-of-two", "--scale-d-type=ue8m0", "--scale-d-as=deepgemm"}) {
    std::string const given = refused({"--scale-d", "0.3", ignored});
    EXPECT_NE(given.find("TW0615"), std::string::npos) << given;
  }
}

}  // namespace
