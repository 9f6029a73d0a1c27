// SPDX-License-Identifier: Apache-2.0
// explain_command.cpp  Finds the page of a code, without a word lists them; shows the memory of a
//                      kernel; or says whether a combination works. Prints text or JSON.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tilewright/atom/call.hpp"
#include "tilewright/atom/explain.hpp"
#include "tools/command/explain/kernel_explanation.hpp"
#include "tools/command/guarded.hpp"
#include "tools/io/in_quotes.hpp"
#include "tools/io/refuse.hpp"
#include "tools/report/error_pages.hpp"
#include "tools/report/json_output.hpp"
#include "tools/request/words.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

/// The title of a page, "TW0601: file cannot be read", from "# TW0601: file cannot be read".
std::string_view title(std::string_view text) {
  std::size_t const begin = text.find_first_not_of("# ");
  return begin == std::string_view::npos ? text : text.substr(begin, text.find('\n') - begin);
}

void list_codes(bool as_json) {
  json codes = json::array();
  for (error_page const& page : error_pages())
    if (as_json)
      codes.push_back({{"code", page.code}, {"title", title(page.text)}});
    else
      fmt::print("{}\n", title(page.text));
  if (as_json) print_json("tilewright.explain.codes/1", {{"codes", codes}});
}

/// A kernel of the library: all names begin with an architecture, sm90_..., or with gemv.
bool explains_kernel(std::string const& name, bool as_json) {
  std::optional<kernel_explanation> const e = explain_kernel(name);
  if (!e && (name.starts_with("sm80_") || name.starts_with("sm90_") || name.starts_with("sm100_")))
    refuse("TW0652", "kernel", in_quotes(name),
           "a name as `tilewright plan M N K --all-kernels` lists them",
           did_you_mean(name, kernel_names()));
  if (!e) return false;
  if (as_json)
    print_json("tilewright.explain.kernel/1", explanation_json(*e));
  else
    fmt::print("{}", explanation_text(*e));
  return true;
}

exit_status explain_code(std::string const& code, bool as_json) {
  if (!code.empty() && explains_kernel(code, as_json)) return exit_status::done;
  if (code.empty()) {
    list_codes(as_json);
    return exit_status::done;
  }
  error_page const page =
      error_page_of(code,
                    "`tilewright explain` lists all; a kernel has the name that `tilewright plan` "
                    "prints");
  if (as_json)
    print_json("tilewright.explain.code/1", {{"code", page.code}, {"text", page.text}});
  else
    fmt::print("{}{}", page.text, page.text.ends_with('\n') ? "" : "\n");
  return exit_status::done;
}

json to_json(combination_cost const& k) {
  json j{{"copies", k.copies},          {"wavefronts", k.wavefronts},
         {"ideal_wavefronts", k.ideal}, {"sums", k.sums},
         {"addresses", k.addresses},    {"tma_boxes", k.boxes},
         {"wgmmas_per_k", k.wgmmas},    {"operand_bytes_per_k", k.operand_bytes}};
  j["measured_registers"] = k.measured ? json(*k.measured) : json();
  return j;
}

json to_json(decision const& d, bool sums) {
  json j{{"works", d.works}};
  if (d.why) j["refusal"] = json_error(*d.why)["error"];
  if (!d.works && !d.operation.empty()) j["operation"] = d.operation;
  if (d.tile.shape.n > 0) j["memory"] = to_string(d.tile);
  if (d.partition) j["partition"] = to_string(*d.partition);
  if (d.works && sums) j["cost"] = to_json(d.cost);
  return j;
}

json to_json(explanation const& e) {
  bool const sums = e.asked.operand == 'D';
  json j{{"combination", to_words(e.asked)}};
  j.update(to_json(e.result, sums));
  j["geometry"] = e.geometry;
  j["alternatives"] = json::array();
  for (alternative const& a : e.alternatives) {
    json one{{"change", a.change}};
    one.update(to_json(a.result, sums));
    j["alternatives"].push_back(one);
  }
  for (access_figures const& f : e.accesses) {
    j["accesses"].push_back({{"memory", f.layout_name},
                             {"copy_wavefronts", f.copy_wavefronts},
                             {"copy_ideal", f.copy_ideal},
                             {"ldmatrix_wavefronts", f.read_wavefronts},
                             {"ldmatrix_ideal", f.read_ideal},
                             {"bytes", f.bytes}});
  }
  j["notes"] = e.notes;
  return j;
}

exit_status explain_words(std::vector<std::string> const& words, bool as_json) {
  auto const is_pair = [](std::string const& w) { return w.find('=') != std::string::npos; };
  if (std::ranges::any_of(words, [](std::string const& w) { return w.empty(); }))
    refuse("TW0617", "error code", "an empty text", "a code as messages begin with it",
           "`tilewright explain` lists all");
  if (std::ranges::none_of(words, is_pair) && words.size() < 2) {
    return explain_code(words.empty() ? "" : words[0], as_json);
  }
  if (!std::ranges::all_of(words, is_pair)) {
    std::string const odd = *std::ranges::find_if_not(words, is_pair);
    refuse("TW0618", "words to explain", odd + " among others",
           "one code alone, or KEY=VALUE words alone");
  }
  explanation const e = explain(parse_combination(words));
  if (as_json) {
    print_json("tilewright.explain/1", to_json(e));
  } else {
    fmt::print("{}", to_text(e));
  }
  return exit_status::done;  // "no" is an answer
}

}  // namespace

void add_explain_command(CLI::App& app, int& status) {
  struct request {
    std::vector<std::string> words;
    bool as_json = false;
  };
  auto const asked = std::make_shared<request>();
  CLI::App* verb = app.add_subcommand(
      "explain",
      "what an error code means; whether a tile, a copy and a memory layout go together; the "
      "shared and tensor memory of a kernel");
  verb->add_option("WORD", asked->words,
                   "a code, TW0601, or a combination: tile=192x192 mma=m64n96k16 warpgroups=2 "
                   "copy=stmatrix.x4 smem=SW128 dtype=f16, or a kernel as plan names it; without "
                   "words, all codes are listed. "
                   "docs/explain.md has the keys");
  verb->add_flag("--json", asked->as_json, "the answer as one JSON object");
  verb->callback([asked, &status] {
    status = static_cast<int>(
        guarded(asked->as_json, [&] { return explain_words(asked->words, asked->as_json); }));
  });
}

}  // namespace tw
