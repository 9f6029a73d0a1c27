// SPDX-License-Identifier: Apache-2.0
// protocol.hpp  Small kernels, each with a broken form and a correct one, and the code that the
//               emulator has to report for the broken one.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "tests/hazard/hazard_kernels.hpp"

namespace tw::test {

struct protocol_params {
  tensor_map inner;      // 128 x 64 bf16 in boxes of 64 x 64
  std::uint32_t* words;  // 1024, zero
  float* floats;         // the bytes of the tensor
};
template <class Body, bool Broken, int Threads, int Cluster>
struct protocol_kernel {
  using params = protocol_params;
  using smem = hazard_smem;
  static constexpr int threads = Threads, cluster = Cluster, smem_bytes = sizeof(smem);
  static void run(params const& p) {
    enter_role("test");
    Body{}.template operator()<Broken>(dynamic_smem<smem>(), p);
  }
};

template <bool Broken, int Threads, int Cluster, class Body>
emu::report run_protocol(Body, int ctas, emu::options const& o) {
  alignas(128) static std::uint16_t tensor[128 * 64];
  alignas(128) static std::uint32_t words[1024];
  std::memset(tensor, 0, sizeof(tensor));
  std::memset(words, 0, sizeof(words));
  tensor_map_desc d;
  d.base = tensor;
  d.dim[0] = 128;
  d.dim[1] = 64;
  d.stride_bytes[0] = 256;
  d.box[0] = d.box[1] = 64;
  d.swizzle = swizzle_mode::b128;
  protocol_params const p{make_tensor_map(d, target::emu), words, reinterpret_cast<float*>(tensor)};
  return emu::run<protocol_kernel<Body, Broken, Threads, Cluster>, plain_accesses_seen>({}, ctas, p,
                                                                                        o);
}

/// The correct body is left in peace; the first diagnosis of the broken one has the code and `part`
/// in its text.
void expect_code(char const* code, char const* part, emu::report const& good,
                 emu::report const& bad);
void expect_clean_report(emu::report const& r);

class Protocol : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without sight of ordinary loads and stores";
  }
  template <int Threads = 128, int Cluster = 1, class Body>
  void expect(char const* code, char const* part, Body body, int ctas = Cluster) {
    emu::options const o = scheduled(GetParam());
    expect_code(code, part, run_protocol<false, Threads, Cluster>(body, ctas, o),
                run_protocol<true, Threads, Cluster>(body, ctas, o));
  }
  /// A kernel without a broken form.
  template <int Threads = 128, int Cluster = 1, class Body>
  void expect_clean(Body body, int ctas = Cluster) {
    expect_clean_report(run_protocol<false, Threads, Cluster>(body, ctas, scheduled(GetParam())));
  }
};

/// 4 bf16 values in each of the 8192 bytes of a box.
inline void fill(std::uint64_t* box) {
  for (int i = thread_id(); i < 1024; i += thread_count()) box[i] = 0;
}
inline void store_box(hazard_smem& s, protocol_params const& p) {
  if (thread_id() != 0) return;
  tma_store(p.inner, s.a[0], tma_coord{0, 0});
  tma_store_commit();
  tma_store_wait_read<0>();
}
inline void load_box(protocol_params const& p, void* to, mbarrier& bar, int column = 0) {
  if (thread_id() != 0) return;
  bar.arrive_expect_tx(8192);
  tma_load(to, p.inner, bar, tma_coord{column, 0});
}

}  // namespace tw::test
