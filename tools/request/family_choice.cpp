// SPDX-License-Identifier: Apache-2.0
// family_choice.cpp  Plans of one family.
#include "tools/request/family_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dispatch/plan/check_plan.hpp"
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
  verb.add_option("--family", family, "plans by the kernels of this family alone")
      ->check(CLI::IsMember(ids()));
}

namespace {

struct architecture {
  std::string word;  // "sm90"
  std::string_view device;
  int generation;  // compute capability / 10
};

/// Those of the described devices. The device of each is the one that kernels are planned for
/// where nothing says otherwise, or else the first.
std::vector<architecture> const& architectures() {
  static std::vector<architecture> const all = [] {
    std::vector<architecture> found;
    for (device const& d : known_devices()) {
      int const generation = d.compute_capability / 10;
      auto const at = std::ranges::find(found, generation, &architecture::generation);
      if (at == found.end())
        found.push_back({fmt::format("sm{}0", generation), d.id, generation});
      else if (d.id == kernel_facts{}.device)
        at->device = d.id;
    }
    std::ranges::sort(found, {}, &architecture::generation);
    return found;
  }();
  return all;
}

architecture const* find_arch(std::string_view word) {
  auto const found = std::ranges::find(architectures(), word, &architecture::word);
  return found == architectures().end() ? nullptr : &*found;
}

}  // namespace

void add_arch_option(CLI::App& verb, std::string& arch) {
  std::vector<std::string> words;
  for (architecture const& a : architectures()) words.emplace_back(a.word);
  verb.add_option("--arch", arch,
                  "kernels for this architecture; the emulator runs all of them, a GPU its own")
      ->check(CLI::IsMember(words));
}

std::string_view device_of(std::string_view arch, std::string const& family) {
  if (architecture const* const a = find_arch(arch)) return a->device;
  gemm_family const* const f = find_family(family);
  return f == nullptr ? kernel_facts{}.device : f->facts(0).device;
}

void check_arch(std::string_view arch, int compute_capability) {
  architecture const* const a = find_arch(arch);
  if (a == nullptr || a->generation == compute_capability / 10) return;
  throw rejected({"TW0504", "compute capability of the GPU for --arch " + std::string(arch),
                  fmt::format("{}.{}", compute_capability / 10, compute_capability % 10),
                  fmt::format("{}.x", a->generation), "run it in the emulator: --device emu"});
}

std::vector<gemm_plan> plans_of_family(gemm_problem const& p, gemm_operands const& o,
                                       device const& dev, std::string const& family,
                                       kernel_set kernels) {
  if (family.empty()) return plan_candidates(p, o, dev, kernels);
  auto const keep_family = [&](std::vector<gemm_plan>& plans) {
    std::erase_if(plans, [&](gemm_plan const& x) { return x.family->id() != family; });
  };
  std::vector<gemm_plan> all = plan_candidates(p, o, dev, kernel_set::all);
  std::string const first = all.front().kernel;
  keep_family(all);
  if (all.empty())
    throw rejected({"TW0441", "kernels of the family " + family,
                    "none that computes this GEMM on this device",
                    "a family that does, such as that of " + first,
                    "`tilewright plan` without --family lists all plans"});
  if (kernels == kernel_set::all) return all;
  gemm_plan const& best = all.front();
  if (std::ranges::none_of(all, &gemm_plan::built)) check_plan(best);  // TW0505
  std::vector<gemm_plan> plans = plan_candidates(p, o, dev, kernels);
  keep_family(plans);
  if (!best.built) plans.front().missed = best.kernel;
  return plans;
}

gemm_plan plan_of_family(gemm_problem const& p, gemm_operands const& o, device const& dev,
                         std::string const& family) {
  if (family.empty()) return plan_gemm(p, o, dev);
  return plans_of_family(p, o, dev, family).front();
}

}  // namespace tw
