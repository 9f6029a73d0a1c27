// SPDX-License-Identifier: Apache-2.0
// plugin_library.cpp  Loads a plugin and speaks to it through its plain structs.
#include "tools/check/hazards/plugin_library.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <system_error>

#include "tools/check/hazards/crash_report.hpp"
#include "tools/check/hazards/request.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/io/refuse.hpp"

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

bool is_of_this_version(emu::plugin const* p) {
  return p != nullptr && p->abi == emu::plugin_abi &&
         p->statistics_bytes == sizeof(emu::statistics);
}

using entry_function = emu::plugin const* (*)();

/// The answers of the plugin's functions while it is loaded.
struct entered {
  void* library = nullptr;
  std::string not_loaded;  // the loader's words; empty: it was loaded
  bool has_entry = false;
  emu::plugin const* face = nullptr;
  std::string trouble;  // with its list of kernels
};

entered enter(std::string const& path) {
  // Without a slash dlopen would look in the system's folders.
  std::string const file = path.find('/') == std::string::npos ? "./" + path : path;
  entered e;
  void* const library = e.library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    e.not_loaded = ::dlerror();
    return e;
  }
  auto* const entry = reinterpret_cast<entry_function>(::dlsym(library, "tilewright_plugin"));
  e.has_entry = entry != nullptr;
  if (e.has_entry) e.face = entry();
  if (is_of_this_version(e.face)) e.trouble = trouble_with(*e.face);
  return e;
}

/// Runs the destructors of the library's variables. g++ marks some libraries so that they stay
/// until the process ends; then it ends, or is stopped after a while.
void unload(entered const& e, std::string const& path) {
  if (e.library == nullptr) return;
  ::dlclose(e.library);
  if (::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD) == nullptr) return;
  constexpr unsigned patience_s = 5;
  ::alarm(patience_s);
  std::exit(0);
}

/// How a rehearsal ended.
struct rehearsal {
  int signal = 0;  // that ended it; 0: none did
  bool at_unload = false;
};

/// Loads and unloads the plugin in a child process, for so much processor time: a damaged file may
/// overwrite the memory of the process that loads it.
rehearsal rehearse(std::string const& path, double seconds) {
  auto* const unloading = static_cast<bool volatile*>(
      ::mmap(nullptr, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (unloading == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  std::fflush(nullptr);
  pid_t const child = ::fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    rlimit const none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    int const nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    set_processor_timer(seconds);
    try {
      entered const e = enter(path);
      *unloading = true;
      unload(e, path);
    } catch (...) {  // NOLINT: the parent reports it
    }
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  rehearsal r{WIFSIGNALED(status) ? WTERMSIG(status) : 0, *unloading};
  ::munmap(const_cast<bool*>(unloading), sizeof(bool));
  if (r.signal == SIGALRM) r.signal = 0;  // other code of this process waits at its end
  return r;
}

/// TW0640 where the library's constructors or its entry crash, throw or do not return.
entered enter_guarded(std::string const& path, request const& how) {
  rejection crash{"TW0640", "plugin " + path, "",
                  "a library that can be loaded, and an entry that returns its list of kernels",
                  "build it again; constructors of its variables run when it is loaded: gdb --args "
                  "tilewright check " +
                      path};
  if (rehearsal const r = rehearse(path, how.time_limit_seconds); r.signal != 0) {
    crash.got = meaning_of_signal(r.signal);
    if (r.at_unload) {
      crash.got += ", when it is unloaded";
      crash.need = "a library whose variables have destructors that return";
    }
    throw rejected(crash);
  }
  crash_report const last(crash, how.json);
  try {
    return enter(path);
  } catch (std::exception const& x) {
    crash.got = fmt::format("an exception: {}", x.what());
  } catch (...) {
    crash.got = "an exception that is no std::exception";
  }
  throw rejected(crash);
}

}  // namespace

plugin_library::plugin_library(std::string const& path, request const& how) : path_(path) {
  entered const e = enter_guarded(path, how);
  face_ = e.face;
  if (!e.not_loaded.empty())
    refuse("TW0631", "plugin " + path, e.not_loaded, "a shared library that can be loaded",
           "build it with the CMake function tilewright_add_kernel");
  if (!e.has_entry)
    refuse("TW0632", "plugin " + path, "no function tilewright_plugin", "one that is exported",
           "extern \"C\" tw::emu::plugin const* tilewright_plugin(); see docs/checking.md");
  if (!is_of_this_version(face_))
    refuse("TW0633", "plugin " + path,
           face_ == nullptr ? "a null pointer"
                            : fmt::format("interface {}, {} bytes of counts", face_->abi,
                                          face_->statistics_bytes),
           fmt::format("interface {}, {} bytes", emu::plugin_abi, sizeof(emu::statistics)),
           "build it against the Tilewright that this command belongs to");
  if (!e.trouble.empty())
    refuse("TW0638", "plugin " + path, e.trouble,
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
  q.tensor_fences = static_cast<int>(how.tensor_fences);
  q.sms = how.sms;
  q.live_clusters = how.live_clusters;
  q.time_limit_seconds = how.time_limit_seconds;
  q.record = how.record;
  receiver r{key, {}, 0, 0, {}, {}};
  emu::plugin_answer const answer = r.answer();
  {
    std::string const replay = "tilewright check " + replay_options(how, k.name, key);
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
  for (std::size_t i = 0; i < r.findings.size(); ++i) result.add(std::move(r.findings[i]), i == 0);
}

}  // namespace tw::hazards
