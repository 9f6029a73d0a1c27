// SPDX-License-Identifier: Apache-2.0
// explain_test.cpp  explain against brute force, the article's case, and every refusal.
#include "tilewright/atom/explain.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/atom/explain_fragments.hpp"
#include "tests/layout/random.hpp"
#include "tilewright/atom/call.hpp"

namespace {

using namespace tw;
using namespace tw_test;

std::vector<std::string> split(std::string const& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string w; in >> w;) words.push_back(w);
  return words;
}

explanation ask(std::string const& text) { return explain(parse_combination(split(text))); }

std::string refusal_of(std::string const& text) {
  try {
    parse_combination(split(text));
  } catch (rejected const& r) {
    return r.why().code;
  }
  return "accepted";
}

std::string const article =
    "tile=192x192 mma=m64n96k16 warpgroups=2 copy=stmatrix.x4 smem=SW128 dtype=f16";

/// Every element that every thread writes, in every step, lands where the tile has it.
::testing::AssertionResult lands_right(combination const& c, decision const& d) {
  layout const& p = *d.partition;
  i64 const step_m = i64{64} * c.groups_m, step_n = i64{c.mma_n} * c.groups_n;
  i64 const per_copy = sums_of_copy(c), vector = size(mode(mode(p, 1), 0));
  i64 const threads = i64{128} * c.groups_m * c.groups_n;
  if (size(mode(p, 0)) != threads) return ::testing::AssertionFailure() << "threads";
  for (i64 sm = 0; sm < c.rows / step_m; ++sm) {
    for (i64 sn = 0; sn < c.columns / step_n; ++sn) {
      for (i64 t = 0; t < threads; ++t) {
        for (i64 i = 0; i < c.mma_n / 2; ++i) {
          cell const at = sum_cell(c, t, i);
          store_place const s = place_of(c, t, i % per_copy);
          i64 const value = s.element + vector * (i / per_copy);
          i64 const got = p(make_coord(s.thread, value, make_coord(sm, sn)));
          i64 const need = d.tile(sm * step_m + at.row, sn * step_n + at.column);
          if (got != need) {
            return ::testing::AssertionFailure()
                   << to_words(c) << ": thread " << t << " sum " << i << " is written to " << got
                   << ", not " << need << "; " << to_string(p);
          }
        }
      }
    }
  }
  return ::testing::AssertionSuccess();
}

combination random_combination(random_source& r) {
  combination c;
  c.groups_m = 1 + static_cast<int>(r.below(2));
  c.groups_n = 1 + static_cast<int>(r.below(3));
  c.mma_n = 8 * (1 + static_cast<int>(r.below(16)));
  c.by_turns = c.groups_n > 1 && r.one_in(4);
  c.rows = 64 * c.groups_m * (1 + r.below(2));
  c.columns = c.mma_n * c.groups_n * (1 + r.below(3));
  c.contiguous = r.one_in(4) ? operand_major::mn : operand_major::k;
  bool const t = c.contiguous == operand_major::mn;
  if (r.one_in(3)) {
    c.copy = {copy_kind::store, t || r.one_in(2) ? 16 : 32, 1, false};
  } else {
    c.copy = {copy_kind::stmatrix, 128, 1 << r.below(3), t};
  }
  constexpr smem_swizzle modes[] = {smem_swizzle::b128, smem_swizzle::b64, smem_swizzle::b32,
                                    smem_swizzle::none};
  constexpr char const* blocks[] = {"(8,24):(24,1)", "(8,40):(48,1)", "(16,48):(56,1)",
                                    "(8,32):(40,1)"};
  if (r.one_in(3) && !t) {
    c.smem_text = blocks[r.below(4)];
  } else {
    c.smem = modes[r.below(4)];
  }
  return c;
}

/// Yes: the partition is what the instructions do. No for the partition alone: no layout of the
/// profile has the offsets.
TEST(Explain, AgreesWithBruteForce) {
  std::uint64_t const seed = 20250530;
  random_source r(seed);
  int yes = 0, no = 0;
  for (int tries = 0; tries < 20000 && (yes < 150 || no < 150); ++tries) {
    combination const c = random_combination(r);
    if (c.rows * c.columns > 128 * 384) continue;
    decision const d = decide(c);
    if (d.works && yes < 150) {
      ++yes;
      ASSERT_TRUE(lands_right(c, d)) << "seed " << seed;
      ASSERT_TRUE(layout_exists(c, d.tile)) << to_words(c);
    } else if (!d.works && d.why->code >= "TW0104" && d.why->code <= "TW0108" && no < 150) {
      ++no;
      ASSERT_FALSE(layout_exists(c, d.tile)) << to_words(c) << ": " << to_string(*d.why);
    }
  }
  EXPECT_EQ(yes, 150);
  EXPECT_EQ(no, 150);
}

/// The whole text is compared: geometry, alternatives, figures.
TEST(Explain, TheArticlesCase) {
  explanation const e = ask(article);
  EXPECT_FALSE(e.result.works);
  EXPECT_EQ(e.result.why->code, "TW0104");
  EXPECT_LE(e.geometry.size(), 10U);
  std::ifstream file(TW_SOURCE_DIR "/tests/atom/explain_article.txt");
  std::stringstream accepted;
  accepted << file.rdbuf();
  EXPECT_EQ(to_text(e), accepted.str());
}

/// The refusal that is shown can be repeated: it is the algebra's own.
TEST(Explain, ShowsAnOperationThatRefuses) {
  std::vector<std::string> const expressions{ask(article).result.operation,
                                             "composition((64,3):(1,12288), 2:96)"};
  for (std::string const& expression : expressions) {
    try {
      evaluate(expression);
      FAIL() << expression;
    } catch (rejected const& r) {
      EXPECT_EQ(r.why().code, "TW0104");
    }
  }
}

/// Every alternative that is said to work does, also against brute force, and the words of the
/// combination that was given lead back to it.
TEST(Explain, AlternativesAreDecidedTheSameWay) {
  for (std::string const& text :
       {article, std::string("tile=128x160 mma=m64n80k16 warpgroups=1x2 smem=SW32"),
        std::string("tile=64x96 mma=m64n96k16 warpgroups=1")}) {
    explanation const e = ask(text);
    EXPECT_GE(e.alternatives.size(), 3U);
    EXPECT_EQ(parse_combination(split(to_words(e.asked))), e.asked);
    for (alternative const& a : e.alternatives) {
      if (!a.result.works || a.change == "no partition") continue;
      combination c = e.asked;
      std::string words = to_words(c);
      for (std::string const& w : split(a.change)) {  // the change replaces its keys
        std::string const key = w.substr(0, w.find('=') + 1);
        std::size_t const at = (" " + words).find(" " + key);
        std::size_t const end = at == std::string::npos ? at : words.find(' ', at);
        if (at != std::string::npos) words.erase(at, end == std::string::npos ? end : end - at + 1);
        words += " " + w;
      }
      c = parse_combination(split(words));
      decision const d = decide(c);
      ASSERT_TRUE(d.works) << words;
      EXPECT_EQ(d.cost, a.result.cost) << words;
      EXPECT_TRUE(lands_right(c, d)) << words;
    }
  }
}

TEST(Explain, ChoosesTheWidestSwizzle) {
  EXPECT_EQ(ask("tile=192x192 mma=m64n96k16").asked.smem, smem_swizzle::b64);
  EXPECT_EQ(ask("tile=128x256 mma=m64n256k16").asked.smem, smem_swizzle::b128);
  EXPECT_EQ(ask("tile=64x48 mma=m64n48k16 warpgroups=1").asked.smem, smem_swizzle::b32);
  EXPECT_EQ(ask("tile=64x24 mma=m64n24k16 warpgroups=1 copy=stmatrix.x2").asked.smem,
            smem_swizzle::none);
  static_assert(widest_smem_tile(operand_major::k, 16, make_shape(192, 192), make_shape(64, 96)) ==
                smem_tile(operand_major::k, smem_swizzle::b64, 16, make_shape(192, 192)));
}

/// Costs of combinations whose figures are known by reasoning.
TEST(Explain, Costs) {
  combination_cost const plain =
      ask("tile=192x192 mma=m64n96k16 smem=(192,192):(192,1)").result.cost;
  EXPECT_EQ(plain.ideal, 8 * 18 * 4);  // warps x copies x matrices
  EXPECT_EQ(plain.wavefronts, 8 * plain.ideal) << "rows of 384 bytes begin in the same bank";
  EXPECT_EQ(plain.sums, 144);
  EXPECT_EQ(plain.addresses, 1);
  combination_cost const sw = ask("tile=192x192 mma=m64n96k16 smem=SW64").result.cost;
  EXPECT_EQ(sw.wavefronts, sw.ideal);
  EXPECT_EQ(sw.copies, 18);
  EXPECT_EQ(sw.addresses, 2) << "16 of 32 columns are xored with the row";
  EXPECT_EQ(sw.boxes, 6);
  EXPECT_EQ(sw.wgmmas, 3);
  EXPECT_EQ(sw.operand_bytes, 2 * 3 * (64 + 96) * 32);
  EXPECT_EQ(ask("tile=192x192 mma=m64n96k16 smem=SW64 copy=st.16").result.cost.copies, 144);
}

/// Limits other than the partition.
TEST(Explain, OtherReasons) {
  auto const code = [](std::string const& text) {
    explanation const e = ask(text);
    EXPECT_LE(e.geometry.size(), 10U);
    EXPECT_FALSE(e.result.works);
    return e.result.why->code;
  };
  EXPECT_EQ(code("tile=192x192 mma=m64n96k16 warpgroups=2x1 smem=SW64"), "TW0254");
  EXPECT_EQ(code("tile=192x192 mma=m64n192k16 warpgroups=1 smem=SW64"), "TW0255");
  EXPECT_EQ(code("tile=512x256 mma=m64n256k16 warpgroups=4x1 smem=SW64"), "TW0255");
  EXPECT_EQ(code("tile=384x320 mma=m64n160k16 warpgroups=3x2 smem=SW64"), "TW0256");
  EXPECT_EQ(code("tile=64x64 mma=m64n64k16 warpgroups=1 smem=(64,64):(65,1)"), "TW0257");
  EXPECT_EQ(code("tile=64x96 mma=m64n96k16 warpgroups=1 smem=SW128"), "TW0118");
  EXPECT_EQ(code("tile=64x24 mma=m64n24k16 warpgroups=1 smem=NONE"), "TW0231");
  EXPECT_EQ(code("arch=sm80 tile=128x40"), "TW0258");
  EXPECT_EQ(code("arch=sm80 tile=12x64"), "TW0258");
  EXPECT_EQ(code("arch=sm80 tile=128x64 major=m dtype=tf32"), "TW0259");
  EXPECT_EQ(code("arch=sm80 tile=128x64 smem=(8,64):(65,1)"), "TW0257");
}

TEST(Explain, RefusesWords) {
  EXPECT_EQ(refusal_of("tile=192x192 colour=red"), "TW0250");
  EXPECT_EQ(refusal_of("tile"), "TW0250");
  for (char const* bad :
       {"tile=192", "tile=0x8", "tile=64x64x64", "tile=99999x8", "dtype=f19", "copy=tma",
        "smem=SW256", "mma=m16n8k16", "mma=m64n100k16", "mma=m64n264k16", "warpgroups=0",
        "warpgroups=9", "warpgroups=two", "major=k", "operand=C", "turns=4", "smem=64:1"}) {
    std::string const key = std::string(bad).substr(0, std::string(bad).find('='));
    std::string text = bad;
    if (key != "tile") text += " tile=64x64";
    if (key != "mma") text += " mma=m64n64k16";
    EXPECT_EQ(refusal_of(text), "TW0251") << bad;
  }
  EXPECT_EQ(refusal_of("tile=64x64 mma=m64n64k16 smem=(8,64):(64"), "TW0101");
  EXPECT_EQ(refusal_of("mma=m64n96k16"), "TW0252");
  EXPECT_EQ(refusal_of("tile=64x64"), "TW0252") << "D needs mma";
  EXPECT_EQ(refusal_of("tile=64x64 tile=64x64"), "TW0252");
  for (char const* bad :
       {"copy=cp.async.128", "copy=stmatrix.x4.trans", "copy=st.64", "dtype=f32 copy=stmatrix.x4",
        "warpgroups=1x1 turns=8", "major=m copy=st.32", "arch=sm80 operand=D"}) {
    EXPECT_EQ(refusal_of(std::string("tile=64x64 mma=m64n64k16 ") + bad), "TW0253") << bad;
  }
  EXPECT_EQ(refusal_of("arch=sm80 tile=64x64 copy=stmatrix.x4"), "TW0253");
  EXPECT_EQ(refusal_of("arch=sm80 tile=64x64 mma=m64n64k16"), "TW0253");
  EXPECT_EQ(refusal_of("arch=sm80 tile=64x64 dtype=f32"), "TW0253");
  EXPECT_EQ(refusal_of("arch=sm90 operand=A tile=64x64"), "TW0251");
}

access_figures figures(explanation const& e, std::string const& name) {
  for (access_figures const& f : e.accesses) {
    if (f.layout_name == name) return f;
  }
  ADD_FAILURE() << "no row " << name;
  return {};
}

/// The rules of shared-memory atoms on sm80: 8 lines of 64 halves, mirrored for B, and why they are
/// swizzled.
TEST(Explain, Sm80Atoms) {
  explanation const k = ask("arch=sm80 operand=A major=k dtype=f16 tile=128x64 copy=cp.async.128");
  EXPECT_EQ(k.geometry[0], "atom       Sw<3,3,3> o 0 o (8,64):(64,1)");
  EXPECT_EQ(ask("arch=sm80 operand=A major=m tile=128x64").geometry[0],
            "atom       Sw<3,3,3> o 0 o (64,8):(1,64)");
  EXPECT_EQ(ask("arch=sm80 operand=B major=k tile=128x64").geometry[0], k.geometry[0]);
  EXPECT_EQ(ask("arch=sm80 operand=B major=n tile=128x64").geometry[0],
            "atom       Sw<3,3,3> o 0 o (64,8):(1,64)");
  EXPECT_EQ(ask("arch=sm80 tile=128x32").geometry[0], "atom       Sw<2,3,3> o 0 o (8,32):(32,1)");
  EXPECT_EQ(ask("arch=sm80 tile=128x32 dtype=tf32").geometry[0],
            "atom       Sw<3,2,3> o 0 o (8,32):(32,1)");

  // 128 x 64 halves are 128 lines of 128 bytes: 128 wavefronts at best, written and read.
  access_figures const sw = figures(k, "SW128"), rows = figures(k, "rows without swizzle");
  EXPECT_EQ(sw.copy_wavefronts, 128);
  EXPECT_EQ(sw.read_wavefronts, 128);
  EXPECT_EQ(rows.copy_wavefronts, 128);
  EXPECT_EQ(rows.read_wavefronts, 8 * 128) << "8 lines 128 bytes apart share their banks";
  access_figures const apart = figures(k, "rows, 8 more apart");
  EXPECT_EQ(apart.read_wavefronts, 128);
  EXPECT_EQ(apart.bytes, (127 * 72 + 64) * 2);
}

}  // namespace
