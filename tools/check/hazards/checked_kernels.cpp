// SPDX-License-Identifier: Apache-2.0
// checked_kernels.cpp  Which kernels, how often, on how many threads.
#include "tools/check/hazards/checked_kernels.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "tilewright/arch/emu/cores.hpp"
#include "tools/io/progress_bar.hpp"
#include "tools/io/refuse.hpp"

namespace tw::hazards {

namespace {

/// Those of this build.
std::vector<checked_kernel> all_kernels() {
  std::vector<checked_kernel> all;
  for (gemm_family const* f : families())
    for (int kernel = 0; kernel < f->kernel_count(); ++kernel)
      if (f->built(kernel)) all.push_back({f, kernel, f->name(kernel)});
  return all;
}

}  // namespace

std::vector<kernel_result> run_kernels(
    request const& r,
    std::function<checked_run(checked_kernel const&, std::vector<shape> const&)> const& begin) {
  std::vector<int> const families = families_of(r);
  std::vector<shape> shapes;
  for (std::string const& text : r.shapes) shapes.push_back(parse_shape(text, 3, "M,N,K"));
  int const per_family = r.seeds > 0 ? r.seeds : 1;
  int const runs = r.runs > 0 ? r.runs : per_family * static_cast<int>(families.size());
  std::vector<checked_kernel> chosen;
  for (checked_kernel const& k : all_kernels())
    if (k.name.find(r.kernel) != std::string::npos &&
        (r.family.empty() || k.family->id() == r.family))
      chosen.push_back(k);
  if (chosen.empty() && !r.family.empty() && find_family(r.family) == nullptr)
    refuse("TW0634", "--family", r.family,
           "a family such as " + std::string(tw::families()[0]->id()));
  if (chosen.empty())
    refuse("TW0634", "--kernel", r.kernel, "part of a name such as " + all_kernels()[0].name);

  std::vector<kernel_result> results(chosen.size());
  std::atomic<std::size_t> next{0};
  std::atomic<int> done{0};
  progress_bar bar(!r.quiet);
  std::mutex mutex;
  std::exception_ptr error;
  auto const work = [&] {
    try {
      for (std::size_t i = next++; i < chosen.size(); i = next++) {
        results[i].name = chosen[i].name;
        checked_run const run = begin(chosen[i], shapes);
        auto const count = static_cast<int>(families.size());
        for (int x = 0; x < runs; ++x) {
          run(x,
              {{},
               families[static_cast<std::size_t>(x % count)],
               r.first_seed + static_cast<std::uint64_t>(x / count)},
              results[i]);
          bar.update(static_cast<double>(++done) / (runs * static_cast<double>(chosen.size())));
        }
      }
    } catch (...) {
      std::scoped_lock const lock(mutex);
      error = std::current_exception();
    }
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < emu::usable_cores(); ++i) workers.emplace_back(work);
  for (std::thread& w : workers) w.join();
  if (error) std::rethrow_exception(error);
  return results;
}

}  // namespace tw::hazards
