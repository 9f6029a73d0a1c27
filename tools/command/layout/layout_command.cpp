// SPDX-License-Identifier: Apache-2.0
// layout_command.cpp  Expression in, text, table, JSON or picture out; or questions line by line.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <span>
#include <string>

#include "atom/signatures.hpp"
#include "atom/spelling.hpp"
#include "tilewright/atom/call.hpp"
#include "tools/command/guarded.hpp"
#include "tools/io/output_file.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/to_stderr.hpp"
#include "tools/picture/atom_picture.hpp"
#include "tools/picture/expression_parts.hpp"
#include "tools/picture/layout_picture.hpp"
#include "tools/picture/request.hpp"
#include "tools/picture/write_text.hpp"
#include "tools/report/json_output.hpp"
#include "tools/report/layout_json.hpp"
#include "tools/report/tmem_names.hpp"
#include "tools/request/words.hpp"

namespace tw {
namespace {

struct layout_request {
  picture_request picture;
  std::string print;  // empty: text, and a table where it fits a screen
  std::string output;
  bool json = false;
  bool jsonl = false;
  bool operations = false;
  bool help = false;
  std::string described;  // --help OP
};

bool fits_a_screen(answer const& a) {
  return a.function && is_static(*a.function) && rank(*a.function) == 2 &&
         size(mode(*a.function, 0)) <= 64 && size(mode(*a.function, 1)) <= 64;
}

/// Says that tiles reach beyond the layout that they divide, which the answer does not show.
void note_cells_outside(std::string const& expression) try {
  expression_parts const call = parts_of(detail::in_our_spelling(expression));
  constexpr std::array divides{"logical_divide", "zipped_divide", "tiled_divide", "flat_divide",
                               "local_tile"};
  if (std::ranges::find(divides, call.op) == divides.end() || call.args.size() < 2) return;
  auto const cells = [](std::string const& text) { return evaluate("size(" + text + ")").res; };
  std::string const all = cells(call.args[0]);
  std::string const of_tiles = cells("zipped_divide(" + call.args[0] + "," + call.args[1] + ")");
  if (all != of_tiles)
    to_stderr(
        "note: the tiles do not divide the extents: they have {} cells, the layout {}; a "
        "kernel needs a bounds check\n",
        of_tiles, all);
} catch (rejected const&) {
  return;  // a divide whose size is not known: it has run-time extents
}

/// The answer of the algebra, as text and as a table of all modes.
std::string plain_answer(layout_request const& request, bool coloured) {
  answer const a = evaluate(request.picture.expression);
  if (request.print != "json") note_cells_outside(request.picture.expression);
  if (request.print == "json") {
    nlohmann::ordered_json record{{"schema", "tilewright.layout/1"}};
    record.update(to_json(a));
    return json_text(record) + "\n";
  }
  if (request.print == "text" || (request.print.empty() && !a.function)) return a.text() + "\n";
  if (request.print.empty() && !fits_a_screen(a)) return a.text() + "\n";
  picture p;
  p.panels.push_back(flat_panel(a, ""));
  return (request.print.empty() ? a.text() + "\n" : "") + write_text(p, coloured);
}

std::string answer_text(layout_request const& request, bool coloured) {
  bool const drawn = request.print == "svg" || request.print == "html" || request.print == "latex";
  if (request.print == "text" && names_tmem(request.picture.expression))
    return fmt::format("{}\n", print(layout_of(parse_tmem(request.picture.expression))).text);
  bool const atom = names_atom(request.picture.expression) && request.print != "text";
  if (!drawn && !atom && !request.picture.special()) return plain_answer(request, coloured);
  return written(picture_of(request.picture), request.print, coloured);
}

/// Prints the arguments and the law of an operation, an example and its answer.
void describe(std::string const& name) {
  if (!std::ranges::binary_search(operations(), name)) call(name, std::vector<std::string>{});
  signature const s = signature_of(name);
  fmt::print("{}({})\n", name, s.arguments);
  if (!s.meaning.empty()) fmt::print("  {}\n", s.meaning);
  fmt::print("  law      {}\n  example  {}\n", s.law, s.example);
  std::string const shown = evaluate(s.example).text();
  for (std::size_t at = 0; at <= shown.size();) {
    std::size_t const end = std::min(shown.find('\n', at), shown.size());
    fmt::print("  {:<9}{}\n", at == 0 ? "answer" : "", shown.substr(at, end - at));
    at = end + 1;
  }
}

void print_operations(bool as_json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::string_view const name : operations()) {
    if (!as_json) {
      fmt::print("{}\n", name);
      continue;
    }
    signature const s = signature_of(name);
    list.push_back({{"name", name},
                    {"arguments", s.arguments},
                    {"meaning", s.meaning},
                    {"law", s.law},
                    {"example", s.example}});
  }
  if (as_json) print_json("tilewright.layout.operations/1", {{"operations", list}});
}

exit_status answer_request(layout_request request, std::string const& verb_help) {
  if (request.jsonl) {
    if (!request.picture.expression.empty())
      refuse("TW0123", "layout expression", "an expression with --jsonl",
             "one of the two: --jsonl reads its questions from stdin",
             "tilewright layout --jsonl < questions.jsonl");
    answer_lines(std::cin, std::cout);
    return exit_status::done;
  }
  if (request.operations) {
    print_operations(request.json || request.print == "json");
    return exit_status::done;
  }
  if (request.help && request.described.empty()) {
    fmt::print("{}", verb_help);
    return exit_status::done;
  }
  if (!request.described.empty()) {
    describe(request.described);
    return exit_status::done;
  }
  if (request.picture.expression.empty()) {
    refuse("TW0123", "layout expression", "nothing", "an expression, --jsonl or --ops",
           "for example tilewright layout '(4,8):(8,1)'");
  }
  if (request.json) request.print = "json";
  // MMA_Atom<SM80_16x8x16_F32F16F16F32_TN> is drawn as its instruction.
  if (std::string const ours = detail::in_our_spelling(request.picture.expression);
      names_atom(ours))
    request.picture.expression = ours;
  bool const to_terminal = request.output.empty() && isatty(STDOUT_FILENO) != 0;
  std::string const text = answer_text(request, to_terminal);
  if (request.output.empty()) {
    fmt::print("{}", text);
    return exit_status::done;
  }
  output_file file(request.output);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
  return exit_status::done;
}

void add_picture_options(CLI::App& verb, picture_request& r) {
  verb.add_option("--slice", r.slice,
                  "draw a part: a coordinate with _ for the modes to keep, such as (_,_,2)");
  verb.add_option("--tv", r.tv, "draw EXPR as a thread-value layout into this tile: (16,8)");
  verb.add_flag("--steps", r.steps,
                "draw a divide, a product, a composition or a complement step by step; a swizzled "
                "layout before and after");
  verb.add_option("--banks", r.banks,
                  "draw EXPR, a tile in shared memory, with the banks and wavefronts of an access: "
                  "ld.32, st.128, ldmatrix.x4, ...");
  verb.add_option("--tma", r.tma,
                  "draw EXPR, a tensor in global memory, with this tile in shared memory as a box");
  verb.add_option("--at", r.at, "where the tile of --tma begins: (row, column); (0,0) without it");
  verb.add_option("--descriptor", r.descriptor,
                  "draw the matrix descriptor of EXPR, an operand tile (M or N, K): wgmma or "
                  "tcgen05");
  verb.add_flag("--mn-major", r.mn_major, "the operand of --descriptor is MN-major");
  verb.add_option("--step", r.step, "step of --descriptor along k, 32 bytes each");
  verb.add_option("--bits", r.bits, "bits of an element, for --banks, --tma, --descriptor")
      ->check(CLI::Range(1, 128));
}

}  // namespace

void add_layout_command(CLI::App& app, int& status) {
  auto const request = std::make_shared<layout_request>();
  CLI::App* verb = app.add_subcommand("layout", "evaluate or draw an expression of the algebra");
  verb->add_option("EXPR", request->picture.expression,
                   "a layout, (4,8):(8,1) or Sw<3,4,3> o 0 o (8,64):(64,1), or a call, "
                   "zipped_divide((4,8):(8,1), (2,4)); arguments may be calls; or an atom to draw, "
                   "mma.sm80.m16n8k16.f32.f16.f16, copy.sm75.ldmatrix.x4, tiled_mma(...), or a "
                   "part of tensor memory, tmem.d.1cta.m64n16, tmem.sfa.1cta.m128.mxf4 "
                   "(docs/pictures.md has the names)");
  verb->add_option("--print", request->print,
                   "table, text, latex, svg, html or json; without it the text, and a table if it "
                   "fits a screen")
      ->transform(one_of({"table", "text", "latex", "svg", "html", "json"}));
  verb->add_option("-o", request->output, "write to this file instead of stdout");
  add_picture_options(*verb, request->picture);
  verb->add_flag("--json", request->json, "the same as --print json");
  verb->add_flag("--jsonl", request->jsonl,
                 "answer lines {\"id\", \"op\", \"args\"} from stdin, one JSON object per line");
  verb->set_help_flag();
  CLI::Option const* const help =
      verb->add_option("-h,--help,--op", request->described,
                       "print this help; with the name of an operation its arguments, law and "
                       "example: --help smem_atom")
          ->type_name("[OP]")
          ->expected(0, 1);
  verb->add_flag("--ops", request->operations, "list the operations");
  verb->callback([request, verb, help, &app, &status] {
    request->help = help->count() > 0;
    bool const json = request->json || request->print == "json";
    status = static_cast<int>(
        guarded(json, [&] { return answer_request(*request, verb->help(app.get_name())); }));
  });
}

}  // namespace tw
