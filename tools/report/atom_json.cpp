// SPDX-License-Identifier: Apache-2.0
// atom_json.cpp  The door for questions about atoms: MMA atoms, then everything that copies.
#include "tools/report/atom_json.hpp"

#include "tilewright/atom/call.hpp"
#include "tilewright/base/check.hpp"
#include "tools/io/crc32.hpp"
#include "tools/report/atom_json_copy.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

constexpr i64 most_listed = 256;
constexpr i64 most_summed = i64{1} << 17;

[[noreturn]] void refuse_field(json const& question, std::string const& key,
                               std::string const& need) {
  throw rejected({"TW0221", "question about an atom, field " + key,
                  question.contains(key) ? question.at(key).dump() : "nothing", need,
                  "docs/atoms.md lists the fields of each op"});
}

}  // namespace

std::optional<json> answer_atom_question(json const& question) {
  if (auto fields = answer_mma_question(question)) return fields;
  return answer_copy_question(question);
}

void put_layout(json& fields, std::string const& key, layout const& l, i64 base) {
  fields[key] = to_string(l);
  i64 const n = size(l);
  if (n <= most_listed) {
    json& offsets = fields[key + "_offs"] = json::array();
    for (i64 i = 0; i < n; ++i) offsets.push_back(base + l(i));
    return;
  }
  fields[key + "_n"] = n;
  if (n > most_summed) return;
  std::string all;
  for (i64 i = 0; i < n; ++i) {
    if (i > 0) all += ',';
    all += std::to_string(base + l(i));
  }
  fields[key + "_crc32"] = crc32(all);
}

std::string text_field(json const& question, std::string const& key) {
  if (!question.contains(key) || !question.at(key).is_string()) {
    refuse_field(question, key, "a text");
  }
  return question.at(key).get<std::string>();
}

i64 integer_field(json const& question, std::string const& key) {
  if (!question.contains(key) || !question.at(key).is_number_integer()) {
    refuse_field(question, key, "an integer");
  }
  return question.at(key).get<i64>();
}

}  // namespace tw
