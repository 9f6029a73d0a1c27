// SPDX-License-Identifier: Apache-2.0
// scale_factors_test.cpp  Block-scaled multiplies: copies of scale factors, their order, and which
//                         factors a multiply takes; operands of 4 bits.
#include "tests/hazard/tensor/tensor_kernels.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

constexpr int scaled_columns = 128;
constexpr int factor_floats = 128;  // 512 bytes: the factors of 128 rows

/// Places in tensor memory, and M = 128, N = 64 of bytes with a swizzle of 128.
struct scaled_places {
  std::uint32_t d, sfa, sfb;
};
scaled_places places(memory s, emu::site where = emu::site::here()) {
  std::uint32_t const d = allocate(s, scaled_columns, where);
  return {d, d + 64, d + 68};
}
constexpr std::uint32_t scaled_idesc(int id = 0, int format = 0) {
  return umma_scaled_idesc{
      .b_scale_id = id, .a_scale_id = id, .a_format = format, .b_format = format, .n = 64, .m = 128}
      .bits();
}
/// All threads: factors of A and B to s.x, and thread 0 waits for A and B.
void load_scaled(memory s, args p, bool fenced = true) {
  for (int i = thread_id(); i < 2 * factor_floats; i += 128) s.x[i] = 0.0F;
  if (fenced) fence_proxy_async();
  cta_sync();
  if (thread_id() != 0) return;
  s.full[0].arrive_expect_tx(3 * 8192);
  tma_load(s.a[0], p.inner, s.full[0], tma_coord{0, 0});
  tma_load(s.a[1], p.inner, s.full[0], tma_coord{0, 64});
  tma_load(s.b[0], p.inner, s.full[0], tma_coord{0, 0});
  s.full[0].wait(0);
}
umma_desc factor_tile(memory s, int i) {
  return make_umma_desc(smem_addr(s.x + i * factor_floats), 16, 128, swizzle_mode::none);
}
void copy_factors(memory s, scaled_places const& at, emu::site where = emu::site::here()) {
  tmem_copy<tmem_copy_shape::c32x128b_x4>(at.sfa, factor_tile(s, 0), where);
  tmem_copy<tmem_copy_shape::c32x128b_x4>(at.sfb, factor_tile(s, 1), where);
}
void multiply_step(memory s, scaled_places const& at, int step, int id,
                   emu::site where = emu::site::here()) {
  umma_scaled<umma_kind::mxf8f6f4, 32>(at.d, umma_operand(s.a[0]) + 32 * step,
                                       umma_operand(s.b[0]) + 32 * step, scaled_idesc(id), at.sfa,
                                       at.sfb, step > 0, where);
}
void finish(memory s, scaled_places const& at) {
  if (thread_id() == 0) umma_commit(s.empty[0]);
  s.empty[0].wait(0);
  give_back(at.d, scaled_columns);
}

TEST_P(Hazards, E0102FactorsReadBeforeTheyAreCopied) {
  expect({.code = "E0102", .object = "tensor memory of CTA 0", .part = "tmem_copy"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           scaled_places const at = places(s);
           load_scaled(s, p);
           if (thread_id() == 0) {
             if (!Broken) copy_factors(s, at);
             multiply_step(s, at, 0, 0);  // now
             if (Broken) copy_factors(s, at);
           }
           finish(s, at);
         });
}

TEST_P(Hazards, E0100FactorsOverwrittenWithoutACommit) {
  expect({.code = "E0100", .object = "tensor memory of CTA 0", .part = "tcgen05_fence_before()"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           scaled_places const at = places(s);
           load_scaled(s, p);
           if (thread_id() == 0) {
             copy_factors(s, at);  // earlier
             multiply_step(s, at, 0, 0);
             if (!Broken) umma_commit(s.empty[1]);
             copy_factors(s, at);  // now
             multiply_step(s, at, 1, 0);
           }
           finish(s, at);
         });
}

TEST_P(Hazards, E0100FactorsOverwrittenWithoutAFence) {
  expect({.code = "E0100", .object = "tensor memory of CTA 0", .part = "does not wait"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           scaled_places const at = places(s);
           load_scaled(s, p);
           if (thread_id() == 0) {
             copy_factors(s, at);  // earlier
             multiply_step(s, at, 0, 0);
             if (!Broken) tcgen05_fence_before();
             copy_factors(s, at);  // now
             multiply_step(s, at, 1, 0);
           }
           finish(s, at);
         });
}

TEST_P(Hazards, E0113IdThatIsNotAdvanced) {
  expect({.code = "E0113", .object = "tensor memory of CTA 0, column 64", .part = "from k = 16"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           scaled_places const at = places(s);
           load_scaled(s, p);
           if (thread_id() == 0) {
             copy_factors(s, at);
             multiply_step(s, at, 0, 0);               // earlier
             multiply_step(s, at, 1, Broken ? 0 : 1);  // now
           }
           finish(s, at);
         });
}

TEST_P(Hazards, E0113FactorsOfTheLastStage) {
  expect({.code = "E0113", .object = "tensor memory of CTA 0, column 64"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           scaled_places const at = places(s);
           load_scaled(s, p);
           if (thread_id() == 0) {
             copy_factors(s, at);
             multiply_step(s, at, 0, 0);  // earlier
             umma_commit(s.empty[1]);
             if (!Broken) copy_factors(s, at);
             multiply_step(s, at, 1, 0);  // now
           }
           finish(s, at);
         });
}

TEST_P(Hazards, E0113IdOfMxf4) {
  expect({.code = "E0113", .part = "it is 0 or 2"}, []<bool Broken>(memory s, args p) {
    make_barriers(s);
    scaled_places const at = places(s);
    load_scaled(s, p);
    if (thread_id() == 0) {
      copy_factors(s, at);
      umma_scaled<umma_kind::mxf4, 32>(at.d, umma_operand(s.a[0]), umma_operand(s.b[0]),  // now
                                       scaled_idesc(Broken ? 1 : 2, 1), at.sfa, at.sfb, false);
    }
    finish(s, at);
  });
}

TEST_P(Hazards, E0103TypeOfAnotherKindInAScaledMultiply) {
  expect({.code = "E0103", .part = "e2m1 is 1"}, []<bool Broken>(memory s, args p) {
    make_barriers(s);
    scaled_places const at = places(s);
    load_scaled(s, p);
    if (thread_id() == 0) {
      copy_factors(s, at);
      umma_scaled<umma_kind::mxf4, 32>(at.d, umma_operand(s.a[0]), umma_operand(s.b[0]),  // now
                                       scaled_idesc(0, Broken ? 5 : 1), at.sfa, at.sfb, false);
    }
    finish(s, at);
  });
}

TEST_P(Hazards, E0103CopyFromASwizzledTile) {
  expect({.code = "E0103", .part = "swizzled"}, []<bool Broken>(memory s, args p) {
    make_barriers(s);
    scaled_places const at = places(s);
    load_scaled(s, p);
    if (thread_id() == 0) {
      copy_factors(s, at);
      tmem_copy<tmem_copy_shape::c32x128b_x4>(  // now
          at.sfb + 4, Broken ? umma_operand(s.x) : factor_tile(s, 1));
      multiply_step(s, at, 0, 0);
    }
    finish(s, at);
  });
}

TEST_P(Hazards, E0104FactorsBeyondTheAllocation) {
  expect({.code = "E0104", .part = "column 128 is not allocated"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           scaled_places at = places(s);
           at.sfb = at.d + (Broken ? 126 : 124);
           load_scaled(s, p);
           if (thread_id() == 0) {
             tmem_copy<tmem_copy_shape::c32x128b_x4>(at.sfa, factor_tile(s, 0));
             tmem_copy<tmem_copy_shape::c32x128b_x4>(at.sfb, factor_tile(s, 1));  // now
             multiply_step(s, at, 0, 0);
           }
           finish(s, at);
         });
}

TEST_P(Hazards, E0105CopyThatBeginsAtALane) {
  expect({.code = "E0105", .part = "lane 32"}, []<bool Broken>(memory s, args p) {
    make_barriers(s);
    scaled_places const at = places(s);
    load_scaled(s, p);
    if (thread_id() == 0) {
      copy_factors(s, at);
      tmem_copy<tmem_copy_shape::c32x128b_x4>(  // now
          tmem_at(at.sfb, Broken ? 32 : 0, 4), factor_tile(s, 1));
      multiply_step(s, at, 0, 0);
    }
    finish(s, at);
  });
}

TEST_P(Hazards, E0025FactorsWrittenWithoutAProxyFence) {
  expect({.code = "E0025", .part = "tcgen05.cp"}, []<bool Broken>(memory s, args p) {
    make_barriers(s);
    scaled_places const at = places(s);
    load_scaled(s, p, !Broken);
    if (thread_id() == 0) {
      copy_factors(s, at);  // now
      multiply_step(s, at, 0, 0);
    }
    finish(s, at);
  });
}

TEST_P(Hazards, E0112FactorTileOverwrittenWhileTheCopyReads) {
  expect({.code = "E0112", .part = "tcgen05.cp"}, []<bool Broken>(memory s, args p) {
    make_barriers(s);
    scaled_places const at = places(s);
    load_scaled(s, p);
    if (thread_id() == 0) {
      copy_factors(s, at);  // earlier
      multiply_step(s, at, 0, 0);
      umma_commit(s.empty[1]);
      if (!Broken) s.empty[1].wait(0);
      s.x[0] = 1;  // now
    }
    finish(s, at);
  });
}

/// 64 rows of 256 elements of 4 bits, dense or padded.
struct narrow_params {
  tensor_map map;
  int counted;  // bytes of a load that the barrier expects
};
tensor_map narrow_map(bool padded) {
  alignas(32) static std::uint8_t data[64 * 128];
  tensor_map_desc d;
  d.base = data;
  d.type = elem::e2m1;
  d.dim[0] = 256;
  d.dim[1] = 64;
  d.stride_bytes[0] = 128;
  d.box[0] = padded ? 128 : 256;
  d.box[1] = 64;
  d.swizzle = swizzle_mode::b128;
  d.padded = padded;
  return make_tensor_map(d, target::emu);
}
/// D = A B with .kind::f8f6f4, which reads padded elements.
struct narrow_kernel {
  using params = narrow_params;
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(hazard_smem);
  static void run(params const& p) {
    auto& s = dynamic_smem<hazard_smem>();
    enter_role("test");
    make_barriers(s);
    std::uint32_t const d = allocate(s);
    if (thread_id() == 0) {
      s.full[0].arrive_expect_tx(2 * p.counted);
      tma_load(s.a[0], p.map, s.full[0], tma_coord{0, 0});
      tma_load(s.b[0], p.map, s.full[0], tma_coord{0, 0});
      s.full[0].wait(0);
      constexpr std::uint32_t idesc =
          umma_idesc{.a_format = 5, .b_format = 5, .n = 64, .m = 64}.bits();
      umma<umma_kind::f8f6f4>(d, umma_operand(s.a[0]), umma_operand(s.b[0]), idesc, false);
      umma_commit(s.empty[0]);
    }
    s.empty[0].wait(0);
    give_back(d);
  }
};

/// Padded elements fill 8192 bytes of shared memory, of which 4096 are data; dense ones 8192.
TEST(NarrowOperands, AreReadAsTmaBroughtThem) {
  if (!plain_accesses_seen) GTEST_SKIP() << "built without sight of ordinary loads and stores";
  for (int schedule = 0; schedule < 3; ++schedule) {
    auto const run = [&](bool padded, int counted) {
      return emu::run<narrow_kernel, plain_accesses_seen>(
          {}, 1, narrow_params{narrow_map(padded), counted}, scheduled(schedule));
    };
    emu::report const right = run(true, 4096);
    EXPECT_TRUE(right.clean()) << right.text();
    emu::report const dense = run(false, 8192);
    EXPECT_TRUE(dense.has("E0114")) << dense.text();
    EXPECT_NE(dense.text().find("two in each byte"), std::string::npos);
    expect_readable(dense);
    emu::report const counted = run(true, 8192);
    EXPECT_FALSE(counted.clean());  // the phase never ends
    EXPECT_TRUE(counted.has("E0001") || counted.has("E0015")) << counted.text();
  }
}

}  // namespace
}  // namespace tw::test
