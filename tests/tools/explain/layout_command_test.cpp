// SPDX-License-Identifier: Apache-2.0
// layout_command_test.cpp  `tilewright layout`: what is printed, to where, and what is refused.
#include "tests/tools/command.hpp"

namespace {

using namespace tw_test;

command_result run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "layout");
  return run_command(std::move(arguments));
}

TEST(layout_command, prints_text_and_a_table) {
  EXPECT_EQ(run({"((2,2),2):((1,4),2)"}).out,
            "((2,2),2):((1,4),2)\n"
            "   0  1 \n"
            "0  0  2 \n"
            "1  1  3 \n"
            "  ------\n"
            "2  4  6 \n"
            "3  5  7 \n");
  EXPECT_EQ(run({"(4,8)", "--print", "text"}).out, "(4,8):(1,4)\n");
  EXPECT_EQ(run({"size((4,8))"}).out, "32\n");
  EXPECT_EQ(run({"(100,2)"}).out, "(100,2):(1,100)\n");
  EXPECT_NE(run({"(100,2)", "--print", "table"}).out.find("the first 64 of 100 rows"),
            std::string::npos);
  EXPECT_EQ(run({"(4,2)", "--json"}).json()["offs"][7], 7);
  EXPECT_EQ(run({"(4,2)", "--json"}).json().contains("panels"), false);
}

TEST(layout_command, leaves_known_at_run_time_have_text_but_no_offsets) {
  std::string const tiles = "((128,64),($0/128,$1/64)):(($2,1),(128$2,64))";
  EXPECT_EQ(run({"zipped_divide(($0,$1):($2,1), (128,64))"}).out, tiles + "\n");
  EXPECT_EQ(run({"zipped_divide(($0,$1):($2,1), (128,64))", "--json"}).json(),
            (nlohmann::json{{"res", tiles}, {"schema", "tilewright.layout/1"}}));
  EXPECT_EQ(run({"($0,$1):($2,1)", "--print", "svg"}).status, 2);
}

TEST(layout_command, help_describes_an_operation) {
  std::string const of_coalesce = run({"--help", "coalesce"}).out;
  EXPECT_EQ(of_coalesce.rfind("coalesce(layout[, profile])\n", 0), 0U) << of_coalesce;
  EXPECT_NE(of_coalesce.find("law      R(i) == L(i);"), std::string::npos) << of_coalesce;
  EXPECT_NE(of_coalesce.find("example  coalesce((2,1,6):(1,6,2))\n  answer   12:1\n"),
            std::string::npos);
  EXPECT_EQ(run({"-h", "coalesce"}).out, of_coalesce);
  EXPECT_EQ(run({"--op", "coalesce"}).out, of_coalesce);
  EXPECT_NE(run({"--help"}).out.find("Usage: tilewright layout"), std::string::npos);
  EXPECT_NE(run({"--help", "coalesc"}).err.find("did you mean coalesce"), std::string::npos);
}

TEST(layout_command, a_divide_with_cells_outside_says_so) {
  for (std::string const op : {"zipped_divide", "logical_divide", "flat_divide"}) {
    auto const outside = run({op + "((4,8):(8,1), (3,4))"});
    EXPECT_NE(outside.err.find("they have 48 cells, the layout 32"), std::string::npos) << op;
    EXPECT_EQ(run({op + "((4,8):(8,1), (2,4))"}).err, "") << op;
  }
  EXPECT_NE(run({"local_tile((4,8):(8,1), (3,4), (0,1))"}).err.find("note:"), std::string::npos);
  EXPECT_EQ(run({"zipped_divide((4,8):(8,1), (3,4))", "--json"}).err, "");
}

TEST(layout_command, an_atom_in_the_spelling_of_cutlass_is_drawn) {
  EXPECT_EQ(run({"MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>"}).out,
            run({"SM80_16x8x16_F32F16F16F32_TN"}).out);
  EXPECT_NE(run({"SM100_64x128x32_S32S8S8_SS"}).err.find("SM100_MMA_S8_SS<"), std::string::npos);
}

TEST(layout_command, draws_into_files) {
  scratch const folder;
  for (auto const& [how, begin] : {std::pair{"svg", "<svg xmlns="},
                                   {"html", "<!DOCTYPE html>"},
                                   {"latex", "\\documentclass[tikz"}}) {
    auto const r = run({"(4,8):(8,1)", "--print", how, "-o", folder / how});
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_EQ(r.out, "");
    EXPECT_EQ(read_file(folder / how).rfind(begin, 0), 0U) << how;
  }
}

TEST(layout_command, draws_slices_threads_and_steps) {
  EXPECT_EQ(run({"(2,3,2):(1,2,6)", "--slice", "(_,_,1)", "--print", "table"}).out,
            "slice (_,_,1)\n"
            "    0   1   2 \n"
            "0   6   8  10 \n"
            "1   7   9  11 \n");
  EXPECT_EQ(run({"(2,2):(2,1)", "--tv", "(2,2)", "--json"}).json()["panels"][0]["cells"][1]["text"],
            "T1\nV0");
  EXPECT_NE(run({"composition((4,8):(8,1), 4:2)", "--steps"}).out.find("A o B"), std::string::npos);
}

TEST(layout_command, refuses_with_a_code) {
  for (auto const& [arguments, code] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "TW0123"},
           {{"(4,8"}, "TW0101"},
           {{"size((4,8))", "--print", "svg"}, "TW0170"},
           {{"()", "--print", "html"}, "TW0170"},
           {{"(400,400)", "--print", "latex"}, "TW0122"},
           {{"(4,8)", "--slice", "(_,9)"}, "TW0171"},
           {{"(4,8)", "--tv", "(2,2)"}, "TW0173"},
           {{"(4,8)", "--steps"}, "TW0175"},
           {{"(4,8)", "--steps", "--tv", "(4,8)"}, "TW0625"},
           {{"(4,8)", "--print", "gif"}, "TW0615"}}) {
    auto const r = run(arguments);
    EXPECT_EQ(r.status, 2);
    EXPECT_EQ(r.out, "");
    EXPECT_EQ(r.err.rfind("tilewright: " + code + ": ", 0), 0U) << r.err;
  }
}

}  // namespace
