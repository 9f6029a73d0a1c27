// SPDX-License-Identifier: Apache-2.0
// processes_test.cpp  Ranks that are processes and share their arenas: results, a rank that is
//                     killed, and a rank that starts late.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "tests/dist/ranks.hpp"
#include "tilewright/base/check.hpp"

namespace tw::dist {
namespace {

using namespace test;

/// Memory that forked processes share, zero at first.
class shared_memory {
 public:
  explicit shared_memory(std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(bytes)),
        at_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~shared_memory() { munmap(at_, bytes_); }
  shared_memory(shared_memory const&) = delete;
  shared_memory& operator=(shared_memory const&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(at_); }

 private:
  std::size_t bytes_;
  void* at_;
};

/// Exit statuses of a rank's process.
enum outcome { done = 0, wrong_result = 1, late_rank = 2, other_refusal = 3 };

/// Runs work(rank, arenas) in a process for each rank. Returns the processes' ids.
template <class Work>
std::vector<pid_t> start_ranks(int ranks, group_options const& options, shared_memory const& memory,
                               Work const& work) {
  std::int64_t const bytes = group::arena_bytes(options);
  std::vector<void*> arenas;
  for (int r = 0; r < ranks; ++r) arenas.push_back(memory.data() + r * bytes);
  std::vector<pid_t> list;
  for (int r = 0; r < ranks; ++r) {
    pid_t const child = fork();
    if (child == 0) {
      int result = other_refusal;
      try {
        result = work(r, arenas);
      } catch (rejected const& e) {
        std::fprintf(stderr, "rank %d: %s\n", r, e.what());
        if (e.why().code == "TW0905" || e.why().code == "TW0906")
          result = std::string(e.what()).find("for rank 2 in call") != std::string::npos
                       ? late_rank
                       : other_refusal;
      }
      _exit(result);
    }
    list.push_back(child);
  }
  return list;
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// An all-reduce of matrices of ones: every element of D is K.
int sums_of_ones(group const& g, int calls) {
  std::int64_t const m = 40, n = 24, k = 16;
  auto const one = [] { return 1.0F; };
  matrix a = make_matrix(elem::bf16, order::row_major, m, k, 0, one);
  matrix b = make_matrix(elem::bf16, order::col_major, k, n, 0, one);
  matrix d = empty_matrix(elem::f32, order::row_major, m, n);
  gemm_problem const p{m, n, k, a.desc, b.desc, d.desc};
  for (int call = 0; call < calls; ++call) {
    random_delay(static_cast<std::uint64_t>(call), g.rank());
    std::fill(d.bytes.begin(), d.bytes.end(), std::byte{0xFF});
    gemm_all_reduce(g, p, {a.data(), b.data(), nullptr, d.data()});
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        if (d.load(i, j, 0) != static_cast<double>(k * g.ranks())) return wrong_result;
  }
  return done;
}

TEST(Processes, ShareArenasAndAddTheirPartialResults) {
  group_options const options{.gathered_bytes = 1 << 20, .timeout_s = 60};
  shared_memory const memory(3 * group::arena_bytes(options));
  auto const ranks =
      start_ranks(3, options, memory, [&](int rank, std::vector<void*> const& arenas) {
        if (rank == 1) usleep(200'000);  // its peers wait before it makes its group
        return sums_of_ones(group::from_addresses(rank, arenas, options), 5);
      });
  for (pid_t const child : ranks) EXPECT_EQ(status_of(child), done);
}

TEST(Processes, AKilledRankIsNamedWithinTheTimeOut) {
  group_options const options{.gathered_bytes = 1 << 20, .timeout_s = 2};
  shared_memory const memory(3 * group::arena_bytes(options));
  auto const ranks =
      start_ranks(3, options, memory, [&](int rank, std::vector<void*> const& arenas) {
        group const g = group::from_addresses(rank, arenas, options);
        if (int const first = sums_of_ones(g, 1); first != done) return first;
        if (rank == 2) raise(SIGKILL);
        return sums_of_ones(g, 1);
      });
  EXPECT_EQ(status_of(ranks[0]), late_rank);
  EXPECT_EQ(status_of(ranks[1]), late_rank);
  EXPECT_EQ(status_of(ranks[2]), 128 + SIGKILL);
}

}  // namespace
}  // namespace tw::dist
