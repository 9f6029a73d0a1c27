// SPDX-License-Identifier: Apache-2.0
// nccl_ranks.cu  ncclCommInitRank in a thread for each device.
#include "tools/measure/gpu/nccl_ranks.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <thread>

#include "tools/measure/gpu/check.hpp"

namespace tw::bench {
namespace {

/// NCCL's ncclUniqueId.
struct unique_id {
  char bytes[128];
};

template <class F>
F function(std::string const& file, char const* name) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const f = library == nullptr ? nullptr : dlsym(library, name);
  if (f == nullptr)
    throw rejected({"TW0908", file, std::string("no function ") + name, "NCCL 2.28 or later", ""});
  return reinterpret_cast<F>(f);
}

}  // namespace

nccl_ranks::nccl_ranks(int ranks) : comms_(static_cast<std::size_t>(ranks)) {
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  functions_ = dist::find_nccl({});
  auto const get_id = function<int (*)(unique_id*)>(functions_.file, "ncclGetUniqueId");
  auto const init =
      function<int (*)(ncclComm_t*, int, unique_id, int)>(functions_.file, "ncclCommInitRank");
  destroy_ = function<int (*)(ncclComm_t)>(functions_.file, "ncclCommDestroy");
  unique_id id;
  dist::check_nccl(functions_, get_id(&id), "ncclGetUniqueId", nullptr);
  std::vector<int> results(comms_.size());
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      auto const i = static_cast<std::size_t>(r);
      cudaSetDevice(r);
      results[i] = init(&comms_[i], ranks, id, r);
    });
  for (std::thread& t : threads) t.join();
  for (int const result : results)
    dist::check_nccl(functions_, result, "ncclCommInitRank", nullptr);
}

nccl_ranks::~nccl_ranks() {
  std::vector<std::thread> threads;
  for (ncclComm_t const comm : comms_) threads.emplace_back([this, comm] { destroy_(comm); });
  for (std::thread& t : threads) t.join();
}

}  // namespace tw::bench
