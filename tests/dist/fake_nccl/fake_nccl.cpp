// SPDX-License-Identifier: Apache-2.0
// fake_nccl.cpp  A libnccl for tests without a GPU: the functions that a group uses, on host
//                memory. A test chooses a function that fails. A rank is a thread.
#include "tests/dist/fake_nccl/fake_nccl.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr std::size_t place_bytes = std::size_t{1} << 32;  // of a rank in a window's addresses

struct allocation {
  int file;
  std::size_t bytes;
};

std::mutex mutex;
fake_nccl_state state;
std::map<void*, allocation> allocations;

/// ncclResult_t of a function that is set to fail: ncclInternalError.
int result_of(char const* function) {
  std::scoped_lock const lock(mutex);
  state.calls += std::string(function) + " ";
  return state.failing == function ? 3 : 0;
}

}  // namespace

/// A window in device memory: the members that NCCL 2.28 has first.
struct ncclWindow_vidmem {
  void* host;
  std::byte* lsa_base;
  std::int32_t lsa_rank, world_rank;
  std::uint32_t stride_4g;
  ncclComm* comm;
};

extern "C" {

fake_nccl_state* fake_nccl() { return &state; }

int ncclGetVersion(int* version) {
  *version = state.version;
  return result_of("ncclGetVersion");
}
char const* ncclGetErrorString(int) { return "internal error"; }
char const* ncclGetLastError(ncclComm*) { return "the last words"; }
int ncclCommCount(ncclComm* comm, int* count) {
  *count = comm->all->ranks;
  return result_of("ncclCommCount");
}
int ncclCommUserRank(ncclComm* comm, int* rank) {
  *rank = comm->rank;
  return result_of("ncclCommUserRank");
}
int ncclCommCuDevice(ncclComm* comm, int* device) {
  *device = comm->rank;
  return result_of("ncclCommCuDevice");
}

int ncclMemAlloc(void** at, std::size_t bytes) {
  if (int const e = result_of("ncclMemAlloc"); e != 0) return e;
  int const file = memfd_create("arena", 0);
  if (ftruncate(file, static_cast<off_t>(bytes)) != 0) return 2;
  *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  std::scoped_lock const lock(mutex);
  allocations[*at] = {file, bytes};
  ++state.live_allocations;
  return 0;
}
int ncclMemFree(void* at) {
  std::scoped_lock const lock(mutex);
  auto const found = allocations.find(at);
  munmap(at, found->second.bytes);
  close(found->second.file);
  allocations.erase(found);
  --state.live_allocations;
  return 0;
}

int ncclCommWindowRegister(ncclComm* comm, void* at, std::size_t bytes, ncclWindow_vidmem** window,
                           int) {
  if (int const e = result_of("ncclCommWindowRegister"); e != 0) return e;
  fake_world& all = *comm->all;
  {
    std::scoped_lock const lock(mutex);
    all.files[comm->rank] = allocations[at].file;
  }
  all.barrier.arrive_and_wait();
  auto* const w = new ncclWindow_vidmem{};
  std::size_t const range = place_bytes * static_cast<std::size_t>(all.ranks);
  w->lsa_base = static_cast<std::byte*>(
      mmap(nullptr, range, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  w->lsa_rank = w->world_rank = comm->rank;
  w->stride_4g = state.wrong_stride ? 0 : 1;
  w->comm = comm;
  for (int r = 0; r < all.ranks; ++r)
    mmap(w->lsa_base + static_cast<std::size_t>(r) * place_bytes, bytes, PROT_READ | PROT_WRITE,
         MAP_SHARED | MAP_FIXED, all.files[r], 0);
  *window = w;
  all.barrier.arrive_and_wait();  // as NCCL: a rank may free its memory when all have mapped it
  std::scoped_lock const lock(mutex);
  ++state.live_windows;
  return 0;
}
int ncclCommWindowDeregister(ncclComm* comm, ncclWindow_vidmem* w) {
  munmap(w->lsa_base, place_bytes * static_cast<std::size_t>(comm->all->ranks));
  delete w;
  std::scoped_lock const lock(mutex);
  --state.live_windows;
  return 0;
}
int ncclGetPeerDevicePointer(ncclWindow_vidmem* w, std::size_t offset, int peer, void** at) {
  if (int const e = result_of("ncclGetPeerDevicePointer"); e != 0) return e;
  bool const near = peer == w->comm->rank || !state.far_ranks;
  *at = near ? w->lsa_base + static_cast<std::size_t>(peer) * place_bytes + offset : nullptr;
  return 0;
}

// Their results are not used: no operation runs without a GPU.
int ncclAllGather() { return result_of("ncclAllGather"); }
int ncclBroadcast() { return result_of("ncclBroadcast"); }
int ncclReduce() { return result_of("ncclReduce"); }
int ncclReduceScatter() { return result_of("ncclReduceScatter"); }
int ncclAllReduce() { return result_of("ncclAllReduce"); }
int ncclGroupStart() { return result_of("ncclGroupStart"); }
int ncclGroupEnd() { return result_of("ncclGroupEnd"); }

}  // extern "C"
