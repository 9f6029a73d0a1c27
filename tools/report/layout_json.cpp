// SPDX-License-Identifier: Apache-2.0
// layout_json.cpp  Questions in, answers out, one JSON object per line.
#include "tools/report/layout_json.hpp"

#include <algorithm>
#include <istream>
#include <ostream>
#include <string>
#include <vector>

#include "tools/io/crc32.hpp"
#include "tools/report/atom_json.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

constexpr i64 most_offsets_listed = 256;
constexpr i64 most_walked = i64{1} << 22;

json offset_json(answer const& a, i64 index) {
  if (a.is_coordinate()) return a.offset_text(index);
  return a.base + (*a.function)(index);
}

json error_json(std::string const& code, std::string const& text) {
  return {{"code", code}, {"text", text}};
}

json answer_line(std::string const& line) {
  json const question = json::parse(line, nullptr, false);
  json reply{{"id", nullptr}};
  if (question.is_object() && question.contains("id")) reply["id"] = question["id"];
  try {
    if (!question.is_object())
      throw rejected({"TW0121", "line of --jsonl",
                      question.is_discarded() ? "a text that is no JSON" : "JSON without fields",
                      R"({"id": ..., "op": "name", "args": ["text", ...]})", ""});
    // Operations of the algebra have "args", questions about atoms a "name".
    if (question.is_object() && !question.contains("args")) {
      if (auto const fields = answer_atom_question(question)) {
        reply.update(*fields);
        return reply;
      }
    }
    auto const op = question.at("op").get<std::string>();
    bool const known = std::ranges::binary_search(operations(), op);
    if (!known && !question.contains("args")) call(op, std::vector<std::string>{});  // refuses
    answer const a = call(op, question.at("args").get<std::vector<std::string>>());
    reply.update(to_json(a));
  } catch (rejected const& e) {
    reply["error"] = error_json(e.why().code, e.what());
  } catch (json::exception const& e) {
    std::string what = e.what();  // "[json.exception.parse_error.101] parse error at ..."
    if (std::size_t const end = what.find("] "); what.starts_with('[') && end != what.npos) {
      what.erase(0, end + 2);
    }
    rejection const r{"TW0121", "line of --jsonl", what,
                      R"({"id": ..., "op": "name", "args": ["text", ...]})",
                      R"(questions about atoms have "name" and the fields of docs/atoms.md)"};
    reply["error"] = error_json(r.code, to_string(r));
  }
  return reply;
}

}  // namespace

json to_json(answer const& a) {
  json out;
  if (!a.res.empty()) out["res"] = a.res;
  if (!a.function || !is_static(*a.function)) return out;
  if (a.origin) out["base"] = to_string(*a.origin);
  if (a.base != 0) out["base"] = a.base;
  i64 const n = size(*a.function);
  out["n"] = n;
  if (n > most_walked) return out;
  if (n <= most_offsets_listed) {
    json& offsets = out["offs"] = json::array();
    for (i64 i = 0; i < n; ++i) offsets.push_back(offset_json(a, i));
    return out;
  }
  std::string all;
  for (i64 i = 0; i < n; ++i) {
    if (i > 0) all += ',';
    all += offset_json(a, i).dump();
  }
  out["offs_crc32"] = crc32(all);
  return out;
}

void answer_lines(std::istream& questions, std::ostream& answers) {
  for (std::string line; std::getline(questions, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    answers << answer_line(line).dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
  }
}

}  // namespace tw
