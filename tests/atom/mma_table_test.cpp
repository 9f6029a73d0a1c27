// SPDX-License-Identifier: Apache-2.0
// mma_table_test.cpp  docs/atoms.md has a line for each row of the table of MMA atoms, and no
// other.
#include "tilewright/atom/mma_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "tilewright/atom/mma_names.hpp"

namespace tw {
namespace {

std::string words(mma_types set) {
  std::string text;
  for (int i = 1; i < mma_type_count; ++i) {
    auto const t = static_cast<mma_type>(i);
    if (set.has(t)) text += (text.empty() ? "" : " ") + std::string(name(t));
  }
  return text;
}

std::string variants(mma_row const& r) {
  std::string text;
  auto const add = [&text](std::string const& s) { text += (text.empty() ? "" : ", ") + s; };
  if (r.shared_a) add(r.register_a ? "ss rs" : r.tensor_a ? "ss ts" : "ss");
  if (r.any_major) add("any major");
  for (int o = 1; o < mma_option_count; ++o) {
    if ((r.options >> o & 1U) != 0) add(name(static_cast<mma_option>(o)));
  }
  if (r.ctas == 2) add("cta2");
  if (r.scale_blocks[0] != 0) {
    add(fmt::format("{} per {}", words(r.scale), r.scale_blocks[0]));
    if (r.scale_blocks[1] != 0) add(fmt::format("ue8m0 per {}", r.scale_blocks[1]));
  }
  return text;
}

std::string line_of(mma_row const& r) {
  std::string n = fmt::format("{}", r.n_first);
  if (r.n_last > r.n_first) n += fmt::format(" to {} by {}", r.n_last, r.n_step);
  return fmt::format("| {} | {} | {} | {} | {} | {}{} | {} | {} |", name(r.arch), r.m, n, r.k,
                     words(r.d), words(r.ab), r.mixed ? ", mixed" : "", variants(r), r.section);
}

TEST(MmaTable, TheDocumentHasEveryRow) {
  std::ifstream in(TW_SOURCE_DIR "/docs/atoms.md");
  std::set<std::string> lines;  // those that begin with an architecture
  for (std::string line; std::getline(in, line);) {
    bool const is_row = line.starts_with("| sm") || line.starts_with("| fma");
    if (is_row) lines.insert(line);
  }
  std::set<std::string> expected;
  for (mma_row const& r : mma_rows) {
    expected.insert(line_of(r));
    EXPECT_TRUE(lines.count(line_of(r)) != 0) << line_of(r);
  }
  for (std::string const& line : lines) EXPECT_TRUE(expected.count(line) != 0) << line;
}

}  // namespace
}  // namespace tw
