// SPDX-License-Identifier: Apache-2.0
// placement_test.cpp  Memory that a GPU of a group cannot use, with host memory that stands for it.
#include "dist/placement.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tilewright/base/check.hpp"

namespace tw::dist {
namespace {

/// Addresses whose places are given; others are of the host.
struct places {
  std::map<void const*, memory_place> of;
  device_memory memory() const {
    return {[this](void const* at) {
              auto const found = of.find(at);
              return found == of.end() ? memory_place{} : found->second;
            },
            nullptr, nullptr};
  }
};

rejection why(auto const& check) {
  try {
    check();
  } catch (rejected const& e) {
    return e.why();
  }
  return {};
}

void const* at(std::uintptr_t i) { return reinterpret_cast<void const*>(i * 4096); }

/// One refusal for each kind of memory that the GPU cannot use, with its name; none for others.
TEST(Placement, OperandsThatTheGpuCannotUseAreRefused) {
  struct given {
    memory_place place;
    bool reads_host, captured, usable;
    char const* got;
  };
  for (given const& x : {
           given{{memory_kind::device, 1}, false, false, true, ""},
           given{{memory_kind::device, 1}, false, true, true, ""},
           given{{memory_kind::device, 0}, false, false, false, "memory of GPU 0"},
           given{{memory_kind::device, 0}, true, true, false, "memory of GPU 0"},
           given{{memory_kind::registered, 0}, false, true, true, ""},
           given{{memory_kind::managed, 0}, false, true, true, ""},
           given{{memory_kind::host}, true, false, true, ""},
           given{{memory_kind::host}, false, false, false, "host memory that is not registered"},
           given{{memory_kind::host}, true, true, false, "captured in a CUDA graph"},
           given{{memory_kind::host}, false, true, false, "captured in a CUDA graph"},
       }) {
    places p;
    p.of[at(1)] = {memory_kind::device, 1};
    p.of[at(2)] = x.place;
    rejection const r = why([&] {
      check_places({{"A", at(1)}, {"the bias", at(2)}}, {1, x.reads_host, x.captured}, p.memory());
    });
    EXPECT_EQ(r.code, x.usable ? "" : "TW0911") << to_string(r);
    EXPECT_NE(r.got.find(x.got), std::string::npos) << to_string(r);
    if (x.usable) continue;
    EXPECT_EQ(r.what.find("the bias in a call"), 0U) << to_string(r);
    EXPECT_NE(r.need.find("memory of GPU 1"), std::string::npos) << to_string(r);
    EXPECT_FALSE(r.hint.empty());
  }
}

/// A rank without rows or columns may have any address.
TEST(Placement, OperandsWithoutElementsAreNotLookedAt) {
  gemm_problem p;
  p.m = 8, p.n = 16, p.k = 32;
  gemm_operands o{at(1), at(2), nullptr, const_cast<void*>(at(3))};
  auto const names = [&](std::int64_t rows_of_a, std::int64_t rows_of_d) {
    std::string list;
    for (operand_address const& x : addresses_of(p, o, rows_of_a, rows_of_d)) list += x.what + " ";
    return list;
  };
  EXPECT_EQ(names(8, 8), "A B D ");
  EXPECT_EQ(names(0, 8), "B D ");
  EXPECT_EQ(names(8, 0), "A B ");
  p.n = 0;
  EXPECT_EQ(names(8, 8), "A ");
  p.n = 16, p.k = 0;
  EXPECT_EQ(names(8, 8), "D ");
  o.workspace = const_cast<void*>(at(4)), o.workspace_bytes = 1;
  EXPECT_EQ(names(8, 8), "D the workspace ");
}

TEST(Placement, ArenasOutsideOfTheirMemoryAreRefused) {
  std::vector<void*> const arenas{const_cast<void*>(at(1)), const_cast<void*>(at(2))};
  constexpr std::int64_t bytes = 4096;
  auto const refusal = [&](memory_place own, memory_place peer) {
    places p;
    p.of[arenas[0]] = own, p.of[arenas[1]] = peer;
    return why([&] { check_arena_places(0, arenas, 3, bytes, p.memory()); });
  };
  memory_place const here{memory_kind::device, 3, bytes}, there{memory_kind::device, 5, 0};
  EXPECT_EQ(refusal(here, there).code, "");
  EXPECT_EQ(refusal(here, here).code, "");
  rejection const other = refusal(there, here);
  EXPECT_EQ(other.code, "TW0911");
  EXPECT_EQ(other.what, "arena of rank 0");
  EXPECT_EQ(other.got, "memory of GPU 5");
  rejection const host = refusal(here, {memory_kind::registered, 3, bytes});
  EXPECT_EQ(host.code, "TW0911");
  EXPECT_EQ(host.what, "arena of rank 1");
  rejection const small = refusal(here, {memory_kind::device, 5, bytes - 1});
  EXPECT_EQ(small.code, "TW0911");
  EXPECT_EQ(small.got, "4095 bytes from its address to the end of its allocation");
  EXPECT_EQ(small.need, "4096 bytes");
}

}  // namespace
}  // namespace tw::dist
