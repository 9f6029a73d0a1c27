// SPDX-License-Identifier: Apache-2.0
// plugin_library.cpp  Loads a plugin and speaks to it through its plain structs.
#include "tools/hazards/plugin_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tools/hazards/crash_report.hpp"
#include "tools/hazards/request.hpp"
#include "tools/io/refuse.hpp"
#include "tools/mutants/mutants.hpp"

namespace tw::hazards {

namespace {

/// Receives what one run shows.
struct receiver {
  run_key key;
  std::vector<finding> findings;
  std::int64_t wrong = 0, elements = 0;
  emu::statistics counts;
  std::string failed;

  static receiver& of(void* p) { return *static_cast<receiver*>(p); }
  emu::plugin_answer answer() {
    return {this,
            [](void* to, char const* code, char const* kind, char const* text, int count) {
              of(to).findings.push_back({code, kind, text, count, 0, of(to).key, {}});
            },
            [](void* to, std::int64_t wrong, std::int64_t elements, char const* first) {
              receiver& r = of(to);
              r.wrong = wrong;
              r.elements = elements;
              if (wrong != 0)
                r.findings.push_back({"",
                                      "wrong-elements",
                                      fmt::format("wrong elements: {} of {} in this run, {}", wrong,
                                                  elements, first),
                                      wrong,
                                      0,
                                      r.key,
                                      {}});
            },
            [](void* to, emu::statistics const* counts) { of(to).counts = *counts; },
            [](void* to, char const* why) { of(to).failed = *why == 0 ? "no reason" : why; }};
  }
};

/// The fault of the list of kernels; empty if it has none.
std::string trouble_with(emu::plugin const& p) {
  if (p.kernels < 1 || p.kernel == nullptr) return "no kernels";
  for (int i = 0; i < p.kernels; ++i) {
    emu::plugin_kernel const& k = p.kernel[i];
    if (k.name == nullptr || *k.name == 0) return fmt::format("kernel {} has no name", i);
    if (k.run == nullptr) return fmt::format("kernel {} has no test function", k.name);
    if (k.extent_names == nullptr || *k.extent_names == 0)
      return fmt::format("kernel {} names no extents", k.name);
    auto const extents = std::ranges::count(std::string_view(k.extent_names), ',') + 1;
    if (extents > emu::plugin_extents)
      return fmt::format("kernel {} has {} extents", k.name, extents);
    if (k.shapes < 1 || k.shape == nullptr) return fmt::format("kernel {} has no shapes", k.name);
    if (k.bugs < 0 || (k.bugs > 0 && k.bug == nullptr))
      return fmt::format("kernel {} has {} bugs and no list of them", k.name, k.bugs);
  }
  return "";
}

}  // namespace

plugin_library::plugin_library(std::string const& path) : path_(path) {
  // Without a slash dlopen would look in the system's folders.
  std::string const file = path.find('/') == std::string::npos ? "./" + path : path;
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    refuse("TW0631", "plugin " + path, ::dlerror(), "a shared library that can be loaded",
           "build it with the CMake function tilewright_add_kernel");
  auto* const entry =
      reinterpret_cast<emu::plugin const* (*)()>(::dlsym(library, "tilewright_plugin"));
  if (entry == nullptr)
    refuse("TW0632", "plugin " + path, "no function tilewright_plugin", "one that is exported",
           "extern \"C\" tw::emu::plugin const* tilewright_plugin(); see docs/checking.md");
  face_ = entry();
  if (face_ == nullptr || face_->abi != emu::plugin_abi ||
      face_->statistics_bytes != sizeof(emu::statistics))
    refuse("TW0633", "plugin " + path,
           face_ == nullptr ? "a null pointer"
                            : fmt::format("interface {}, {} bytes of counts", face_->abi,
                                          face_->statistics_bytes),
           fmt::format("interface {}, {} bytes", emu::plugin_abi, sizeof(emu::statistics)),
           "build it against the Tilewright that this command belongs to");
  if (std::string const trouble = trouble_with(*face_); !trouble.empty())
    refuse("TW0638", "plugin " + path, trouble,
           fmt::format("kernels, each with a name, a test function, 1 to {} extents and a shape",
                       emu::plugin_extents),
           "tw::emu::test_of and tw::emu::plugin_of make such a list; see docs/checking.md");
}

std::span<emu::plugin_kernel const> plugin_library::kernels() const {
  return {face_->kernel, static_cast<std::size_t>(face_->kernels)};
}

void plugin_library::run(emu::plugin_kernel const& k, run_key const& key, int bug,
                         request const& how, kernel_result& result) const {
  emu::options const o = mutants::schedule(key.family, key.seed);
  emu::plugin_request q{};
  for (std::size_t i = 0; i < key.shape.size(); ++i) q.shape.extent[i] = key.shape[i];
  q.bug = bug;
  q.policy = static_cast<int>(o.policy);
  q.random_warps = o.random_warps ? 1 : 0;
  q.most_reports = emu::options{}.most_reports;
  q.seed = key.seed;
  q.proxy_on_path = how.proxy_on_path ? 1 : 0;
  q.provenance = how.provenance ? 1 : 0;
  q.bank_conflicts = how.bank_conflicts ? 1 : 0;
  q.sms = how.sms;
  q.live_clusters = how.live_clusters;
  q.time_limit_seconds = how.time_limit_seconds;
  receiver r{key, {}, 0, 0, {}, {}};
  emu::plugin_answer const answer = r.answer();
  {
    std::string const replay = fmt::format(
        "tilewright check {}{} --kernel {} {}", path_,
        bug == 0 ? "" : fmt::format(" --bug {}", k.bug[bug - 1].name), k.name, replay_options(key));
    crash_report const last({"TW0639", fmt::format("plugin {}, kernel {}", path_, k.name), "",
                             "a kernel and a test function that stay inside their memory",
                             "the same run in a debugger: gdb --args " + replay},
                            how.json);
    k.run(&q, &answer);
  }
  if (r.failed.empty() && r.findings.empty() && r.elements == 0)
    r.failed = "no element compared and no finding";
  if (!r.failed.empty())
    refuse("TW0637", fmt::format("plugin {}, kernel {}", path_, k.name), r.failed,
           "a test function that runs the kernel and compares, for every shape that it is given",
           on_gpu() ? "it needs a Hopper GPU; the plugin without _gpu runs in the emulator" : "");
  ++result.runs;
  if (!r.findings.empty()) ++result.bad_runs;
  result.wrong_elements += r.wrong;
  result.elements += r.elements;
  result.counts.add(r.counts);
  result.on_gpu = on_gpu();
  for (finding& f : r.findings) result.add(std::move(f));
}

}  // namespace tw::hazards
