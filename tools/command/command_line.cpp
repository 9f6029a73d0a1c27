// SPDX-License-Identifier: Apache-2.0
// command_line.cpp  CLI11's exceptions, looked at again with the options that the verb has.
#include "tools/command/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/command/guarded.hpp"
#include "tools/command/verbs.hpp"
#include "tools/io/in_quotes.hpp"
#include "tools/request/words.hpp"

namespace tw {
namespace {

/// The verb that the words chose, or the command itself.
CLI::App const& chosen_verb(CLI::App const& app) {
  auto const verbs = app.get_subcommands();
  return verbs.empty() ? app : chosen_verb(*verbs.front());
}

struct missing_word {
  std::string name, meaning;
  bool positional;
};

std::vector<missing_word> missing_words(CLI::App const& verb) {
  std::vector<missing_word> missing;
  for (CLI::Option const* const option : verb.get_options())
    if (option->get_required() && option->count() == 0)
      missing.push_back(
          {option->get_positional() ? option->get_name(true) : option->get_name(false, true),
           option->get_description(), option->get_positional()});
  return missing;
}

std::string names_of(std::vector<missing_word> const& missing) {
  std::string text;
  for (missing_word const& word : missing)
    text += (text.empty() ? "" : ", ") + fmt::format("{} ({})", word.name, word.meaning);
  return text;
}

/// "it is an option: tilewright gemm --timeline, ..." of a word that is no verb; empty: it is none.
std::string verbs_with_option(CLI::App const& app, std::string const& word) {
  std::vector<std::string> found;
  for (CLI::App const* const verb : app.get_subcommands([](CLI::App const*) { return true; }))
    if (verb->get_option_no_throw("--" + word) != nullptr)
      found.push_back(fmt::format("tilewright {} --{}", verb->get_name(), word));
  return found.empty() ? "" : fmt::format("it is an option: {}", fmt::join(found, ", "));
}

}  // namespace

rejection refusal_of(CLI::App const& app, CLI::ParseError const& e) {
  CLI::App const& verb = chosen_verb(app);
  bool const no_verb = &verb == &app;
  rejection r{"TW0615", "command line", e.what(),
              no_verb ? "a verb as `tilewright --help` lists them"
                      : fmt::format("options as `{} --help` lists them", full_name(verb)),
              ""};
  if (!no_verb) r.what += fmt::format(" of `{}`", full_name(verb));
  // CLI11 writes "Could not convert: --alpha = 1,5".
  constexpr std::string_view no_number = "Could not convert: ";
  if (r.got.starts_with(no_number)) {
    std::size_t const equals = r.got.find(" = ");
    std::string const value = equals == r.got.npos ? "" : r.got.substr(equals + 3);
    r.got =
        fmt::format("{}: {} is no number that it can be",
                    r.got.substr(no_number.size(), equals - no_number.size()), in_quotes(value));
  }
  std::vector<std::string> const unknown = app.remaining(true);
  if (!unknown.empty()) {
    std::string const& word = unknown.front();
    r.got = fmt::format("{}, which is unknown", in_quotes(word));
    if (no_verb) r.hint = verbs_with_option(app, word);
    if (r.hint.empty())
      r.hint = did_you_mean(word, no_verb ? names_of_verbs(app) : option_names(verb));
  }
  if (dynamic_cast<CLI::RequiredError const*>(&e) == nullptr) return r;
  std::vector<missing_word> const missing = missing_words(verb);
  bool const wants_verb = missing.empty();  // the command itself, or `bench`
  if (wants_verb) {
    if (unknown.empty()) r.got = no_verb ? "no verb" : "no word after " + verb.get_name();
    if (!no_verb) r.need = fmt::format("one of {}", fmt::join(names_of_verbs(verb), ", "));
    if (!no_verb && !unknown.empty()) r.hint = did_you_mean(unknown.front(), names_of_verbs(verb));
    return r;
  }
  bool const typed_option = !unknown.empty() && unknown.front().starts_with('-');
  if (typed_option) return r;  // the mistake is there, not in what is missing
  r.need = names_of(missing);
  if (unknown.empty()) {
    std::string names;
    for (missing_word const& word : missing) names += (names.empty() ? "" : ", no ") + word.name;
    r.got = "no " + names;
  } else if (!missing.front().positional) {
    std::string const option = missing.front().name.substr(0, missing.front().name.find(','));
    r.got = fmt::format("{} without an option", in_quotes(unknown.front()));
    r.hint = fmt::format("write {} {}", option, unknown.front());
  }
  return r;
}

void refuse_empty_values(CLI::App& app) {
  CLI::Validator const not_empty(
      [](std::string& text) { return text.empty() ? "the value is empty" : std::string(); }, "");
  for (CLI::Option* const option : app.get_options())
    if (option->nonpositional() && option->get_items_expected_max() > 0) option->check(not_empty);
  for (CLI::App* const verb : app.get_subcommands([](CLI::App*) { return true; }))
    refuse_empty_values(*verb);
}

void add_help_verb(CLI::App& app, int& status) {
  auto const topic = std::make_shared<std::vector<std::string>>();
  CLI::App* const help = app.add_subcommand("help", "print the help of the command or of a verb");
  help->add_option("VERB", *topic, "a verb, and for bench a second one");
  help->callback([&app, &status, topic] {
    status = static_cast<int>(guarded(false, [&] {
      CLI::App const& verb = verb_of(app, *topic);
      fmt::print("{}", verb.help(&verb == &app ? "" : full_name(*verb.get_parent())));
      return exit_status::done;
    }));
  });
}

}  // namespace tw
