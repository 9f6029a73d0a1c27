// SPDX-License-Identifier: Apache-2.0
// reported_run.cpp  A fault becomes a report.
#include "tools/check/mutants/reported_run.hpp"

namespace tw::mutants {

emu::report reported(emu::options const& o,
                     std::function<void(emu::options const&)> const& launch) {
  emu::report r;
  r.seed = o.seed;
  emu::options counting = o;
  counting.counted = &r.counts;
  if (o.bank_conflicts) counting.banks = &r.banks;
  try {
    launch(counting);
  } catch (emu::fault const& f) {
    r.diagnoses = f.diagnoses();
  }
  if (o.counted != nullptr) o.counted->add(r.counts);
  if (o.banks != nullptr) o.banks->insert(o.banks->end(), r.banks.begin(), r.banks.end());
  return r;
}

}  // namespace tw::mutants
