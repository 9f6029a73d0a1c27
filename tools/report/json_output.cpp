// SPDX-License-Identifier: Apache-2.0
// json_output.cpp  Dumping without exceptions.
#include "tools/report/json_output.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tw {

std::string json_text(nlohmann::ordered_json const& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

void print_json(char const* schema, nlohmann::ordered_json const& record) {
  nlohmann::ordered_json named{{"schema", schema}};
  named.update(record);
  fmt::print("{}\n", json_text(named));
}

nlohmann::ordered_json json_error(rejection const& r) {
  return {
      {"error",
       {{"code", r.code}, {"what", r.what}, {"got", r.got}, {"need", r.need}, {"hint", r.hint}}}};
}

}  // namespace tw
