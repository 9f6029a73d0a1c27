// SPDX-License-Identifier: Apache-2.0
// reporter.cpp  Collects diagnoses.
#include "emu/machine/reporter.hpp"

#include "emu/machine/machine.hpp"

namespace tw::emu {

void reporter::begin() {
  found_.clear();
  landing = false;
}

void reporter::say_who(diagnosis& d, thread const* by) const {
  if (d.thread >= 0) return;
  if (by == nullptr && !landing) by = m_.sched.running();
  if (by == nullptr) return;
  d.cta = by->cta;
  d.thread = by->id;
  d.role = by->role;
}

void reporter::stop(std::string code, std::string kind, std::string text, site where, about a) {
  diagnosis d;
  d.code = std::move(code);
  d.kind = std::move(kind);
  d.text = std::move(text);
  d.where = where;
  d.object = std::move(a.object);
  d.phase = a.phase;
  d.earlier = a.earlier;
  say_who(d, a.by);
  stop(std::move(d));
}

void reporter::stop(diagnosis d) {
  found_.push_back(std::move(d));
  m_.sched.leave_for_good();
}

void reporter::report(diagnosis d) {
  say_who(d, nullptr);
  for (diagnosis& old : found_)
    if (same_hazard(old, d)) {
      ++old.count;
      return;
    }
  if (static_cast<int>(found_.size()) + 1 >= m_.options_.most_reports) stop(std::move(d));
  found_.push_back(std::move(d));
}

}  // namespace tw::emu
