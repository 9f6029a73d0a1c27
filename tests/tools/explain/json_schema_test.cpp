// SPDX-License-Identifier: Apache-2.0
// json_schema_test.cpp  Every record of --json names its schema first, and docs/json.md lists it.
#include "tests/tools/command.hpp"
#include "tools/io/npy.hpp"

namespace {

using namespace tw;
using namespace tw_test;

TEST(json_schema, tune_has_records_without_a_gpu) {
  scratch const folder;
  std::string const page = read_file(TW_SOURCE_DIR "/docs/json.md");
  std::vector<std::string> const elsewhere{"TILEWRIGHT_TUNE=" + (folder / "tune.db")};
  auto const listed = run_command({"tune", "--list", "--json"}, elsewhere);
  EXPECT_EQ(listed.status, 0) << listed.err;
  EXPECT_EQ(listed.json()["schema"], "tilewright.tune.list/1");
  EXPECT_TRUE(listed.json()["tuned"].empty());
  EXPECT_NE(page.find("`tilewright.tune.list/1`"), std::string::npos);
  EXPECT_NE(page.find("`tilewright.tune.run/1`"), std::string::npos);
  auto const refused = run_command({"tune", "64x64", "--json"}, elsewhere);
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.json()["error"]["code"], "TW0803");
}

TEST(json_schema, is_the_first_field_and_documented) {
  scratch const folder;
  std::string const a = folder / "a.npy", d = folder / "d.npy";
  write_file(a, npy_header(elem::bf16, 16, 16) + std::string(512, '\0'));
  std::string const page = read_file(TW_SOURCE_DIR "/docs/json.md");
  struct verb {
    std::string schema;
    std::vector<std::string> words;
  };
  for (verb const& v :
       {verb{"tilewright.gemm/1", {"gemm", a, a, "-o", d, "--device", "emu"}},
        {"tilewright.error/1", {"gemm", a, a}},
        {"tilewright.error/1", {"gemm", a, folder / "absent.npy", "-o", d}},
        {"tilewright.plan/1", {"plan", "64", "64", "64"}},
        {"tilewright.quantize/1",
         {"quantize", a, folder / "a8.npy", "--to", "e4m3", "--scaling", "row"}},
        {"tilewright.quantize_blocks/1", {"quantize", a, folder / "a4.npy", "--to", "nvfp4"}},
        {"tilewright.occupancy/1", {"occupancy", "--regs", "64", "--threads", "128"}},
        {"tilewright.roofline/1", {"roofline", "64", "64", "64"}},
        {"tilewright.profile.metrics/1", {"profile", "--list"}},
        {"tilewright.stages/1", {"stages", "128", "256", "64", "--device", "emu"}},
        {"tilewright.banks/1", {"banks", "(64,64):(64,1)", "--access", "ldmatrix.x4"}},
        {"tilewright.banks.tensor_memory/1", {"banks", "tmem.ld.16x64b.x4"}},
        {"tilewright.explain.code/1", {"explain", "TW0601"}},
        {"tilewright.explain.kernel/1", {"explain", "sm90_bf16_bf16_tn_128x256x64_2x1_s4"}},
        {"tilewright.explain.codes/1", {"explain"}},
        {"tilewright.layout.operations/1", {"layout", "--ops"}},
        {"tilewright.explain/1",
         {"explain", "tile=192x192", "mma=m64n96k16", "warpgroups=2", "copy=stmatrix.x4",
          "smem=SW128", "dtype=f16"}},
        {"tilewright.ladder/1", {"ladder", "--device", "emu", "--rung", "10", "--size", "64"}},
        {"tilewright.ladder.bugs/1", {"ladder", "--bug", "list"}},
        {"tilewright.playground.list/1", {"playground", "list"}},
        {"tilewright.playground.run/1", {"playground", "run", "take_turns"}},
        {"tilewright.ladder.tiles/1", {"ladder", "--rung", "9", "--tiles", folder / "tiles.svg"}},
        {"tilewright.error/1", {"layout", "no layout", "--print", "json"}},
        {"tilewright.layout/1", {"layout", "(4,8):(8,1)"}},
        {"tilewright.selftest/1", {"selftest", "--only", "32x32b", "-o", folder / "selftest.json"}},
        {"tilewright.info/1", {"info"}}}) {
    std::vector<std::string> words = v.words;
    if (words.back() != "json" && words.front() != "playground") words.emplace_back("--json");
    auto const r = run_command(words);
    EXPECT_EQ(r.out.rfind("{\"schema\":\"" + v.schema + "\"", 0), 0U) << r.out << r.err;
    EXPECT_EQ(std::count(r.out.begin(), r.out.end(), '\n'), 1) << r.out;
    EXPECT_NE(page.find("`" + v.schema + "`"), std::string::npos) << v.schema;
  }
}

}  // namespace
