// SPDX-License-Identifier: Apache-2.0
// nccl_collectives.cpp  One collective for equal parts, a broadcast or a reduction of each other
//                       part.
#include "dist/nccl_collectives.hpp"

#include "dist/slice.hpp"

namespace tw::dist {
namespace {

constexpr int nccl_bytes = 0;  // ncclInt8
constexpr int nccl_sum = 0;    // ncclSum

std::size_t count_of(range const& r) { return static_cast<std::size_t>(r.size); }

}  // namespace

void nccl_collectives::check(int result, char const* call) const {
  check_nccl(arena_.nccl(), result, call, arena_.comm());
}

void nccl_collectives::in_a_group(std::function<void()> const& calls) const {
  check(arena_.nccl().group_start(), "ncclGroupStart");
  try {
    calls();
  } catch (...) {
    static_cast<void>(arena_.nccl().group_end());
    throw;
  }
  check(arena_.nccl().group_end(), "ncclGroupEnd");
}

bool nccl_collectives::are_even(std::vector<range> const& parts) const {
  std::int64_t const size = parts[static_cast<std::size_t>(arena_.rank())].size;
  for (std::size_t r = 0; r < parts.size(); ++r)
    if (parts[r] != range{static_cast<std::int64_t>(r) * size, size}) return false;
  return true;
}

void nccl_collectives::gather(void const* own, std::byte* all, std::vector<range> const& parts) {
  nccl_functions const& f = arena_.nccl();
  if (are_even(parts)) {
    check(f.all_gather(own, all, count_of(parts[0]), nccl_bytes, arena_.comm(), *stream_),
          "ncclAllGather");
    return;
  }
  in_a_group([&] {
    for (std::size_t r = 0; r < parts.size(); ++r)
      if (!parts[r].empty())
        check(f.broadcast(own, all + parts[r].begin, count_of(parts[r]), nccl_bytes,
                          static_cast<int>(r), arena_.comm(), *stream_),
              "ncclBroadcast");
  });
}

void nccl_collectives::reduce_scatter(void const* all, void* to, std::vector<range> const& parts,
                                      elem type) {
  nccl_functions const& f = arena_.nccl();
  if (are_even(parts)) {
    check(f.reduce_scatter(all, to, count_of(parts[0]), nccl_type(type), nccl_sum, arena_.comm(),
                           *stream_),
          "ncclReduceScatter");
    return;
  }
  in_a_group([&] {
    for (std::size_t r = 0; r < parts.size(); ++r)
      if (!parts[r].empty())
        check(f.reduce(element_at(all, type, parts[r].begin), to, count_of(parts[r]),
                       nccl_type(type), nccl_sum, static_cast<int>(r), arena_.comm(), *stream_),
              "ncclReduce");
  });
}

void nccl_collectives::all_reduce(void const* from, void* to, std::int64_t count, elem type) {
  check(arena_.nccl().all_reduce(from, to, static_cast<std::size_t>(count), nccl_type(type),
                                 nccl_sum, arena_.comm(), *stream_),
        "ncclAllReduce");
}

}  // namespace tw::dist
