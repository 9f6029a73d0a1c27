// SPDX-License-Identifier: Apache-2.0
// handlers_test.cpp  An emulated GEMM of the library leaves the handlers of the process alone, and
//                    its caller can end it.
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <exception>
#include <vector>

#include "tilewright/arch/select.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw::test {
namespace {

struct handlers {
  std::array<void (*)(int), 8> of_signals;
  std::terminate_handler of_terminate;

  bool operator==(handlers const&) const = default;
};

handlers handlers_now() {
  handlers h{};
  std::size_t i = 0;
  for (int const s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGVTALRM, SIGPROF, SIGINT}) {
    struct sigaction at {};
    ::sigaction(s, nullptr, &at);
    h.of_signals[i++] = at.sa_handler;
  }
  h.of_terminate = std::get_terminate();
  return h;
}

/// A GEMM that takes long: its sums are exact.
struct slow_gemm {
  static constexpr std::int64_t m = 256, n = 512, k = 512;
  std::vector<std::uint16_t> a, b, d;

  slow_gemm() : a(m * k + 8, to_bf16(0.5F).bits), b(n * k + 8, to_bf16(0.25F).bits), d(m * n + 8) {}
  static std::uint16_t* aligned(std::vector<std::uint16_t>& x) {
    return reinterpret_cast<std::uint16_t*>((reinterpret_cast<std::uintptr_t>(x.data()) + 15) / 16 *
                                            16);
  }
  void run(emu_options o) {
    gemm_problem p;
    p.m = m, p.n = n, p.k = k;
    p.a = {elem::bf16, order::row_major, k};
    p.b = {elem::bf16, order::col_major, k};
    p.d = {elem::bf16, order::row_major, n};
    o.exact_sums = true;
    o.os_threads = 1;
    gemm_operands operands{};
    operands.a = aligned(a), operands.b = aligned(b), operands.d = aligned(d);
    gemm_emulated(p, operands, o);
  }
};

/// A user's kernel that runs until the caller's function was called.
struct waiting_kernel {
  static constexpr int threads = 32, cluster = 1, smem_bytes = 0;
  struct params {
    std::atomic<bool> const* seen;
  };
  static void run(params const& p) {
    while (!*p.seen) cta_sync();
  }
};

TEST(Handlers, OfTheProcessStayWhileTheLibraryRuns) {
  handlers const before = handlers_now();
  int called = 0;
  emu_options o;
  o.interrupt = [&] {
    ++called;
    EXPECT_TRUE(handlers_now() == before);
    return false;
  };
  slow_gemm g;
  g.run(o);
  EXPECT_GT(called, 0);
  EXPECT_TRUE(handlers_now() == before);
  EXPECT_EQ(slow_gemm::aligned(g.d)[7], to_bf16(64.0F).bits);
}

TEST(Handlers, AreInstalledForAUsersKernelAlone) {
  handlers const before = handlers_now();
  std::atomic<bool> seen = false;
  emu::options o;
  o.interrupt = [&] {
    seen = true;
    EXPECT_FALSE(handlers_now() == before);
    return false;
  };
  EXPECT_TRUE(emu::run(waiting_kernel{}, 1, {&seen}, o).clean());
  EXPECT_TRUE(handlers_now() == before);
}

TEST(Handlers, AGemmCanBeInterrupted) {
  emu_options o;
  o.interrupt = [] { return true; };
  slow_gemm g;
  EXPECT_THROW(g.run(o), emu::interrupted);
  g.run({});
  EXPECT_EQ(slow_gemm::aligned(g.d)[7], to_bf16(64.0F).bits);
}

}  // namespace
}  // namespace tw::test
