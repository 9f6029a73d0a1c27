// SPDX-License-Identifier: Apache-2.0
// copy_conform_test.cpp  Every row of atoms.jsonl about copies, shared memory, descriptors and TMA.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <string>

#include "tilewright/base/check.hpp"
#include "tilewright/layout/parse.hpp"
#include "tools/atom_json_copy.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

struct count {
  int rows = 0, texts = 0, fields = 0;
};

/// Fields that the question gives; the rest are the answer's. A text may differ where the offsets
/// of the same field agree.
bool is_input(std::string const& key) {
  for (char const* k : {"id", "op", "name", "cute_name", "bits", "shape", "order", "thr", "tensor",
                        "gmem", "smem", "tiler"}) {
    if (key == k) return true;
  }
  return false;
}

/// Another text of the same function: the offsets are compared as fields of their own, here the
/// coordinates of one must be coordinates of the other.
bool same_coordinates(std::string const& ours, std::string const& theirs) {
  auto const shape = [](std::string const& text) {
    return parse_layout(text.data(), static_cast<int>(text.size())).shape;
  };
  return compatible(shape(ours), shape(theirs)) || compatible(shape(theirs), shape(ours));
}
bool is_layout(json const& row, std::string const& key) {
  return row.contains(key + "_offs") || row.contains(key + "_crc32");
}

TEST(CopyConform, EveryRow) {
  std::ifstream in(TW_SOURCE_DIR "/tests/conform/atoms.jsonl");
  ASSERT_TRUE(in.good());
  std::map<std::string, count> counts;
  int differ = 0;
  for (std::string line; std::getline(in, line);) {
    json const row = json::parse(line);
    if (!row.contains("op")) continue;
    json question;
    for (auto const& [key, value] : row.items()) {
      if (is_input(key)) question[key] = value;
    }
    std::optional<json> reply;
    try {
      reply = answer_copy_question(question);
    } catch (rejected const& e) {
      ADD_FAILURE() << row["id"] << ' ' << row["name"] << ": " << e.what();
      ++differ;
      continue;
    }
    if (!reply) continue;
    count& c = counts[row["op"].get<std::string>()];
    ++c.rows;
    for (auto const& [key, value] : row.items()) {
      if (is_input(key)) continue;
      ++c.fields;
      if (reply->contains(key) && (*reply)[key] == value) {
        ++c.texts;
        continue;
      }
      bool const text =
          is_layout(row, key) && reply->contains(key) && same_coordinates((*reply)[key], value);
      EXPECT_TRUE(text) << row["id"] << ' ' << row["name"] << ' ' << key << ": theirs "
                        << value.dump() << " ours " << (*reply)[key].dump();
      if (text)
        fmt::print("{} {}: theirs {} ours {}\n", row["id"].dump(), key, value.dump(),
                   (*reply)[key].dump());
      if (!text) ++differ;
    }
  }
  count all;
  for (auto const& [op, c] : counts) {
    fmt::print("{:24} {:4} rows, {:5} fields, {:5} with the same text\n", op, c.rows, c.fields,
               c.texts);
    all.rows += c.rows;
    all.fields += c.fields;
    all.texts += c.texts;
  }
  fmt::print("{:24} {:4} rows, {:5} fields, {:5} with the same text, {} differ\n", "all", all.rows,
             all.fields, all.texts, differ);
  EXPECT_EQ(counts.size(), 9U);
  EXPECT_GE(all.rows, 344);
}

}  // namespace
}  // namespace tw
