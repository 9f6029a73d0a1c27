// SPDX-License-Identifier: Apache-2.0
// family_choice.cpp  Plans of one family.
#include "tools/family_choice.hpp"

#include "tilewright/base/check.hpp"
#include "tilewright/family/family.hpp"

namespace tw {

namespace {

std::vector<std::string> ids() {
  std::vector<std::string> all;
  for (gemm_family const* f : families()) all.emplace_back(f->id());
  return all;
}

}  // namespace

void add_family_option(CLI::App& verb, std::string& family) {
  std::string text;
  for (std::string const& id : ids()) text += (text.empty() ? "" : ", ") + id;
  verb.add_option("--family", family, "plans by the kernels of this family alone: " + text)
      ->check(CLI::IsMember(ids()));
}

std::vector<gemm_plan> of_family(std::vector<gemm_plan> plans, std::string const& family) {
  if (family.empty()) return plans;
  std::string const first = plans.empty() ? "" : plans.front().kernel;
  std::erase_if(plans, [&](gemm_plan const& x) { return x.family->id() != family; });
  if (plans.empty())
    throw rejected({"TW0441", "kernels of the family " + family,
                    "none that computes this GEMM on this device and is in this build",
                    "a family that does, such as that of " + first,
                    "`tilewright plan` without --family lists all plans"});
  return plans;
}

gemm_plan plan_of_family(gemm_problem const& p, gemm_operands const& o, device const& dev,
                         std::string const& family) {
  if (family.empty()) return plan_gemm(p, o, dev);
  return of_family(plan_candidates(p, o, dev), family).front();
}

}  // namespace tw
