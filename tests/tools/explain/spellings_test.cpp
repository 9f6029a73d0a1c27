// SPDX-License-Identifier: Apache-2.0
// spellings_test.cpp  A concept has the same words in every verb: types, scalings, places, devices.
#include <set>

#include "tests/tools/command.hpp"
#include "tools/io/npy.hpp"

namespace {

using namespace tw;
using namespace tw_test;

using words = std::vector<std::string>;

std::string output_of(words const& typed) {
  auto const r = run_command(typed);
  EXPECT_EQ(r.status, 0) << r.err;
  return r.out;
}

/// The verbs that take a type of operands, with `option` and `type`.
std::vector<words> with_type(std::string const& option, std::string const& type) {
  return {{"plan", "64x64x64", "--all-kernels", option, type},
          {"roofline", "64x64x64", option, type},
          {"occupancy", "--tile", "128x128x64", option, type}};
}

TEST(spellings, an_element_type_has_the_names_of_the_libraries_in_every_verb) {
  for (auto const& [type, aliases] : std::vector<std::pair<std::string, words>>{
           {"e4m3", {"fp8", "fp8_e4m3", "float8_e4m3fn", "F8_E4M3"}},
           {"e5m2", {"float8_e5m2", "F8_E5M2"}},
           {"s8", {"int8", "I8"}},
           {"u8", {"uint8"}},
           {"f16", {"fp16", "half", "float16"}}}) {
    std::vector<words> const usual = with_type("--dtype", type);
    for (std::string const& alias : aliases)
      for (char const* const option : {"--dtype", "--ab"}) {
        std::vector<words> const other = with_type(option, alias);
        for (std::size_t i = 0; i < usual.size(); ++i)
          EXPECT_EQ(output_of(other[i]), output_of(usual[i])) << alias << " " << usual[i][0];
      }
  }
}

TEST(spellings, quantize_has_the_options_and_words_of_gemm) {
  scratch const folder;
  std::string const in = folder / "in.npy", out = folder / "out.npy";
  write_file(in, npy_header(elem::f32, 4, 128) + std::string(4 * 128 * 4, '\1'));
  std::set<std::string> files;
  for (words const& typed :
       std::vector<words>{{"quantize", in, out, "--to", "e4m3", "--scaling", "row"},
                          {"quantize", in, "-o", out, "--dtype", "fp8", "--scaling", "rowwise"},
                          {"quantize", in, "--output", out, "--out-dtype", "float8_e4m3fn",
                           "--scaling", "per-token"}}) {
    output_of(typed);
    files.insert(read_file(out));
  }
  EXPECT_EQ(files.size(), 1U);
  std::string const d = folder / "d.npy";
  files.clear();
  for (char const* const scaling : {"row", "per-row", "Rowwise"}) {
    output_of({"gemm", in, in, "--transpose-b", "-o", d, "--device", "emulator", "--scaling-a",
               scaling, "--scaling-b", "tensorwise", "--quiet"});
    files.insert(read_file(d));
  }
  EXPECT_EQ(files.size(), 1U);
}

TEST(spellings, a_device_is_named_alike) {
  for (std::string const verb : {"plan", "roofline"})
    EXPECT_EQ(output_of({verb, "64x64x64", "--device", "H100"}),
              output_of({verb, "64x64x64", "--device", "h100_sxm"}));
  words const launch{"occupancy", "--regs", "64", "--threads", "128", "--device"};
  words typed = launch;
  typed.emplace_back("H100");
  words usual = launch;
  usual.emplace_back("h100_sxm");
  EXPECT_EQ(output_of(typed), output_of(usual));
  auto const r = run_command({"plan", "64x64x64", "--device", "h20o"});
  EXPECT_EQ(r.status, 2);
  EXPECT_NE(r.err.find("did you mean h20"), std::string::npos) << r.err;
  output_of({"ladder", "--rung", "1", "--size", "64", "--device", "emulator"});
  output_of({"stages", "128x256x64", "--device", "cpu"});
}

}  // namespace
