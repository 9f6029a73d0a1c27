// SPDX-License-Identifier: Apache-2.0
// nccl.cpp  Finds libnccl, and makes an arena that all ranks can write.
#include "dist/nccl.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "dist/membership.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/base/round_up.hpp"

namespace tw::dist {
namespace {

constexpr int oldest_nccl = 22800, with_peer_pointers = 22900;
constexpr int window_default = 0;  // NCCL_WIN_DEFAULT: without multicast objects

std::string version_of(int code) {
  return fmt::format("{}.{}.{}", code / 10000, code / 100 % 100, code % 100);
}

[[noreturn]] void refuse_nccl(std::string const& what, std::string const& got,
                              std::string const& need, std::string const& hint) {
  throw rejected({"TW0908", what, got, need, hint});
}

/// Files of loaded libraries whose names begin with libnccl.so.
std::set<std::string> loaded_libraries() {
  std::set<std::string> files;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* list) {
        std::string const path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        if (path.substr(path.rfind('/') + 1).starts_with("libnccl.so"))
          static_cast<std::set<std::string>*>(list)->insert(path);
        return 0;
      },
      &files);
  return files;
}

/// The library, and the words for it.
struct found_library {
  void* handle;
  std::string file;
};

found_library open_library(std::string const& file) {
  std::string name = file;
  if (name.empty()) {
    std::set<std::string> const loaded = loaded_libraries();
    if (loaded.size() > 1)
      refuse_nccl("libnccl of this process",
                  fmt::format("{} and {}", *loaded.begin(), *loaded.rbegin()), "one of them",
                  "name the file of the communicator's library: group::from_nccl(comm, options, "
                  "file)");
    if (!loaded.empty())
      name = *loaded.begin();
    else if (dlsym(RTLD_DEFAULT, "ncclCommCount") != nullptr)
      return {RTLD_DEFAULT, "this program"};
    else
      name = "libnccl.so.2";
  }
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    char const* const why = dlerror();
    refuse_nccl(name, why == nullptr ? "an unknown error" : why, "NCCL 2.28 or later",
                "install NCCL (package nvidia-nccl-cu13, or libnccl2)");
  }
  return {handle, name};
}

template <class F>
void find(found_library const& in, char const* name, F& function) {
  void* const address = dlsym(in.handle, name);
  if (address == nullptr)
    refuse_nccl(in.file, fmt::format("no function {}", name), "NCCL 2.28 or later", "");
  function = reinterpret_cast<F>(address);
}

/// The first members of a window of NCCL 2.28 in device memory, ncclWindow_vidmem: the address of
/// rank r is lsa_base + r * stride_4g * 2^32. From 2.29 the host has a function.
struct window_2_28 {
  void* host;
  std::uint64_t lsa_base;
  std::int32_t lsa_rank, world_rank;
  std::uint32_t stride_4g;
};

constexpr std::uint64_t identity_pattern = 0x7457617265746C69U;

}  // namespace

nccl_functions find_nccl(std::string const& file) {
  found_library const in = open_library(file);
  nccl_functions f;
  f.file = in.file;
  find(in, "ncclGetVersion", f.get_version);
  if (int const e = f.get_version(&f.version); e != 0)
    refuse_nccl(in.file, fmt::format("error {} of ncclGetVersion", e), "NCCL 2.28 or later", "");
  if (f.version < oldest_nccl)
    refuse_nccl(in.file, "NCCL " + version_of(f.version), "NCCL 2.28 or later",
                "windows with addresses of peers came with 2.28");
  find(in, "ncclGetErrorString", f.get_error_string);
  find(in, "ncclGetLastError", f.get_last_error);
  find(in, "ncclCommCount", f.comm_count);
  find(in, "ncclCommUserRank", f.comm_user_rank);
  find(in, "ncclCommCuDevice", f.comm_cu_device);
  find(in, "ncclMemAlloc", f.mem_alloc);
  find(in, "ncclMemFree", f.mem_free);
  find(in, "ncclCommWindowRegister", f.window_register);
  find(in, "ncclCommWindowDeregister", f.window_deregister);
  if (f.version >= with_peer_pointers) find(in, "ncclGetPeerDevicePointer", f.get_peer_pointer);
  find(in, "ncclAllGather", f.all_gather);
  find(in, "ncclBroadcast", f.broadcast);
  find(in, "ncclReduce", f.reduce);
  find(in, "ncclReduceScatter", f.reduce_scatter);
  find(in, "ncclAllReduce", f.all_reduce);
  find(in, "ncclGroupStart", f.group_start);
  find(in, "ncclGroupEnd", f.group_end);
  return f;
}

void check_nccl(nccl_functions const& nccl, int result, char const* call, ncclComm_t comm) {
  if (result == 0) return;
  char const* const last = nccl.get_last_error(comm);
  refuse_nccl(
      call,
      fmt::format("{} (ncclResult_t {}{}{})", nccl.get_error_string(result), result,
                  last == nullptr || *last == 0 ? "" : "; ", last == nullptr ? "" : last),
      "success",
      fmt::format("NCCL {}, {}; NCCL_DEBUG=WARN says more", version_of(nccl.version), nccl.file));
}

int nccl_type(elem type) {
  switch (type) {
    case elem::f16: return 6;
    case elem::f32: return 7;
    case elem::bf16: return 9;
    default: return 2;  // ncclInt32
  }
}

std::int64_t gpu_head_bytes() {
  return round_up(static_cast<std::int64_t>(sizeof(gpu_arena_head)), arena_alignment);
}

std::int64_t bytes_of_gpu_arena(group_options const& options) {
  return gpu_head_bytes() + 2 * buffer_bytes(options);
}

nccl_arena::nccl_arena(nccl_functions nccl, ncclComm_t comm, group_options const& options,
                       device_memory const& memory)
    : nccl_(std::move(nccl)),
      comm_(comm) {
  int ranks = 0;
  check_nccl(nccl_, nccl_.comm_count(comm, &ranks), "ncclCommCount", comm);
  check_nccl(nccl_, nccl_.comm_user_rank(comm, &rank_), "ncclCommUserRank", comm);
  check_nccl(nccl_, nccl_.comm_cu_device(comm, &device_), "ncclCommCuDevice", comm);
  check_group(ranks, options);
  addresses_.resize(static_cast<std::size_t>(ranks));
  std::int64_t const bytes = bytes_of_gpu_arena(options);
  try {
    check_nccl(nccl_, nccl_.mem_alloc(&arena_, static_cast<std::size_t>(bytes)), "ncclMemAlloc",
               comm);
    memory.clear(arena_, bytes);
    std::uint64_t const identity[4] = {identity_pattern, static_cast<std::uint64_t>(rank_),
                                       static_cast<std::uint64_t>(options.gathered_bytes),
                                       options.epoch};
    memory.copy(static_cast<gpu_arena_head*>(arena_)->identity, identity, sizeof identity);
    // All ranks have registered, and so cleared their arenas, when a rank's call returns.
    check_nccl(nccl_,
               nccl_.window_register(comm, arena_, static_cast<std::size_t>(bytes), &window_,
                                     window_default),
               "ncclCommWindowRegister", comm);
    find_addresses(memory);
    check_identities(options, memory);
    addresses_[static_cast<std::size_t>(rank_)] = arena_;
  } catch (...) {
    release();
    throw;
  }
}

nccl_arena::~nccl_arena() { release(); }

void nccl_arena::release() {
  if (window_ != nullptr) static_cast<void>(nccl_.window_deregister(comm_, window_));
  if (arena_ != nullptr) static_cast<void>(nccl_.mem_free(arena_));
  window_ = nullptr, arena_ = nullptr;
}

void nccl_arena::find_addresses(device_memory const& memory) {
  auto const ranks = static_cast<int>(addresses_.size());
  if (nccl_.get_peer_pointer != nullptr) {
    for (int r = 0; r < ranks; ++r) {
      void* at = nullptr;
      check_nccl(nccl_, nccl_.get_peer_pointer(window_, 0, r, &at), "ncclGetPeerDevicePointer",
                 comm_);
      addresses_[static_cast<std::size_t>(r)] = at;
    }
  } else if (window_ != nullptr && memory.contains(window_)) {
    // Without support for symmetric memory a window is host memory.
    window_2_28 w{};
    memory.copy(&w, window_, sizeof w);
    if (w.world_rank != rank_)
      refuse_nccl("window of NCCL " + version_of(nccl_.version),
                  fmt::format("rank {} in its description", w.world_rank),
                  fmt::format("rank {}", rank_), "use NCCL 2.29 or later");
    for (int r = 0; r < ranks; ++r) {
      std::int64_t const place = w.lsa_rank + (r - rank_);
      std::uint64_t const at =
          w.lsa_base + static_cast<std::uint64_t>(place) * (std::uint64_t{w.stride_4g} << 32);
      auto* const address = reinterpret_cast<void*>(at);
      // Places before 0, or after the last rank of this host, are not mapped.
      if (place >= 0 && memory.contains(address)) addresses_[static_cast<std::size_t>(r)] = address;
    }
  }
}

void nccl_arena::check_identities(group_options const& options, device_memory const& memory) {
  for (std::size_t r = 0; r < addresses_.size(); ++r) {
    if (addresses_[r] == nullptr) continue;
    std::uint64_t identity[4] = {};
    memory.copy(identity, static_cast<gpu_arena_head*>(addresses_[r])->identity, sizeof identity);
    if (identity[0] != identity_pattern || identity[1] != r)
      refuse_nccl(fmt::format("address of the arena of rank {}", r), "other memory",
                  "the address of a window's peer",
                  "NCCL " + version_of(nccl_.version) + " places windows in another way");
    if (identity[2] != static_cast<std::uint64_t>(options.gathered_bytes) ||
        identity[3] != options.epoch)
      throw rejected({"TW0903", fmt::format("options of the group on ranks {} and {}", rank_, r),
                      fmt::format("gathered_bytes = {} and {}, epoch = {} and {}",
                                  options.gathered_bytes, identity[2], options.epoch, identity[3]),
                      "equal options on all ranks", ""});
  }
}

}  // namespace tw::dist
