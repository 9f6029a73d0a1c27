// SPDX-License-Identifier: Apache-2.0
// nccl.hpp  The functions of NCCL that a group uses, found at run time, and an arena that all ranks
//           of a communicator can write. Source: NVIDIA Collective Communication Library
//           documentation, "Window Registration" and "Device API".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dist/placement.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/dist/group.hpp"

typedef struct CUstream_st* cudaStream_t;        // same declarations as CUDA's
typedef struct ncclWindow_vidmem* ncclWindow_t;  // and NCCL's

namespace tw::dist {

/// Functions of libnccl; their results are ncclResult_t, 0 is success.
struct nccl_functions {
  std::string file;  // of the library
  int version = 0;   // 22809: 2.28.9
  int (*get_version)(int*) = nullptr;
  char const* (*get_error_string)(int) = nullptr;
  char const* (*get_last_error)(ncclComm_t) = nullptr;
  int (*comm_count)(ncclComm_t, int*) = nullptr;
  int (*comm_user_rank)(ncclComm_t, int*) = nullptr;
  int (*comm_cu_device)(ncclComm_t, int*) = nullptr;
  int (*mem_alloc)(void**, std::size_t) = nullptr;
  int (*mem_free)(void*) = nullptr;
  int (*window_register)(ncclComm_t, void*, std::size_t, ncclWindow_t*, int) = nullptr;
  int (*window_deregister)(ncclComm_t, ncclWindow_t) = nullptr;
  /// From 2.29; nullptr in an older library.
  int (*get_peer_pointer)(ncclWindow_t, std::size_t, int, void**) = nullptr;
  int (*all_gather)(void const*, void*, std::size_t, int, ncclComm_t, cudaStream_t) = nullptr;
  int (*broadcast)(void const*, void*, std::size_t, int, int, ncclComm_t, cudaStream_t) = nullptr;
  int (*reduce)(void const*, void*, std::size_t, int, int, int, ncclComm_t, cudaStream_t) = nullptr;
  int (*reduce_scatter)(void const*, void*, std::size_t, int, int, ncclComm_t,
                        cudaStream_t) = nullptr;
  int (*all_reduce)(void const*, void*, std::size_t, int, int, ncclComm_t, cudaStream_t) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
};

/// Finds the functions in `file`; if it is empty, in the libnccl that the process has loaded, else
/// in libnccl.so.2. Throws TW0908 if it is absent, if the process has loaded two, if it is older
/// than 2.28, or lacks a function.
nccl_functions find_nccl(std::string const& file);

/// Throws TW0908 with NCCL's words if a call failed.
void check_nccl(nccl_functions const& nccl, int result, char const* call, ncclComm_t comm);

/// ncclDataType_t of partial results: f32, bf16, f16 or s32.
int nccl_type(elem type);

/// An arena of NCCL's memory in a window of all ranks.
class nccl_arena {
 public:
  /// A call of all ranks. Clears the arena, writes the rank's identity, which finds wrong
  /// addresses, and registers the window. Throws TW0908 if NCCL fails, and
  /// TW0903 if the ranks have other options.
  nccl_arena(nccl_functions nccl, ncclComm_t comm, group_options const& options,
             device_memory const& memory);
  ~nccl_arena();
  nccl_arena(nccl_arena const&) = delete;
  nccl_arena& operator=(nccl_arena const&) = delete;

  nccl_functions const& nccl() const { return nccl_; }
  ncclComm_t comm() const { return comm_; }
  int rank() const { return rank_; }
  /// Address of each rank's arena here; nullptr: this GPU cannot address it.
  std::vector<void*> const& addresses() const { return addresses_; }
  int device() const { return device_; }

 private:
  void release();
  void find_addresses(device_memory const& memory);
  void check_identities(group_options const& options, device_memory const& memory);

  nccl_functions nccl_;
  ncclComm_t comm_;
  int rank_ = 0, device_ = 0;
  void* arena_ = nullptr;
  ncclWindow_t window_ = nullptr;
  std::vector<void*> addresses_;
};

/// Bytes of the head of an arena on a GPU, and of the whole arena.
std::int64_t gpu_head_bytes();
std::int64_t bytes_of_gpu_arena(group_options const& options);

}  // namespace tw::dist
