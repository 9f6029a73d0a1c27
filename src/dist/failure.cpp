// SPDX-License-Identifier: Apache-2.0
// failure.cpp  Words of a failure_record.
#include "dist/failure.hpp"

#include <fmt/format.h>

#include <cstring>

#include "dist/membership.hpp"

namespace tw::dist {
namespace {

std::string words(call_text const& t) {
  auto const* const text = reinterpret_cast<char const*>(t.words);
  return {text, strnlen(text, sizeof t.words)};
}

}  // namespace

failure_text text_of(failure_record const& r, int rank) {
  failure_text f{r.why, static_cast<int>(r.by) == rank, r.epoch, ""};
  int const by = static_cast<int>(r.by), of = static_cast<int>(r.of);
  std::string const before = text_of(r.place);
  switch (r.why) {
    case rank_failure::late:
      f.text = late_text(by, static_cast<double>(r.waited_ns) * 1e-9, of, r.epoch, before,
                         r.seen != 0 ? fmt::format("was last seen in call {}", r.seen_epoch)
                                     : "has begun no call");
      break;
    case rank_failure::other_problem:
      f.text = problems_text(by, words(r.text[0]), of, words(r.text[1]));
      break;
    case rank_failure::left: f.text = left_text(by, of, r.epoch, before); break;
    case rank_failure::refused:
      f.text = refused_text(by, of, r.epoch, before, words(r.text[0]));
      break;
    case rank_failure::none:
    case rank_failure::stopped: f.text = words(r.text[0]);
  }
  return f;
}

void refuse_failure(failure_text const& f, double timeout_s) {
  if (f.why == rank_failure::late && f.found_here) refuse_late(f.text, timeout_s);
  if (f.why == rank_failure::other_problem) {
    if (f.found_here) refuse_disagreement(f.epoch, f.text);
    refuse_broken_group(disagreement_text(f.epoch, f.text));
  }
  refuse_broken_group(f.text);
}

}  // namespace tw::dist
