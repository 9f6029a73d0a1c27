// SPDX-License-Identifier: Apache-2.0
// tmem_access_test.cpp  `tilewright banks tmem.*`: allows the loads and stores that the emulator
//                       allows, says which warp reaches which elements, refuses other options.
#include "tools/command/banks/tmem_access.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/tools/command.hpp"
#include "tilewright/arch/select.hpp"
#include "tools/report/tmem_names.hpp"

namespace {

using namespace tw;
using namespace tw_test;

constexpr int probe_columns = 32, probe_warps = 6;

/// One warp stores to tensor memory from this lane and column on.
template <tmem_shape S, int N>
struct store_probe {
  struct params {
    int warp, lane, column;
  };
  struct smem {
    std::uint32_t at;
  };
  static constexpr int threads = 32 * probe_warps, cluster = 1, smem_bytes = sizeof(smem);
  static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (warp_id() == 0) tmem_alloc(&s.at, probe_columns);
    cta_sync();
    std::uint32_t const to = tmem_at(s.at, p.lane, p.column);
    if (warp_id() == p.warp) {
      tmem_words<S, N> words{};
      if constexpr (S == tmem_shape::l16x32bx2)
        tmem_store<S, N, N>(to, words);
      else
        tmem_store<S, N>(to, words);
      tmem_wait_store();
    }
    cta_sync();
    if (warp_id() == 0) tmem_dealloc(s.at, probe_columns);
  }
};

template <tmem_shape S, int N>
void compare_with_the_emulator(char const* name) {
  tmem_question q{parse_tmem(name)};
  q.allocated = probe_columns;
  int allowed = 0, refused = 0;
  for (int warp = 0; warp < probe_warps; ++warp)
    for (int lane : {0, 8, 16, 32, 48, 64, 80, 96, 112, 120})
      for (int const column : {0, 16, 28, 31}) {
        q.column = column;
        tmem_verdict const v = decide_tmem(q, warp, lane);
        using probe = store_probe<S, N>;
        emu::report const r = emu::run(probe{}, 1, typename probe::params{warp, lane, column});
        EXPECT_EQ(v.allowed, r.clean())
            << name << ", warp " << warp << ", lane " << lane << ", column " << column << "\n"
            << r.text();
        if (!v.allowed) {
          EXPECT_NE(r.text().find(v.code), std::string::npos) << v.why << "\n" << r.text();
        }
        ++(v.allowed ? allowed : refused);
      }
  EXPECT_GT(allowed, 0);
  EXPECT_GT(refused, 0);
}

TEST(TmemAccess, AllowsWhatTheEmulatorAllows) {
  compare_with_the_emulator<tmem_shape::l32x32b, 4>("tmem.ld.32x32b.x4");
  compare_with_the_emulator<tmem_shape::l16x64b, 2>("tmem.ld.16x64b.x2");
  compare_with_the_emulator<tmem_shape::l16x128b, 1>("tmem.ld.16x128b.x1");
  compare_with_the_emulator<tmem_shape::l16x256b, 2>("tmem.ld.16x256b.x2");
  compare_with_the_emulator<tmem_shape::l16x32bx2, 2>("tmem.ld.16x32bx2.x2");
}

std::vector<std::string> banks_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "banks");
  return arguments;
}

TEST(TmemAccess, SaysWhichWarpReachesWhichRows) {
  auto const warps = [](std::string const& name) {
    return run_command(banks_of({name, "--json"})).json()["warps"];
  };
  auto const d = warps("tmem.d.2cta.m128n32");
  EXPECT_EQ(d[1]["rows"], "32-63");
  EXPECT_EQ(d[1]["columns of D"], "0-15");
  EXPECT_EQ(d[3]["lanes"], "96-127");
  EXPECT_EQ(d[3]["columns of D"], "16-31");
  EXPECT_EQ(warps("tmem.d.1cta.m64n16")[2]["lanes"], "64-79");
  EXPECT_EQ(warps("tmem.d.ws.m32n64")[2]["columns of D"], "32-47");
  EXPECT_EQ(warps("tmem.sfb.2cta.m128n128.mxf4")[2]["columns of B"], "64-127");
  EXPECT_EQ(warps("tmem.sfb.1cta.m128n40.mxf4")[0]["columns of B"], "0-39");
  EXPECT_EQ(warps("tmem.cp.64x128b.warpx2::01_23")[1]["rows"], "0-31");
}

TEST(TmemAccess, CountsTheBanksOfTheSourceOfACopy) {
  auto const j = run_command(banks_of({"tmem.cp.128x256b", "--json"})).json();
  EXPECT_EQ(j["source"]["reads"], 32) << "4096 bytes";
  EXPECT_EQ(j["source"]["wavefronts"], j["source"]["ideal"]);
  // The layout as a tile in shared memory.
  auto const again = run_command(banks_of({j["source"]["layout"].get<std::string>(), "--access",
                                           "wgmma", "--bits", "8", "--json"}))
                         .json();
  EXPECT_EQ(again["wavefronts"], j["source"]["wavefronts"]);
}

TEST(TmemAccess, PrintsTheExamplesOfThePage) {
  std::string const page = read_file(TW_SOURCE_DIR "/docs/banks.md");
  for (std::vector<std::string> const& words :
       {std::vector<std::string>{"tmem.ld.16x64b.x4", "--warp", "5"},
        {"tmem.ld.32x32b.x8", "--warp", "5", "--lane", "48"},
        {"tmem.d.2cta.m128n32"},
        {"tmem.cp.32x128b.warpx4"}}) {
    std::string line = "$ tilewright banks";
    for (std::string const& w : words) line += " " + w;
    auto const r = run_command(banks_of(words));
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_NE(page.find(line + "\n" + r.out), std::string::npos) << line << "\n" << r.out;
  }
}

TEST(TmemAccess, RefusesOptionsOfTheOtherMemory) {
  auto const code = [](std::vector<std::string> words) {
    words.emplace_back("--json");
    return run_command(banks_of(words)).json()["error"]["code"];
  };
  EXPECT_EQ(code({"tmem.ld.32x32b.x8", "--access", "ld.32"}), "TW0622");
  EXPECT_EQ(code({"tmem.ld.32x32b.x8", "--bits", "32"}), "TW0622");
  EXPECT_EQ(code({"tmem.ld.32x32b.x8", "--lane", "32"}), "TW0622");
  EXPECT_EQ(code({"tmem.ld.32x32b.x8", "--allocated", "33"}), "TW0622");
  EXPECT_EQ(code({"tmem.d.1cta.m64n16", "--warp", "1"}), "TW0622");
  EXPECT_EQ(code({"(32,32):(32,1)", "--access", "ld.32", "--warp", "1"}), "TW0622");
  EXPECT_EQ(code({"(32,32):(32,1)"}), "TW0615");
  EXPECT_EQ(code({"tmem.ld.32x32b.x3"}), "TW0626");
}

}  // namespace
