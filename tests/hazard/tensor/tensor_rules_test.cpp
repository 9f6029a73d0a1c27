// SPDX-License-Identifier: Apache-2.0
// tensor_rules_test.cpp  Rules of tcgen05: columns, lanes, descriptors, commits.
#include "tests/hazard/tensor/tensor_kernels.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

TEST_P(Hazards, E0103InstructionDescriptorOfAnotherKind) {
  expect(
      {.code = "E0103", .part = "type 2 of A does not exist"}, []<bool Broken>(memory s, args p) {
        make_barriers(s);
        std::uint32_t const d = allocate(s);
        load_operands(s, p);
        if (thread_id() == 0) {
          std::uint32_t const idesc = Broken ? tensor_idesc + (1U << 7) : tensor_idesc;
          umma<umma_kind::f16>(d, umma_operand(s.a[0]), umma_operand(s.b[0]), idesc, false);  // now
          umma_commit(s.empty[0]);
        }
        s.empty[0].wait(0);
        give_back(d);
      });
}

TEST_P(Hazards, E0103DescriptorOfWgmma) {
  expect({.code = "E0103", .part = "bits 46-48 are 0b0"}, []<bool Broken>(memory s, args p) {
    make_barriers(s);
    std::uint32_t const d = allocate(s);
    load_operands(s, p);
    if (thread_id() == 0) {
      umma_desc const a = Broken ? umma_desc{operand(s.a[0]).bits} : umma_operand(s.a[0]);
      umma<umma_kind::f16>(d, a, umma_operand(s.b[0]), tensor_idesc, false);  // now
      umma_commit(s.empty[0]);
    }
    s.empty[0].wait(0);
    give_back(d);
  });
}

TEST_P(Hazards, E0103OperandBeyondSharedMemory) {
  expect({.code = "E0103", .part = "operand B"}, []<bool Broken>(memory s, args p) {
    make_barriers(s);
    std::uint32_t const d = allocate(s);
    load_operands(s, p);
    if (thread_id() == 0) {
      umma_desc const b = umma_operand(s.b[0], Broken ? 16384 : 1024);
      umma<umma_kind::f16>(d, umma_operand(s.a[0]), b, tensor_idesc, false);  // now
      umma_commit(s.empty[0]);
    }
    s.empty[0].wait(0);
    give_back(d);
  });
}

TEST_P(Hazards, E0104ColumnsThatArentAPowerOfTwo) {
  expect({.code = "E0104", .part = "32, 64, 128, 256 or 512"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    int const columns = Broken ? 96 : 128;
    std::uint32_t const d = allocate(s, columns);  // now
    give_back(d, columns);
  });
}

TEST_P(Hazards, E0104AllocationsThatGrow) {
  expect({.code = "E0104", .part = "must not grow"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    std::uint32_t const d = allocate(s, Broken ? 32 : 64);
    cta_sync();
    std::uint32_t const e = allocate(s, 64);  // now
    give_back(d, Broken ? 32 : 64);
    give_back(e, 64);
  });
}

TEST_P(Hazards, E0104AccumulatorBeyondTheAllocation) {
  expect({.code = "E0104", .part = "column 64 is not allocated"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           load_operands(s, p);
           if (thread_id() == 0) {
             multiply_tile(d + (Broken ? 32 : 0), umma_operand(s.a[0]),  // now
                           umma_operand(s.b[0]));
             umma_commit(s.empty[0]);
           }
           s.empty[0].wait(0);
           give_back(d);
         });
}

TEST_P(Hazards, E0104GivenBackInPart) {
  expect({.code = "E0104", .part = "which no tmem_alloc has allocated so"},
         []<bool Broken>(memory s, args) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           give_back(d, Broken ? 32 : 64);  // now
         });
}

TEST_P(Hazards, E0105LanesOfAnotherWarp) {
  expect({.code = "E0105", .part = "reaches lanes"}, []<bool Broken>(memory s, args p) {
    make_barriers(s);
    std::uint32_t const d = allocate(s);
    multiply_once(s, p, d);
    s.empty[0].wait(0);
    tcgen05_fence_after();
    int const quarter = Broken ? warp_id() ^ 1 : warp_id();
    auto r = tmem_load<tmem_shape::l16x64b, 32>(tmem_at(d, 32 * quarter, 0));  // now
    tmem_wait_load(r);
    give_back(d);
  });
}

TEST_P(Hazards, E0105LanesWithDifferentAddresses) {
  expect({.code = "E0105", .part = "different operands"}, []<bool Broken>(memory s, args p) {
    make_barriers(s);
    std::uint32_t const d = allocate(s);
    multiply_once(s, p, d);
    s.empty[0].wait(0);
    tcgen05_fence_after();
    int const column = Broken ? lane_id() : 0;
    auto r = tmem_load<tmem_shape::l16x64b, 2>(tmem_at(d, 32 * warp_id(), column));  // now
    tmem_wait_load(r);
    give_back(d);
  });
}

TEST_P(Hazards, E0106ColumnsNeverGivenBack) {
  expect({.code = "E0106", .part = "columns 0-63", .by_thread = true},
         []<bool Broken>(memory s, args) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);  // now
           if (!Broken) give_back(d);
         });
}

TEST_P(Hazards, E0107AllocationAfterRelinquish) {
  expect({.code = "E0107", .part = "tmem_relinquish at"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    std::uint32_t const d = allocate(s);
    if (Broken && warp_id() == 0) tmem_relinquish();  // earlier
    cta_sync();
    std::uint32_t const e = allocate(s);  // now
    if (!Broken && warp_id() == 0) tmem_relinquish();
    give_back(d);
    give_back(e);
  });
}

TEST_P(Hazards, E0108CommitOfAnotherGroup) {
  expect<128, 2>({.code = "E0108", .part = "umma_commit is given for a CTA pair"},
                 []<bool Broken>(memory s, args p) {
                   make_barriers(s);
                   std::uint32_t const d = allocate(s);
                   load_operands(s, p);
                   if (thread_id() == 0) {
                     multiply_tile(d, umma_operand(s.a[0]), umma_operand(s.b[0]));
                     umma_commit<Broken ? 2 : 1>(s.empty[0]);  // now
                   }
                   s.empty[0].wait(0);
                   give_back(d);
                 });
}

TEST_P(Hazards, E0110AllocationBeforeThePeerHasBegun) {
  expect<128, 2>({.code = "E0110", .part = "a cluster barrier"}, []<bool Broken>(memory s, args) {
    if (!Broken) cluster_sync();
    if (warp_id() == 0) tmem_alloc<2>(&s.tensor_at, 64);  // now
    cluster_sync();
    if (warp_id() == 0) tmem_dealloc<2>(s.tensor_at, 64);
  });
}

TEST_P(Hazards, E0111CommitByAnotherThread) {
  expect({.code = "E0111", .object = "empty[0]", .part = "that the same thread has issued"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           load_operands(s, p);
           if (thread_id() == 0) multiply_tile(d, umma_operand(s.a[0]), umma_operand(s.b[0]));
           if (thread_id() == (Broken ? 32 : 0)) umma_commit(s.empty[0]);  // now
           s.empty[0].wait(0);
           give_back(d);
         });
}

TEST_P(Hazards, E0111MultipliesNeverCommitted) {
  expect({.code = "E0111", .part = "never committed"}, []<bool Broken>(memory s, args p) {
    make_barriers(s);
    std::uint32_t const d = allocate(s);
    load_operands(s, p);
    if (thread_id() == 0) {
      multiply_tile(d, umma_operand(s.a[0]), umma_operand(s.b[0]));  // now
      if (!Broken) umma_commit(s.empty[0]);
    }
    if (!Broken) {
      s.empty[0].wait(0);
      give_back(d);
    }
  });
}

}  // namespace
}  // namespace tw::test
