// SPDX-License-Identifier: Apache-2.0
// kernel_set.cpp  Counts the kernels of this build, and refuses others.
#include "tilewright/family/kernel_set.hpp"

#include <fmt/format.h>

#include "family/launcher_of.hpp"
#include "tilewright/family/family.hpp"

namespace tw {

gemm_family const* find_family(std::string_view id) {
  for (gemm_family const* f : families())
    if (f->id() == id) return f;
  return nullptr;
}

void gemm_family::launch_emulated_gated(gemm_plan const& plan, launch_form const&, gate_form const&,
                                        emu::options const&) const {
  throw rejected(kernel_not_built(plan));
}
int gemm_family::launch_gpu_gated(gemm_plan const& plan, launch_form const&, gate_form const&,
                                  cudaStream_t, bool) const {
  throw rejected(kernel_not_built(plan));
}

kernel_set_facts kernels_of_this_build() {
  kernel_set_facts facts{TW_KERNEL_SET, 0, 0};
  for (gemm_family const* f : families())
    for (int kernel = 0; kernel < f->kernel_count(); ++kernel)
      ++facts.all, facts.built += f->built(kernel);
  return facts;
}

rejection kernel_not_built(gemm_plan const& plan) {
  kernel_set_facts const here = kernels_of_this_build();
  std::string_view const device_set = TW_DEVICE_SET;  // TW_DEVICE_KERNELS
  return {"TW0505", "kernel", plan.kernel,
          fmt::format("a kernel of this build: the {} set, {} of {} kernels{}", here.name,
                      here.built, here.all,
                      device_set.empty() ? "" : fmt::format(" (on a GPU: the {} set)", device_set)),
          here.built < here.all
              ? fmt::format("configure with -DTW_KERNELS=full{}, or plan again with this build",
                            device_set.empty() ? "" : " (for a GPU without TW_DEVICE_KERNELS)")
          : !device_set.empty()
              ? std::string("configure without TW_DEVICE_KERNELS, as ./dev build does")
              : "plan again with this version of the library"};
}

}  // namespace tw
