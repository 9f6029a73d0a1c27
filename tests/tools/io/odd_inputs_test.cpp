// SPDX-License-Identifier: Apache-2.0
// odd_inputs_test.cpp  Newer verbs keep what older ones promise: no output replaces a file of
//                      another kind, text of a file is made printable, hints fit the verb.
#include "tests/tools/command.hpp"
#include "tools/io/npy.hpp"
#include "tools/io/output_file.hpp"

namespace {

using namespace tw;
using namespace tw_test;

using words = std::vector<std::string>;

class odd_inputs : public testing::Test {
 protected:
  scratch const folder;
  std::string const matrix = npy_header(elem::f32, 4, 128) + std::string(2048, '\1');
  std::string const file = folder / "matrix.npy";
  void SetUp() override { write_file(file, matrix); }

  void expect_refused(words const& typed, std::string const& part) const {
    auto const r = run_command(typed);
    EXPECT_EQ(r.status, 2) << typed[0] << r.out;
    EXPECT_NE(r.err.find(part), std::string::npos) << r.err;
  }
};

TEST_F(odd_inputs, pictures_and_traces_replace_no_file_of_another_kind) {
  for (words const& typed : std::vector<words>{
           {"stages", "128x256x64", "--device", "emu", "--trace", file},
           {"roofline", "64x64x64", "--plot", file},
           {"ladder", "--rung", "1", "--size", "64", "--device", "emu", "--plot", file},
           {"ladder", "--rung", "1", "--size", "64", "--device", "emu", "--trace", file}}) {
    expect_refused(typed, "a file of another kind");
    EXPECT_EQ(read_file(file), matrix) << typed[0];
  }
  std::string const plot = folder / "plot.svg";
  for (int i = 0; i < 2; ++i)  // its own earlier file is replaced
    EXPECT_EQ(run_command({"roofline", "64x64x64", "--plot", plot}).status, 0);
}

TEST_F(odd_inputs, results_of_bench_and_tune_replace_no_file_of_another_kind) {
  std::string const list = folder / "tunings.csv";
  for (words const& typed :
       std::vector<words>{{"bench", "emulator", "--size", "256", "--rounds", "1", "--json", file},
                          {"bench", "gemm", "64", "64", "64", "--json", file},
                          {"bench", "gemm", "64", "64", "64", "--csv", file},
                          {"bench", "ceiling", "--json", file},
                          {"bench", "host", "--json", file},
                          {"tune", "--export", file}}) {
    expect_refused(typed, "a file of another kind");
    EXPECT_EQ(read_file(file), matrix) << typed[0];
  }
  expect_refused({"bench", "gemm", "64", "64", "64", "--json", list, "--csv", list},
                 "the path of --json and of --csv");
  std::string const json = folder / "emulator.json";
  words const own{"bench", "emulator", "--size", "256", "--rounds", "1", "--json", json};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run_command(own).status, 0);
}

TEST_F(odd_inputs, an_option_with_an_empty_value_is_refused_in_every_verb) {
  for (words const& typed : std::vector<words>{
           {"gemm", file, file, "-o", folder / "d.npy", "--transpose-b", "--alpha", ""},
           {"gemm", file, file, "-o", ""},
           {"ladder", "--bug", ""},
           {"ladder", "--rung", "2", "--size", "64", "--plot", ""},
           {"stages", "128x256x64", "--device", "emu", "--trace", ""},
           {"plan", "64", "64", "64", "--batch", ""},
           {"occupancy", "--kernel", ""},
           {"roofline", "64", "64", "64", "--plot", ""},
           {"quantize", file, folder / "q.npy", "--to", "e4m3", "--scaling", "row", "--scale-out",
            ""},
           {"tune", "--export", ""},
           {"bench", "gemm", "64", "64", "64", "--csv", ""},
           {"check", "gemm", "--shape", ""},
           {"profile", "--from", ""}}) {
    expect_refused(typed, "empty");
  }
  expect_refused({"explain", ""}, "an empty text");
  EXPECT_FALSE(std::filesystem::exists(folder / "d.npy"));
}

TEST_F(odd_inputs, refusals_name_what_was_typed) {
  expect_refused({"gemm", file, file, "-o", "d.npy", "--alpha", "1,5"},
                 "--alpha: \"1,5\" is no number");
  expect_refused({"plan", "", "", ""}, "got nothing");
  expect_refused({"man", "gemm", "extra"}, "no word after gemm");
  expect_refused({"layout", "--jsonl", "(4,8):(8,1)"}, "an expression with --jsonl");
  // A long text is shown around the place of the mistake.
  auto const long_text = run_command({"layout", std::string(5000, '(')});
  EXPECT_EQ(long_text.status, 2);
  EXPECT_LT(long_text.err.size(), 600U) << long_text.err;
}

TEST_F(odd_inputs, a_roofline_has_the_extents_and_types_that_a_gemm_has) {
  expect_refused({"roofline", "3037000500", "64", "64"}, "TW0401");
  expect_refused({"roofline", "64", "64", "64", "--batch", "9223372036854775807"}, "TW0420");
  expect_refused({"roofline", "64", "64", "64", "--device", "a100", "--dtype", "e4m3"}, "TW0471");
}

TEST_F(odd_inputs, two_outputs_of_a_verb_are_two_files) {
  std::string const svg = folder / "x.svg";
  words const rung{"ladder", "--rung", "2", "--size", "64", "--device", "emu"};
  for (words const& two :
       std::vector<words>{{"--timeline", svg, "--trace", svg},
                          {"--timeline", svg, "--plot", svg},
                          {"--trace", svg, "--plot", (folder / ".") + "/x.svg"}}) {
    words typed = rung;
    typed.insert(typed.end(), two.begin(), two.end());
    expect_refused(typed, "a separate file");
    EXPECT_FALSE(std::filesystem::exists(svg));
  }
}

TEST_F(odd_inputs, the_order_of_tiles_is_drawn_for_rungs_that_have_one) {
  std::string const svg = folder / "order.svg";
  EXPECT_EQ(run_command({"ladder", "--rung", "11", "--size", "1024", "--tiles", svg}).status, 0);
  std::string const text = read_file(svg);
  // Hilbert's curve through 4 x 4 tiles of 40 x 40 from (12, 44) on.
  EXPECT_NE(text.find("points=\"32,64 72,64 72,104 32,104 32,144 32,184 72,184 72,144 112,144"),
            std::string::npos)
      << text;
  expect_refused({"ladder", "--rung", "7", "--tiles", svg}, "TW0681");
  expect_refused({"ladder", "--rung", "11", "--tiles", file}, "a file of another kind");
}

TEST_F(odd_inputs, a_recorded_ladder_is_read_and_checked) {
  auto const record = [&](char const* text) {
    std::string const path = folder / "record.json";
    std::ofstream(path) << text;
    return path;
  };
  std::string const good = record(
      R"({"gpu": {"card": "one", "sms": 132}, "rungs": [{"rung": 1, "name": "01_naive", "step": "",
          "sizes": {"64": {"us": 2.0, "sm_mhz": 1980, "correct": true, "kernel": ""}}}]})");
  auto const r = run_command({"ladder", "--from", good, "--size", "64"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("01_naive"), std::string::npos) << r.out;
  expect_refused({"ladder", "--from", good, "--size", "128"}, "got no size 128");
  expect_refused({"ladder", "--from", good, "--rung", "1"}, "TW0681");
  expect_refused({"ladder", "--from", file}, "TW0682");
  expect_refused({"ladder", "--from", record("{}")}, "TW0682");
  expect_refused({"ladder", "--from", record(R"({"gpu": {"card": "one", "sms": 132},
                                                 "rungs": []})")},
                 "got no sizes");
}

TEST_F(odd_inputs, quantize_writes_each_result_to_another_file) {
  words const typed{"quantize", file, folder / "out.npy", "--to", "e4m3", "--scaling", "row"};
  auto const with = [&](words more) {
    words all = typed;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  expect_refused(with({"--scale-out", folder / "out.npy"}), "the file of the values");
  expect_refused(with({"--scale-out", (folder / ".") + "/out.npy"}), "the file of the values");
  expect_refused(with({"--scale-out", file}), "the file of the matrix");
  EXPECT_EQ(read_file(file), matrix);
  EXPECT_EQ(run_command(typed).status, 0);
  auto const piped = run_command({"quantize", file, "-", "--to", "e4m3", "--scaling", "row",
                                  "--scale-out", folder / "scale.npy"});
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(piped.out, read_file(folder / "out.npy"));
  expect_refused({"quantize", file, "-", "--to", "e4m3", "--scaling", "row"}, "--scale-out FILE");
}

TEST_F(odd_inputs, a_hint_names_options_that_the_verb_has) {
  write_file(folder / "stack.npy", npy_header(elem::f32, {2, 2, 8}) + std::string(128, '\1'));
  auto const r = run_command(
      {"quantize", folder / "stack.npy", folder / "out.npy", "--to", "e4m3", "--scaling", "row"});
  EXPECT_EQ(r.err.find("--batch"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("reshape it to (-1, K)"), std::string::npos) << r.err;
  expect_refused({"gemm", folder / "stack.npy", file, "-o", folder / "d.npy"}, "--batch");
  write_file(folder / "line.npy", npy_header(elem::f32, {8}) + std::string(32, '\1'));
  expect_refused(
      {"quantize", folder / "line.npy", folder / "out.npy", "--to", "e4m3", "--scaling", "row"},
      "got 1 dimension,");
}

TEST_F(odd_inputs, a_profile_is_shown_printable_and_needs_its_heads) {
  std::string const csv = folder / "profile.csv";
  write_file(csv,
             "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
             "\"0\",\"k\033[31m\a\",\"sm__cycles_active.avg\",\"cycle\",\"1\"\n");
  auto const r = run_command({"profile", "--from", csv});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out.find('\033'), std::string::npos) << r.out;
  EXPECT_EQ(r.out.find('\a'), std::string::npos) << r.out;
  write_file(csv, "\"ID\",\"Metric Name\"\n\"0\",\"x\"\n");
  expect_refused({"profile", "--from", csv}, "TW0655");
}

TEST_F(odd_inputs, problems_that_no_tensor_core_computes_have_no_roofline) {
  expect_refused({"roofline", "64x64x64", "--dtype", "e4m3", "--out-dtype", "s32"}, "TW0405");
  expect_refused({"roofline", "64x64x64", "--cluster", "9x9"}, "81 CTAs");
  EXPECT_EQ(run_command({"roofline", "64x64x64", "--dtype", "e4m3", "--out-dtype", "e5m2"}).status,
            0);
  expect_refused({"stages", "999992", "1", "8", "--device", "emu"}, "got 999992 x 1 x 8");
}

TEST_F(odd_inputs, a_nul_ends_no_header_and_no_type_hides_in_another) {
  std::string nul = matrix;
  nul[nul.find('}') + 1] = '\0';
  write_file(folder / "nul.npy", nul);
  expect_refused({"gemm", folder / "nul.npy", file, "-o", folder / "d.npy"}, "TW0602");
  auto const safetensors = [&](std::string const& header, std::size_t bytes) {
    std::string content(8, '\0');
    content[0] = static_cast<char>(header.size());
    write_file(folder / "x.safetensors", content + header + std::string(bytes, '\0'));
    return folder / "x.safetensors:w";
  };
  std::string const w = R"("w":{"dtype":"F32","shape":[2,4],"data_offsets":[0,32]})";
  std::string const b = folder / "b.npy";
  write_file(b, npy_header(elem::f32, 4, 8) + std::string(128, '\1'));
  expect_refused(
      {"gemm", safetensors("{" + w + "}" + std::string(2, '\0'), 32), b, "-o", folder / "d.npy"},
      "TW0608");
  auto const r = run_command(
      {"gemm",
       safetensors("{" + w + R"(,"x":{"dtype":"U16 ","shape":[3],"data_offsets":[32,37]}})", 37), b,
       "-o", folder / "d.npy", "--device", "emu"});
  EXPECT_EQ(r.status, 0) << r.err;  // bytes of a type that is not known are not counted
  for (char const* const alpha : {"1e-50", "1e39"})
    expect_refused({"gemm", file, b, "-o", folder / "d.npy", "--alpha", alpha},
                   "a number that float32 can hold");
}

}  // namespace
