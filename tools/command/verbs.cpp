// SPDX-License-Identifier: Apache-2.0
// verbs.cpp  Lists of the options and verbs that CLI11 stores.
#include "tools/command/verbs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/io/in_quotes.hpp"
#include "tools/io/refuse.hpp"
#include "tools/request/words.hpp"

namespace tw {

std::vector<CLI::App const*> verbs_below(CLI::App const& app) {
  return app.get_subcommands([](CLI::App const*) { return true; });
}

std::vector<std::string> names_of_verbs(CLI::App const& app) {
  std::vector<std::string> names;
  for (CLI::App const* const verb : verbs_below(app)) names.push_back(verb->get_name());
  return names;
}

std::string full_name(CLI::App const& verb) {
  CLI::App const* const parent = verb.get_parent();
  return parent == nullptr ? verb.get_name() : full_name(*parent) + " " + verb.get_name();
}

CLI::App const& verb_of(CLI::App const& app, std::vector<std::string> const& words) {
  CLI::App const* at = &app;
  for (std::string const& word : words) {
    CLI::App const* next = nullptr;
    for (CLI::App const* const verb : verbs_below(*at))
      if (verb->get_name() == word) next = verb;
    if (next == nullptr)
      refuse("TW0615", "verb", in_quotes(word),
             verbs_below(*at).empty()
                 ? "no word after " + at->get_name()
                 : fmt::format("one of {}", fmt::join(names_of_verbs(*at), ", ")),
             did_you_mean(word, names_of_verbs(*at)));
    at = next;
  }
  return *at;
}

std::vector<std::string> option_names(CLI::App const& verb) {
  std::vector<std::string> names;
  for (CLI::Option const* const option : verb.get_options()) {
    for (std::string const& name : option->get_lnames()) names.push_back("--" + name);
    for (std::string const& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

}  // namespace tw
