// SPDX-License-Identifier: Apache-2.0
// layout_command.cpp  Expression in, text, table, JSON or picture out; or questions line by line.
#include "tools/layout_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <span>
#include <string>

#include "tilewright/layout/call.hpp"
#include "tools/guarded.hpp"
#include "tools/io/output_file.hpp"
#include "tools/io/refuse.hpp"
#include "tools/layout_json.hpp"
#include "tools/layout_picture.hpp"

namespace tw {
namespace {

struct layout_request {
  std::string expression;
  std::string print;  // empty: text, and a table where it fits a screen
  std::string output;
  bool json = false;
  bool jsonl = false;
  bool operations = false;
};

bool fits_a_screen(answer const& a) {
  return a.function && rank(*a.function) == 2 && size(mode(*a.function, 0)) <= 64 &&
         size(mode(*a.function, 1)) <= 64;
}

std::string picture(answer const& a, layout_request const& request, bool coloured) {
  std::string const& how = request.print;
  if (request.json || how == "json") return to_json(a).dump() + "\n";
  if (!a.function || how == "text") return a.res + "\n";
  if (how == "svg") return svg_of(a);
  if (how == "table") return table_of(a, coloured);
  return a.res + "\n" + (fits_a_screen(a) ? table_of(a, coloured) : "");
}

exit_status answer_request(layout_request const& request) {
  if (request.jsonl) {
    answer_lines(std::cin, std::cout);
    return exit_status::done;
  }
  if (request.operations) {
    for (std::string_view const name : operations()) fmt::print("{}\n", name);
    return exit_status::done;
  }
  if (request.expression.empty()) {
    refuse("TW0123", "layout expression", "nothing", "an expression, --jsonl or --ops",
           "for example tilewright layout '(4,8):(8,1)'");
  }
  bool const to_terminal = request.output.empty() && isatty(STDOUT_FILENO) != 0;
  std::string const text = picture(evaluate(request.expression), request, to_terminal);
  if (request.output.empty()) {
    fmt::print("{}", text);
    return exit_status::done;
  }
  output_file file(request.output);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
  return exit_status::done;
}

}  // namespace

void add_layout_command(CLI::App& app, int& status) {
  auto const request = std::make_shared<layout_request>();
  CLI::App* verb = app.add_subcommand("layout", "evaluate an expression of the layout algebra");
  verb->add_option("EXPR", request->expression,
                   "a layout, (4,8):(8,1) or Sw<3,4,3> o 0 o (8,64):(64,1), or a call, "
                   "zipped_divide((4,8):(8,1), (2,4)); arguments may be calls");
  verb->add_option("--print", request->print,
                   "table, text, svg or json; without it the text, and a table if it fits a screen")
      ->check(CLI::IsMember({"table", "text", "svg", "json"}));
  verb->add_option("-o", request->output, "write to this file instead of stdout");
  verb->add_flag("--json", request->json, "the same as --print json");
  verb->add_flag("--jsonl", request->jsonl,
                 "answer lines {\"id\", \"op\", \"args\"} from stdin, one JSON object per line");
  verb->add_flag("--ops", request->operations, "list the operations");
  verb->callback([request, &status] {
    status = static_cast<int>(guarded(request->json, [&] { return answer_request(*request); }));
  });
}

}  // namespace tw
