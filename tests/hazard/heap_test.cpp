// SPDX-License-Identifier: Apache-2.0
// heap_test.cpp  Memory that a kernel allocates itself, variables of the program, and kernels that
//                end the process: no history outlives an allocation, and reports name the object.
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/hazard/expect.hpp"

namespace {

using namespace tw;
using namespace tw::test;

struct heap_params {
  int const* in;
  int* out;
};

/// Each thread of two CTAs runs body(p, its number).
template <class Body>
struct kernel_of {
  static constexpr int threads = 64, cluster = 1, smem_bytes = 0;
  using params = heap_params;
  TW_DEVICE static void run(params const& p) { Body::run(p, cta_id() * threads + thread_id()); }
};

/// The report of two CTAs; the outputs are in `out`.
template <class Body>
emu::report ran(std::vector<int>& out, emu::options options = {}) {
  std::vector<int> const in(128, 3);
  out.assign(128, -1);
  options.os_threads = 1;
  return emu::run(kernel_of<Body>{}, 2, {in.data(), out.data()}, options);
}

struct containers {
  TW_DEVICE static void run(heap_params const& p, int i) {
    std::vector<int> v;
    for (int j = 0; j < 20; ++j) v.push_back(p.in[i] + j);
    cta_sync();
    std::string s;
    for (int j = 0; j < 60; ++j) s += static_cast<char>('a' + j % 26);
    s[5] = 'x';
    std::map<int, int> m;
    for (int j = 0; j < 10; ++j) m[j * 7 % 11] = j;
    p.out[i] = v[19] + static_cast<int>(s.size()) + m[0];
  }
};
struct mallocs {
  TW_DEVICE static void run(heap_params const& p, int i) {
    for (int n = 1; n < 5; ++n) {
      auto* m = static_cast<int*>(std::malloc(static_cast<std::size_t>(16 * n)));
      m[0] = p.in[i];
      m = static_cast<int*>(std::realloc(m, 4000));
      m[999] = m[0];
      p.out[i] = m[999];
      std::free(m);
      if (n == 2) cta_sync();
      auto* const zeros = static_cast<int*>(std::calloc(10, sizeof(int)));
      p.out[i] += zeros[9];
      std::free(zeros);
      struct alignas(64) wide {
        int x[16];
      };
      auto* const w = new wide[3];
      w[2].x[1] = p.out[i];
      delete[] w;
    }
  }
};

TEST(Heap, AllocationsOfDifferentThreadsAreDifferentObjects) {
  std::vector<int> out;
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    emu::options o;
    o.seed = seed;
    o.random_warps = true;
    auto const r = ran<containers>(out, o);
    EXPECT_TRUE(r.clean()) << r.text();
    EXPECT_EQ(out, std::vector<int>(128, 22 + 60));
    auto const m = ran<mallocs>(out, o);
    EXPECT_TRUE(m.clean()) << m.text();
    EXPECT_EQ(out, std::vector<int>(128, 3));
  }
}

int counters[4];
namespace inner {
struct pair {
  int first, second[3];
} state;
}  // namespace inner

struct races_on_heap {
  TW_DEVICE static void run(heap_params const& p, int i) {
    static std::vector<int>* shared;
    if (i == 0) shared = new std::vector<int>(4);
    cta_sync();
    if (i >= 64) return;
    (*shared)[1] = i;
    cta_sync();
    p.out[i] = (*shared)[1];
    if (i == 0) delete shared;
  }
};
struct races_on_global {
  TW_DEVICE static void run(heap_params const& p, int i) {
    counters[1] = i;
    warp_sync();
    p.out[i] = counters[1];
  }
};
struct races_on_member {
  TW_DEVICE static void run(heap_params const& p, int i) {
    inner::state.second[2] = i;
    warp_sync();
    p.out[i] = inner::state.second[2];
  }
};
struct races_on_static_local {
  TW_DEVICE static void run(heap_params const& p, int i) {
    static int last = 0;
    last = i;
    warp_sync();
    p.out[i] = last;
  }
};
struct races_on_thread_local {
  TW_DEVICE static void run(heap_params const& p, int i) {
    static thread_local int last = 0;
    last = i;
    warp_sync();
    p.out[i] = last;
  }
};

TEST(Heap, ReportsNameTheObject) {
  std::vector<int> out;
  auto const named = [](emu::report const& r, std::string const& object) {
    EXPECT_TRUE(r.has("E0042")) << r.text();
    EXPECT_NE(r.text().find(object), std::string::npos) << r.text();
  };
  named(ran<races_on_heap>(out), "heap memory+0x4 (allocated at ");
  named(ran<races_on_heap>(out), "heap_test.cpp:");
  named(ran<races_on_global>(out), "global variable counters+0x4,");
  named(ran<races_on_member>(out), "global variable inner::state+0xc,");
  named(ran<races_on_static_local>(out), "global variable last+0x0,");
  named(ran<races_on_thread_local>(out), "a thread_local variable");
}

template <int Way>
struct ends_process {
  TW_DEVICE static void run(heap_params const& p, int i) {
    if (i == 37 && Way == 0) std::exit(7);
    if (i == 37 && Way == 1) std::_Exit(8);
    if (i == 37 && Way == 2) std::quick_exit(9);
    p.out[i] = i;
  }
};

TEST(Heap, AKernelCannotEndTheProcess) {
  std::vector<int> out;
  auto const ended = [](emu::report const& r, int status) {
    EXPECT_TRUE(r.has("E0059")) << r.text();
    std::string const text = r.text();
    EXPECT_NE(text.find("ends the process with status " + std::to_string(status)), text.npos)
        << text;
    EXPECT_NE(text.find("heap_test.cpp:"), text.npos) << text;
    EXPECT_NE(text.find("by thread 37"), text.npos) << text;
  };
  ended(ran<ends_process<0>>(out), 7);
  ended(ran<ends_process<1>>(out), 8);
  ended(ran<ends_process<2>>(out), 9);
}

/// Copies by the C library into the same words; Way: which function.
template <int Way>
struct copies_race {
  TW_DEVICE static void run(heap_params const& p, int i) {
    static constexpr int zeros[8] = {};
    std::size_t const bytes = 32 + static_cast<std::size_t>(p.in[0] - 3);  // known at run time
    if (i % 32 == 0 && Way == 0) std::memcpy(p.out + 8, zeros, bytes);
    if (i % 32 == 0 && Way == 1) std::memmove(p.out + 8, zeros, bytes);
    if (i % 32 == 0 && Way == 2) std::memset(p.out + 8, 0, bytes);
  }
};

// A caller may claim as a margin what holds threads of the emulator or allocations of the kernel.
TEST(Heap, AllocationsOfTheKernelLieInNoMargin) {
  std::vector<int> const in(128, 3);
  std::vector<int> out(128, -1);
  emu::options o;
  o.os_threads = 1;
  constexpr std::size_t margin = std::size_t{1} << 44;
  o.arrays = {{in.data(), 512, margin}, {out.data(), 512, margin}};
  emu::report const r = emu::run(kernel_of<containers>{}, 2, {in.data(), out.data()}, o);
  EXPECT_TRUE(r.clean()) << r.text();
  EXPECT_EQ(out[64], 22 + 60 + 0);
}

/// Copies with a constant number of bytes, and copies of objects and ranges.
template <int Way, std::size_t Bytes>
struct constant_copies_race {
  struct block {
    std::byte of[Bytes];
  };
  TW_DEVICE static void run(heap_params const& p, int i) {
    static constexpr int zeros[Bytes / 4] = {};
    if (i % 32 != 0) return;
    if (Way == 0) std::memcpy(p.out + 8, zeros, Bytes);
    if (Way == 1) std::memmove(p.out + 8, zeros, Bytes);
    if (Way == 2) std::memset(p.out + 8, 0, Bytes);
    if (Way == 3) *reinterpret_cast<block*>(p.out + 8) = block{};
    if (Way == 4) std::copy(zeros, zeros + Bytes / 4, p.out + 8);
    if (Way == 5) std::fill(p.out + 8, p.out + 8 + Bytes / 4, 0);
    if (Way == 6)
      for (std::size_t k = 0; k < Bytes / 4; ++k) p.out[8 + k] = 0;
  }
};

template <int Way, std::size_t... Bytes>
void expect_constant_copies_seen() {
  std::vector<int> out;
  for (emu::report const& r : {ran<constant_copies_race<Way, Bytes>>(out)...}) {
    EXPECT_TRUE(r.has("E0042")) << Way << r.text();
    EXPECT_NE(r.text().find("heap_test.cpp:"), std::string::npos) << r.text();
  }
}

TEST(Heap, CopiesOfAConstantSizeAreSeen) {
  auto const all = []<int... Way>(std::integer_sequence<int, Way...>) {
    (expect_constant_copies_seen<Way, 4, 8, 12, 16, 24, 32, 64, 96>(), ...);
  };
  all(std::make_integer_sequence<int, 7>{});
}

TEST(Heap, CopiesByTheLibraryAreSeen) {
  std::vector<int> out;
  auto const seen = [](emu::report const& r) {
    EXPECT_TRUE(r.has("E0042")) << r.text();
    EXPECT_NE(r.text().find("heap_test.cpp:"), std::string::npos) << r.text();
  };
  seen(ran<copies_race<0>>(out));
  seen(ran<copies_race<1>>(out));
  seen(ran<copies_race<2>>(out));
}

}  // namespace
