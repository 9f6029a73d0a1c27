// SPDX-License-Identifier: Apache-2.0
// model_report.cpp  Names of config.json, a table, a record.
#include "tools/report/model_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/report/field_words.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

[[noreturn]] void refuse_config(char const* what, std::string got, std::string need) {
  throw rejected({"TW0484", what, std::move(got), std::move(need),
                  "the configuration of a transformer, as Hugging Face's config.json"});
}

/// 0 if the configuration lacks it and it is not needed.
std::int64_t model_extent(json const& config, char const* name, bool needed) {
  auto const found = config.find(name);
  if (found == config.end() || found->is_null()) {
    if (needed) refuse_config(name, "nothing", "a positive integer in the configuration");
    return 0;
  }
  if (!found->is_number_integer() || found->get<std::int64_t>() < 1)
    refuse_config(name, found->dump(), "a positive integer in the configuration");
  return found->get<std::int64_t>();
}

/// Times by tokens and format, in the order of the rows.
std::vector<std::pair<std::int64_t, std::string>> model_groups(model_plan const& p) {
  std::vector<std::pair<std::int64_t, std::string>> all;
  for (model_row const& r : p.rows)
    if (std::pair const key{r.tokens, r.format}; std::ranges::find(all, key) == all.end())
      all.push_back(key);
  return all;
}

}  // namespace

model_shape model_shape_of(std::string const& config_json) {
  json config = json::parse(config_json, nullptr, false);
  if (!config.is_object()) refuse_config("configuration of a model", "no JSON object", "one");
  if (auto const text = config.find("text_config"); text != config.end() && text->is_object())
    config = json(*text);
  model_shape m;
  m.hidden = model_extent(config, "hidden_size", true);
  m.intermediate = model_extent(config, "intermediate_size", true);
  m.heads = model_extent(config, "num_attention_heads", true);
  m.kv_heads = model_extent(config, "num_key_value_heads", false);
  m.head_size = model_extent(config, "head_dim", false);
  if (std::int64_t const layers = model_extent(config, "num_hidden_layers", false); layers > 0)
    m.layers = layers;
  return m;
}

model_question model_question_of(std::string const& request_json) {
  json const request = json::parse(request_json, nullptr, false);
  if (!request.is_object()) refuse_config("request of a model's plan", "no JSON object", "one");
  model_question q;
  for (auto const& [name, value] : request.items()) try {
      if (name == "tokens")
        q.request.tokens = value.get<std::vector<std::int64_t>>();
      else if (name == "formats")
        q.request.formats = value.get<std::vector<std::string>>();
      else if (name == "tp")
        q.request.tp = value.get<std::int64_t>();
      else if (name == "device")
        q.device = value.get<std::string>();
      else
        refuse_config("request of a model's plan", name, "tokens, formats, tp and device");
    } catch (json::exception const&) {
      refuse_config(name.c_str(), value.dump(),
                    name == "device" ? "a text" : "a list, or of tp a number");
    }
  return q;
}

std::string model_text(model_plan const& p, device const& dev) {
  std::vector<std::vector<std::string>> cells{
      {"GEMM", "tokens", "N", "K", "format", "us", "TFLOP/s", "kernel"}};
  for (model_row const& r : p.rows)
    cells.push_back({std::string(r.gemm.name), fmt::format("{}", r.tokens),
                     fmt::format("{}", r.gemm.n), fmt::format("{}", r.gemm.k), r.format,
                     fmt::format("{:.2f}", r.plan.predicted_us), fmt::format("{:.0f}", r.tflops()),
                     r.plan.kernel});
  std::vector<std::size_t> width(cells[0].size());
  for (auto const& row : cells)
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string text =
      fmt::format("device  {}, {} {}\n\n", dev.name, p.layers, p.layers == 1 ? "layer" : "layers");
  for (auto const& row : cells) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      bool const word = i == 0 || i == 4 || i == 7;
      line += (i == 0 ? "" : "  ") + (word ? fmt::format("{:<{}}", row[i], width[i])
                                           : fmt::format("{:>{}}", row[i], width[i]));
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  text += "\n";
  for (auto const& [tokens, format] : model_groups(p))
    text += fmt::format("all layers, {} {}, {}: {:.2f} ms\n", tokens,
                        tokens == 1 ? "token" : "tokens", format, p.us(tokens, format) / 1000);
  for (auto const& [format, why] : p.left_out)
    text += fmt::format("left out: {}: {}\n", format, to_string(with_options(why)));
  return text;
}

nlohmann::ordered_json model_json(model_plan const& p, device const& dev,
                                  rejection (*words)(rejection)) {
  json rows = json::array(), totals = json::array(), left_out = json::array();
  for (model_row const& r : p.rows)
    rows.push_back({{"gemm", r.gemm.name},
                    {"tokens", r.tokens},
                    {"n", r.gemm.n},
                    {"k", r.gemm.k},
                    {"gated", r.gemm.gated},
                    {"format", r.format},
                    {"us", r.plan.predicted_us},
                    {"tflops", r.tflops()},
                    {"kernel", r.plan.kernel}});
  for (auto const& [tokens, format] : model_groups(p))
    totals.push_back({{"tokens", tokens}, {"format", format}, {"us", p.us(tokens, format)}});
  for (auto const& [format, why] : p.left_out)
    left_out.push_back({{"format", format}, {"why", to_string(words(why))}});
  return {{"device", dev.id}, {"device_name", dev.name}, {"layers", p.layers},
          {"rows", rows},     {"all_layers", totals},    {"left_out", left_out}};
}

}  // namespace tw
