// SPDX-License-Identifier: Apache-2.0
// dist_nccl.cu  Groups of NCCL communicators over the GPUs of this machine: a process for each
//               GPU (at most 8), a process that is killed, then a thread for each GPU.
//               Exit 0 done, 1 wrong, 77 without two GPUs or without NCCL.
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "dist/nccl.hpp"
#include "tests/gpu/dist/dist_gated_cases.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw::dist::test {
namespace {

/// Same as NCCL's ncclUniqueId.
struct unique_id {
  char bytes[128];
};

/// The functions that make communicators, of the library that from_nccl() finds.
struct nccl_starts {
  int (*get_unique_id)(unique_id*) = nullptr;
  int (*comm_init_rank)(ncclComm_t*, int, unique_id, int) = nullptr;
  int (*comm_destroy)(ncclComm_t) = nullptr;
  int (*comm_abort)(ncclComm_t) = nullptr;
};
nccl_starts const& starts() {
  static nccl_starts const found = [] {
    nccl_starts s;
    void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return s;
    auto const find = [&](auto& f, char const* name) {
      f = reinterpret_cast<std::decay_t<decltype(f)>>(dlsym(library, name));
    };
    find(s.get_unique_id, "ncclGetUniqueId");
    find(s.comm_init_rank, "ncclCommInitRank");
    find(s.comm_destroy, "ncclCommDestroy");
    find(s.comm_abort, "ncclCommAbort");
    return s;
  }();
  return found;
}

void must_nccl(int result, char const* what) {
  if (result == 0) return;
  std::printf("%s: ncclResult_t %d\n", what, result);
  std::fflush(stdout);
  _exit(1);
}

/// NCCL's identifier, in memory that the processes share.
struct shared_state {
  std::atomic<int> ready;
  unique_id id;
};

ncclComm_t start(int ranks, int rank, unique_id const& id) {
  must(cudaSetDevice(rank));
  ncclComm_t comm = nullptr;
  must_nccl(starts().comm_init_rank(&comm, ranks, id, rank), "ncclCommInitRank");
  return comm;
}

int count_gpus() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return 0;
  for (int i = 0; i < count; ++i) {
    int major = 0;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, i) != cudaSuccess ||
        major != 9)
      return 0;
  }
  return count;
}

void set_world(int ranks, std::vector<ncclComm_t> const& comms, std::vector<int> const& of_rank) {
  world.ranks = ranks;
  world.device_of.clear();
  for (int r = 0; r < ranks; ++r) world.device_of.push_back(r);
  world.make = [=](group_options const& o) {
    std::vector<std::optional<group>> made(comms.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < comms.size(); ++i)
      threads.emplace_back([&, i] {
        must(cudaSetDevice(of_rank[i]));
        try {
          made[i] = group::from_nccl(comms[i], o);
        } catch (rejected const& e) {
          std::printf("from_nccl: %s\n", e.what());
          std::fflush(stdout);
          _exit(1);  // its peers end by their time limit
        }
      });
    for (std::thread& t : threads) t.join();
    std::vector<group> groups;
    for (auto& g : made) groups.push_back(*g);
    return groups;
  };
}

/// The communicator of a process that is rank `rank` of `ranks`. Rank 0 makes the id for all.
ncclComm_t join_world(int rank, int ranks, shared_state& shared) {
  if (rank == 0) {
    must_nccl(starts().get_unique_id(&shared.id), "ncclGetUniqueId");
    shared.ready = 1;
  }
  while (shared.ready == 0) usleep(1000);
  ncclComm_t const comm = start(ranks, rank, shared.id);
  set_world(ranks, {comm}, {rank});
  return comm;
}

/// One rank of `ranks` processes.
int process_of(int rank, int ranks, shared_state& shared) {
  ncclComm_t const comm = join_world(rank, ranks, shared);
  reference_threads = static_cast<int>(std::thread::hardware_concurrency()) / ranks;
  int const result = RUN_ALL_TESTS();
  if (result == 0) must_nccl(starts().comm_destroy(comm), "ncclCommDestroy");
  return result;
}

/// A rank is killed between two calls: its peers report it within the time-out, and live on.
int killed_process(int rank, int ranks, shared_state& shared) {
  ncclComm_t const comm = join_world(rank, ranks, shared);
  ranks_case c = case_of(all_operations[2], 470, ranks);
  group const g = world.make({.gathered_bytes = c.gathered_bytes, .timeout_s = 2})[0];
  on_gpu x(c.of_rank[static_cast<std::size_t>(rank)]);
  rank_stream const stream;
  auto const one = [&] {
    call(c, g, x.problem(), x.operands(0),
         {.rows = c.rows, .via = path::pieces, .float32_partials = true, .stream = stream});
    stream.finish();
    g.check();
  };
  one();
  x.expect(0, c.text);
  if (rank == ranks - 1) raise(SIGKILL);
  rejection const r = refusal_of(one);
  bool const named = (r.code == "TW0905" || r.code == "TW0906") &&
                     has(r, "for rank " + std::to_string(ranks - 1) + " in call 2");
  std::printf("%s rank %d: %s\n", named ? "ok   " : "WRONG", rank, to_string(r).c_str());
  // The process and its context live on; D of the call that failed may be anything.
  must(cudaDeviceSynchronize());
  std::fflush(stdout);
  _exit(named && !testing::Test::HasFailure() ? 0 : 1);  // its communicator is not usable
}

/// Forks a process for each rank; 0 if each ended as expected within the time limit.
int run_processes(int ranks, int (*work)(int, int, shared_state&), int killed, int limit_s) {
  auto* const shared = static_cast<shared_state*>(mmap(
      nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::vector<pid_t> children;
  std::fflush(stdout);
  for (int r = 0; r < ranks; ++r) {
    pid_t const child = fork();
    if (child == 0) {
      int const result = work(r, ranks, *shared);
      std::fflush(stdout);
      _exit(result);
    }
    children.push_back(child);
  }
  int wrong = 0;
  for (int r = 0; r < ranks; ++r) {
    int status = 0;
    pid_t const child = children[static_cast<std::size_t>(r)];
    for (int left = 10 * limit_s; waitpid(child, &status, WNOHANG) == 0; usleep(100'000)) {
      if (--left > 0) continue;
      std::printf("WRONG rank %d did not end in %d s\n", r, limit_s);
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
    bool const right = r == killed ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                                   : WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!right) std::printf("WRONG end of rank %d: status %d\n", r, status);
    wrong += right ? 0 : 1;
  }
  munmap(shared, sizeof(shared_state));
  return wrong;
}

int run_threads(int ranks) {
  unique_id id;
  must_nccl(starts().get_unique_id(&id), "ncclGetUniqueId");
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(ranks));
  std::vector<int> devices;
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    devices.push_back(r);
    threads.emplace_back([&, r] { comms[static_cast<std::size_t>(r)] = start(ranks, r, id); });
  }
  for (std::thread& t : threads) t.join();
  set_world(ranks, comms, devices);
  reference_threads = static_cast<int>(std::thread::hardware_concurrency());
  return RUN_ALL_TESTS();
}

/// In a child, so that CUDA starts in none of the processes that fork.
int gpus_in_a_child() {
  pid_t const child = fork();
  if (child == 0) _exit(starts().comm_init_rank == nullptr ? 0 : std::min(count_gpus(), 8));
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

}  // namespace
}  // namespace tw::dist::test

int main(int argc, char** argv) {
  using namespace tw::dist::test;
  int const ranks = gpus_in_a_child();
  if (ranks < 2) {
    std::printf("skipped: %d usable GPUs with NCCL, 2 are needed\n", ranks);
    return 77;
  }
  char const* const nvls = std::getenv("NCCL_NVLS_ENABLE");
  if (nvls == nullptr || std::strcmp(nvls, "0") != 0) {
    std::printf("NCCL_NVLS_ENABLE=0 is needed: NCCL must make no multicast objects\n");
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);  // lines of a run that is ended are seen
  bool const quick = argc > 1 && std::strcmp(argv[1], "quick") == 0;
  int wrong = run_processes(ranks, process_of, -1, 400);
  std::printf("%d processes: %s\n", ranks, wrong == 0 ? "ok" : "WRONG");
  if (int const killed = run_processes(ranks, killed_process, ranks - 1, 60); killed != 0)
    wrong += killed;
  if (!quick) {
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
    testing::GTEST_FLAG(filter) = "*.GiveTheBits*:*.ManyCalls*";
    if (run_processes(ranks, process_of, -1, 400) != 0) {
      std::printf("WRONG with CUDA_DEVICE_MAX_CONNECTIONS=1\n");
      ++wrong;
    }
    unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
    testing::GTEST_FLAG(filter) = "*";
  }
  if (wrong == 0) wrong = run_threads(ranks);
  std::printf("%s\n", wrong == 0 ? "all right" : "WRONG");
  return wrong == 0 ? 0 : 1;
}
