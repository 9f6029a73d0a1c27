// SPDX-License-Identifier: Apache-2.0
// emulated.cpp  A user's program with a kernel that it runs in the emulator.
#include <cstdio>
#include <vector>

#include "tilewright/arch/select.hpp"

using namespace tw;

/// out[i] = in[ctas * threads - 1 - i], through shared memory.
struct reverse {
  static constexpr int threads = 128, cluster = 1;
  struct smem {
    int values[threads];
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    int const* in;
    int* out;
    int ctas;
  };

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    s.values[threads - 1 - thread_id()] = p.in[cta_id() * threads + thread_id()];
    cta_sync();
    p.out[(p.ctas - 1 - cta_id()) * threads + thread_id()] = s.values[thread_id()];
  }
};

int main() {
  constexpr int ctas = 4, count = ctas * reverse::threads;
  std::vector<int> in(count), out(count);
  for (int i = 0; i < count; ++i) in[static_cast<std::size_t>(i)] = i;
  emu::report const report = emu::run(reverse{}, ctas, {in.data(), out.data(), ctas}, {});
  if (!report.clean()) return 1;
  for (int i = 0; i < count; ++i)
    if (out[static_cast<std::size_t>(i)] != count - 1 - i) return 1;
  std::printf("reversed %d values without a finding\n", count);
}
