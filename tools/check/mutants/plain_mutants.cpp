// SPDX-License-Identifier: Apache-2.0
// plain_mutants.cpp  The mutants of kernels with ordinary loads and stores.
#include <cmath>

#include "tools/check/mutants/mutants.hpp"
#include "tools/check/mutants/plain_kernels.hpp"
#include "tools/check/mutants/reported_run.hpp"

namespace tw::mutants {

namespace {

tensor_map map_of(std::vector<float>& memory, int rows) {
  tensor_map_desc d;
  d.base = memory.data();
  d.type = elem::f32;
  d.dim[0] = 32;
  d.dim[1] = rows;
  d.stride_bytes[0] = 128;
  d.box[0] = d.box[1] = 32;
  return make_tensor_map(d, target::emu);
}

template <class Kernel, int Rows, class Right>
outcome run_kernel(int which, emu::options const& o, Right right) {
  std::vector<float> from(32 * Rows), to(32 * 32, NAN);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i % 97);
  plain_params const p{map_of(from, Rows), map_of(to, 32), from.data(),
                       static_cast<plain_mutation>(which)};
  outcome out;
  out.diagnoses = reported_run(Kernel{}, 1, p, o).diagnoses;
  if (!out.diagnoses.empty()) return out;
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 32; ++j)
      out.wrong_elements += to[static_cast<std::size_t>(32 * i + j)] != right(from, i, j);
  return out;
}

float at(std::vector<float> const& from, int i, int j) {
  return from[static_cast<std::size_t>(32 * i + j)];
}

outcome run_transpose(int which, emu::options const& o) {
  return run_kernel<transpose<>, 32>(which, o,
                                     [](auto const& f, int i, int j) { return at(f, j, i); });
}

outcome run_refill(int which, emu::options const& o) {
  return run_kernel<refill<>, 96>(which, o, [](auto const& f, int i, int j) {
    return at(f, i, j) + at(f, i + 32, j) + at(f, i + 64, j);
  });
}

}  // namespace

bool plain_accesses_are_seen() { return plain_accesses_seen; }

std::span<mutant const> plain_mutants() {
  static std::vector<mutant> const list{
      {"transpose", "", "", {}, run_transpose, 0},
      {"transpose",
       "no-barrier",
       "no cta_sync between writing and reading",
       {"E0029", "E0024"},
       run_transpose,
       1},
      {"transpose",
       "no-proxy-fence",
       "no fence_proxy_async before the TMA store",
       {"E0025"},
       run_transpose,
       2},
      {"transpose",
       "memcpy-no-barrier",
       "memcpy of a constant size writes, and no cta_sync comes before reading",
       {"E0029", "E0024"},
       run_transpose,
       3},
      {"refill", "", "", {}, run_refill, 0},
      {"refill",
       "no-barrier",
       "no cta_sync between reading and the next TMA load",
       {"E0024", "E0026", "E0035"},
       run_refill,
       1},
      {"refill",
       "no-proxy-fence",
       "no fence_proxy_async between reading and the next TMA load",
       {"E0025"},
       run_refill,
       2},
  };
  return list;
}

}  // namespace tw::mutants
