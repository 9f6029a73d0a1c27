// SPDX-License-Identifier: Apache-2.0
// repitch.cu  A thread gathers eight 16-bit elements of a line and stores them at once.
#include "dispatch/repitch.hpp"

#include <algorithm>

namespace tw {

namespace {

struct lines {
  std::int64_t inner, outer, pitch, batch_stride;  // elements
};

/// Chunks of 8 elements: chunk c of line l of matrix i, counted through all of them. What is behind
/// the end of a line is padding and becomes zero. addresses: of the matrices, or nullptr.
__global__ void gather(uint4* copy, std::uint16_t const* from, void const* const* addresses,
                       lines m, std::int64_t chunks, std::int64_t all) {
  std::int64_t const step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < all;
       at += step) {
    std::int64_t const line = at / chunks, first = at % chunks * 8, matrix = line / m.outer;
    std::uint16_t const* const base = addresses != nullptr
                                          ? static_cast<std::uint16_t const*>(addresses[matrix])
                                          : from + matrix * m.batch_stride;
    std::uint16_t const* const begin = base + line % m.outer * m.pitch + first;
    std::uint32_t words[4] = {};
    for (int i = 0; i < 8; ++i)
      if (first + i < m.inner) words[i / 2] |= static_cast<std::uint32_t>(begin[i]) << 16 * (i % 2);
    copy[at] = make_uint4(words[0], words[1], words[2], words[3]);
  }
}

}  // namespace

cudaError_t repitch(operand_copy const& c, cudaStream_t stream) {
  std::int64_t const chunks = c.target.pitch_elems / 8;
  std::int64_t const all = chunks * c.size.outer * c.target.matrices;
  constexpr std::int64_t threads = 256;
  auto const blocks = std::clamp<std::int64_t>((all + threads - 1) / threads, 1, 132 * 16);
  gather<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), 0, stream>>>(
      static_cast<uint4*>(c.to), static_cast<std::uint16_t const*>(c.from), c.from_array,
      {c.size.inner, c.size.outer, c.source.pitch_elems, c.source.batch_stride_elems}, chunks, all);
  return cudaGetLastError();
}

}  // namespace tw
