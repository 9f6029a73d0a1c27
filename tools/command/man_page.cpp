// SPDX-License-Identifier: Apache-2.0
// man_page.cpp  Roff for man, and one script for each shell.
#include "tools/command/man_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <regex>

#include "tilewright/base/version.hpp"
#include "tools/command/guarded.hpp"
#include "tools/command/verbs.hpp"
#include "tools/io/shell_word.hpp"
#include "tools/request/words.hpp"

namespace tw {
namespace {

/// Text as roff: no escapes, no requests, options with real hyphens.
std::string roff(std::string const& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    bool const begins_line = i == 0 || text[i - 1] == '\n';
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '|')
      out += "|\\:";  // a line may break here
    else
      out += c;
  }
  return out;
}

std::string page_name(CLI::App const& verb) {
  std::string name = full_name(verb);
  for (char& c : name)
    if (c == ' ') c = '-';
  return name;
}

/// The words that an option takes: what its validator shows in braces.
std::vector<std::string> words_of(CLI::Option const& option) {
  static std::regex const braces("\\{([^{}]*)\\}");
  std::string const type = option.get_type_name();
  std::smatch found;
  if (!std::regex_search(type, found, braces)) return {};
  return CLI::detail::split(found[1].str(), ',');
}

/// Has it a place alone, and no name that begins with a dash?
bool is_place(CLI::Option const& option) {
  return option.get_positional() && option.get_lnames().empty() && option.get_snames().empty();
}

std::string option_name(CLI::Option const& option) {
  std::string name = is_place(option) ? option.get_name(true) : option.get_name(false, true);
  auto const words = words_of(option);
  if (!words.empty()) return name + fmt::format(" {}", fmt::join(words, "|"));
  bool const takes_value = option.get_items_expected_max() > 0 && !is_place(option);
  return takes_value ? name + " " + option.get_type_name() : name;
}

std::string options_text(CLI::App const& verb) {
  std::string text;
  for (CLI::Option const* const option : verb.get_options())
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(option_name(*option)),
                        roff(option->get_description()));
  return text;
}

// ---- completion -------------------------------------------------------------------------------

/// The first sentence, for shells that show what a word means.
std::string short_text(std::string const& description) {
  std::string text = description.substr(0, description.find('\n'));
  return text.size() > 70 ? text.substr(0, text.rfind(' ', 67)) + "..." : text;
}

template <class F>
void for_all_verbs(CLI::App const& verb, F const& f) {
  f(verb);
  for (CLI::App const* const next : verbs_below(verb)) for_all_verbs(*next, f);
}

/// case VERB) of verbs and options, and case OPTION) of their words.
std::string bash(CLI::App const& app) {
  std::string words, values;
  for_all_verbs(app, [&](CLI::App const& verb) {
    auto names = names_of_verbs(verb);
    for (std::string const& name : option_names(verb)) names.push_back(name);
    words += fmt::format("    {}) words={} ;;\n", single_quoted(full_name(verb)),
                         single_quoted(fmt::format("{}", fmt::join(names, " "))));
    for (CLI::Option const* const option : verb.get_options()) {
      auto const of_option = words_of(*option);
      for (std::string const& name : option->get_lnames())
        if (!of_option.empty())
          values +=
              fmt::format("    {}) values={} ;;\n", single_quoted(full_name(verb) + " --" + name),
                          single_quoted(fmt::format("{}", fmt::join(of_option, " "))));
    }
  });
  return "# bash completion of tilewright: a file of share/bash-completion/completions\n"
         "_tilewright() {\n"
         "  local verb=tilewright words='' values='' i known\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    case \" " +
         fmt::format("{}", fmt::join(names_of_verbs(app), " ")) +
         " \" in *\" ${COMP_WORDS[i]} \"*)\n"
         "      if [[ $verb == tilewright || $verb == 'tilewright bench' ]]; then\n"
         "        verb+=\" ${COMP_WORDS[i]}\"\n      fi ;;\n"
         "      *) [[ $verb == 'tilewright bench' && ${COMP_WORDS[i]} != -* ]] &&\n"
         "           verb+=\" ${COMP_WORDS[i]}\" ;;\n    esac\n  done\n"
         "  case \"$verb $prev\" in\n" +
         values +
         "  esac\n"
         "  if [[ -n $values ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$values\" -- \"$cur\")); return\n  fi\n"
         "  case \"$verb\" in\n" +
         words +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "}\n"
         "complete -o default -F _tilewright tilewright\n";
}

std::string zsh(CLI::App const& app) {
  return "#compdef tilewright\n"
         "# zsh completion of tilewright, by way of the one for bash\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash(app);
}

std::string fish(CLI::App const& app) {
  std::string text = "# fish completion of tilewright\n";
  for_all_verbs(app, [&](CLI::App const& verb) {
    bool const top = verb.get_parent() == nullptr;
    std::string const name = verb.get_name();
    std::string const names = fmt::format("{}", fmt::join(names_of_verbs(verb), " "));
    std::string const seen = top ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + name;
    std::string const before =
        names.empty() || top ? seen : seen + "; and not __fish_seen_subcommand_from " + names;
    for (CLI::App const* const next : verbs_below(verb))
      text += fmt::format("complete -c tilewright -n {} -a {} -d {}\n", single_quoted(before),
                          next->get_name(), single_quoted(short_text(next->get_description())));
    for (CLI::Option const* const option : verb.get_options()) {
      std::string line = fmt::format("complete -c tilewright -n {}", single_quoted(seen));
      for (std::string const& x : option->get_lnames()) line += " -l " + x;
      for (std::string const& x : option->get_snames()) line += " -s " + x;
      if (is_place(*option)) continue;
      auto const words = words_of(*option);
      if (!words.empty())
        line += fmt::format(" -x -a {}", single_quoted(fmt::format("{}", fmt::join(words, " "))));
      else if (option->get_items_expected_max() > 0)
        line += " -r";
      text += fmt::format("{} -d {}\n", line, single_quoted(short_text(option->get_description())));
    }
  });
  return text;
}

/// Paragraphs that a page fills, each on a separate line.
std::string lines_of(std::string text) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 5))
    text.insert(at + 1, ".br\n");
  return text;
}

}  // namespace

std::string man_page(CLI::App const& verb) {
  std::string const name = page_name(verb);
  std::string text =
      fmt::format(".TH {} 1 \"\" \"tilewright {}\" \"User Commands\"\n", name, version_text);
  text += ".ad l\n";
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(verb.get_description()));
  text += fmt::format(".SH SYNOPSIS\n.B {}\n", roff(full_name(verb)));
  if (!verbs_below(verb).empty()) text += "\\fIVERB\\fR ";
  for (CLI::Option const* const option : verb.get_options())
    if (option->get_positional()) text += fmt::format("\\fI{}\\fR ", option->get_name(true));
  text += "[\\fIOPTION\\fR]...\n";
  if (!verb.get_footer().empty())
    text += fmt::format(".SH DESCRIPTION\n{}\n", lines_of(roff(verb.get_footer())));
  text += ".SH OPTIONS\n" + options_text(verb);
  std::string below, see;
  for (CLI::App const* const next : verbs_below(verb)) {
    below += fmt::format(".TP\n\\fB{}\\fR\n{}\n", next->get_name(), roff(next->get_description()));
    see += fmt::format("{}.BR {} (1)", see.empty() ? "" : ",\n", page_name(*next));
  }
  if (!below.empty()) text += ".SH VERBS\n" + below;
  text +=
      ".SH EXIT STATUS\n0 done; 1 the result is wrong; 2 the command line or an input is "
      "refused;\n77 no usable GPU. Each refusal has a code, which\n"
      ".B tilewright explain\nexplains.\n";
  if (verb.get_parent() != nullptr) see = ".BR " + page_name(*verb.get_parent()) + " (1)";
  return text + ".SH SEE ALSO\n" + see + "\n";
}

std::string completion_script(CLI::App const& app, std::string const& shell) {
  return shell == "bash" ? bash(app) : shell == "zsh" ? zsh(app) : fish(app);
}

void add_documentation_verbs(CLI::App& app, int& status) {
  auto const shell = std::make_shared<std::string>();
  CLI::App* const completion =
      app.add_subcommand("completion", "print a completion script for a shell");
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->transform(one_of({"bash", "zsh", "fish"}));
  completion->callback([&app, &status, shell] {
    status = static_cast<int>(guarded(false, [&] {
      fmt::print("{}", completion_script(app, *shell));
      return exit_status::done;
    }));
  });
  auto const words = std::make_shared<std::vector<std::string>>();
  CLI::App* const man = app.add_subcommand("man", "print a manual page: tilewright man | man -l -");
  man->add_option("VERB", *words, "a verb, and for bench a second one");
  man->callback([&app, &status, words] {
    status = static_cast<int>(guarded(false, [&] {
      fmt::print("{}", man_page(verb_of(app, *words)));
      return exit_status::done;
    }));
  });
}

}  // namespace tw
