// SPDX-License-Identifier: Apache-2.0
// race.cpp  The module of the page "Find the race": `playground list`, and `playground run NAME`
//           with --schedule, --seed, --size and --no-timeline. The words are read here, because
//           CLI11 would be a tenth of the module, and a switch of fibers would unwind it.
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "playground/wasm/verbs.hpp"
#include "tools/command/guarded.hpp"
#include "tools/command/playground/race_answer.hpp"
#include "tools/io/in_quotes.hpp"
#include "tools/io/refuse.hpp"

/// Reports the share of the run that is done to the page: wasm/output.js.
extern "C" void tw_progress(double share);

namespace tw {
namespace {

template <class Int>
void read_number(std::string_view option, std::string_view word, Int least, Int most, Int& to) {
  auto const read = std::from_chars(word.data(), word.data() + word.size(), to);
  if (read.ec != std::errc{} || read.ptr != word.data() + word.size() || to < least || to > most)
    refuse("TW0634", std::string(option), in_quotes(std::string(word)),
           "a number from " + std::to_string(least) + " to " + std::to_string(most));
}

race::request request_of(std::vector<std::string_view> const& words) {
  race::request r;
  r.progress = tw_progress;
  for (std::size_t i = 2; i < words.size(); ++i) {
    std::string_view const word = words[i];
    bool const has_value = i + 1 < words.size();
    if (word == "--no-timeline")
      r.timeline = false;
    else if (word == "--schedule" && has_value)
      r.schedule = words[++i];
    else if (word == "--seed" && has_value)
      read_number<std::uint64_t>(word, words[++i], 0, UINT64_MAX, r.seed);
    else if (word == "--size" && has_value)
      read_number(word, words[++i], 16, 1024, r.size);
    else if (!word.starts_with("-") && r.name.empty())
      r.name = word;
    else
      refuse("TW0634", "word of `playground run`", in_quotes(std::string(word)),
             "one NAME, --schedule WORD, --seed N, --size N or --no-timeline");
  }
  return r;
}

exit_status answer(std::vector<std::string_view> const& words) {
  if (words.size() == 2 && words[0] == "playground" && words[1] == "list") return print_specimens();
  if (words.size() < 3 || words[0] != "playground" || words[1] != "run")
    refuse("TW0634", "words of a request", std::to_string(words.size()) + " others",
           "playground list, or playground run NAME");
  return print_run(request_of(words));
}

}  // namespace

int run_words(int argc, char** argv) {
  std::vector<std::string_view> const words(argv + 1, argv + argc);
  return static_cast<int>(guarded(true, [&] { return answer(words); }));
}

}  // namespace tw
