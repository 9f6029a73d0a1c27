// SPDX-License-Identifier: Apache-2.0
// report_json.cpp  A report as JSON.
#include <nlohmann/json.hpp>

#include "emu/machine/machine.hpp"

namespace tw::emu {

namespace {

using json = nlohmann::ordered_json;

void add_place(json& to, char const* file, char const* line, site s) {
  source_place const place = place_of(s);
  if (place.line == 0) return;
  to[file] = place.file;
  to[line] = place.line;
}

json json_of(diagnosis const& d) {
  json j{{"code", d.code}, {"kind", d.kind}, {"text", d.text}};
  add_place(j, "file", "line", d.where);
  add_place(j, "earlier_file", "earlier_line", d.earlier);
  if (d.cta >= 0) j["cta"] = d.cta;
  if (d.thread >= 0) j["thread"] = d.thread;
  if (!d.role.empty()) j["role"] = d.role;
  if (!d.object.empty()) j["object"] = d.object;
  if (d.phase >= 0) j["phase"] = d.phase;
  j["count"] = d.count;
  return j;
}

json json_of(bank_traffic const& t) {
  json j{{"access", name_of(t.what)}};
  add_place(j, "file", "line", t.where);
  j["executions"] = t.executions;
  j["wavefronts"] = t.wavefronts;
  j["ideal"] = t.ideal;
  return j;
}

}  // namespace

std::string to_json(report const& r) {
  json j{{"seed", r.seed},
         {"plain_accesses_seen", r.counts.plain_accesses_seen},
         {"diagnoses", json::array()},
         {"banks", json::array()}};
  for (diagnosis const& d : r.diagnoses) j["diagnoses"].push_back(json_of(d));
  for (bank_traffic const& t : r.banks) j["banks"].push_back(json_of(t));
  j["boxes_outside"] = r.counts.boxes_outside;
  return j.dump(-1, ' ', false, json::error_handler_t::replace);  // a path may be no UTF-8
}

}  // namespace tw::emu
