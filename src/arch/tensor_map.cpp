// SPDX-License-Identifier: Apache-2.0
// tensor_map.cpp  The rules of tensor maps, and the choice of who encodes one.
#include "tilewright/arch/tensor_map.hpp"

#include <fmt/format.h>

#include "arch/tensor_map_gpu.hpp"
#include "tilewright/arch/emu/tensor_map_emu.hpp"

namespace tw {

namespace {

std::string dimension(char const* what, int i) {
  return fmt::format("{} of dimension {}", what, i);
}

std::optional<rejection> check_tensor(tensor_map_desc const& d) {
  auto const address = reinterpret_cast<std::uint64_t>(d.base);
  if (address == 0 || address % 16 != 0)
    return rejection{"TW0303", "address of the tensor", fmt::format("{:#x}", address),
                     "a multiple of 16 bytes, not null", ""};
  for (int i = 0; i < d.rank; ++i)
    if (d.dim[i] < 1 || d.dim[i] > std::int64_t{1} << 32)
      return rejection{"TW0304", dimension("extent", i), fmt::format("{}", d.dim[i]),
                       "1 to 4294967296 elements", ""};
  for (int i = 1; i < d.rank; ++i) {
    std::int64_t const stride = d.stride_bytes[i - 1];
    if (stride < 0 || stride % 16 != 0 || stride >= std::int64_t{1} << 40)
      return rejection{"TW0305", dimension("stride", i), fmt::format("{} bytes", stride),
                       "a multiple of 16 bytes, 0 to 2^40 - 16",
                       "copy the tensor to rows of a multiple of 16 bytes"};
  }
  return std::nullopt;
}

/// CUDA driver API, cuTensorMapEncodeTiled: elements of 4 and 6 bits.
std::optional<rejection> check_narrow(tensor_map_desc const& d) {
  auto const refused = [&](std::string what, std::string got, char const* need) {
    return rejection{"TW0314", std::move(what), std::move(got), need, ""};
  };
  if (d.padded && size_bits(d.type) >= 8)
    return refused("padding of elements", name(d.type), "a type of 4 or 6 bits");
  if (size_bits(d.type) >= 8) return std::nullopt;
  if (!d.is_padded())
    return d.dim[0] % 2 == 0
               ? std::nullopt
               : std::optional(refused("extent of dimension 0 with 4-bit elements",
                                       fmt::format("{}", d.dim[0]), "an even number"));
  if (reinterpret_cast<std::uint64_t>(d.base) % 32 != 0)
    return refused("address of a tensor of padded elements", fmt::format("{}", d.base),
                   "a multiple of 32 bytes");
  for (int i = 1; i < d.rank; ++i)
    if (d.stride_bytes[i - 1] % 32 != 0)
      return refused(dimension("stride of padded elements,", i),
                     fmt::format("{} bytes", d.stride_bytes[i - 1]), "a multiple of 32 bytes");
  if (d.dim[0] % 128 != 0)
    return refused("extent of dimension 0 with padded elements", fmt::format("{}", d.dim[0]),
                   "a multiple of 128");
  if (d.box[0] != 128)
    return refused("box of padded elements", fmt::format("{} along dimension 0", d.box[0]), "128");
  if (d.swizzle != swizzle_mode::none && d.swizzle != swizzle_mode::b128)
    return refused("swizzle of padded elements",
                   fmt::format("{} bytes", swizzle_span_bytes(d.swizzle)), "none, or 128 bytes");
  return std::nullopt;
}

std::optional<rejection> check_box(tensor_map_desc const& d) {
  for (int i = 0; i < d.rank; ++i)
    if (d.box[i] < 1 || d.box[i] > 256)
      return rejection{"TW0306", dimension("box extent", i), fmt::format("{}", d.box[i]),
                       "1 to 256 elements", ""};
  int const inner_bytes = d.box[0] * d.smem_bits() / 8;
  if (inner_bytes % 16 != 0)
    return rejection{"TW0307", "row of the box", fmt::format("{} bytes", inner_bytes),
                     "a multiple of 16 bytes", ""};
  int const span = swizzle_span_bytes(d.swizzle);
  if (d.swizzle != swizzle_mode::none && inner_bytes > span)
    return rejection{"TW0308", "row of the box", fmt::format("{} bytes", inner_bytes),
                     fmt::format("at most {} bytes, the span of its swizzle", span),
                     "copy several boxes, each one span wide"};
  return std::nullopt;
}

}  // namespace

std::optional<rejection> check_tensor_map(tensor_map_desc const& d) {
  if (d.rank < 1 || d.rank > 5)
    return rejection{"TW0302", "rank of the tensor", fmt::format("{}", d.rank), "1 to 5", ""};
  if (auto r = check_tensor(d)) return r;
  if (auto r = check_narrow(d)) return r;
  return check_box(d);
}

tensor_map_desc in_all_memory(tensor_map_desc d) {
  constexpr std::int64_t units = std::int64_t{1} << tma_place::units_log2;
  d.base = reinterpret_cast<void*>(tma_place::first_byte);
  d.dim[d.rank] = units;
  d.stride_bytes[d.rank - 1] = tma_place::unit_bytes;
  d.dim[d.rank + 1] = tma_place::unit_bytes << tma_place::spans_log2;  // odd addresses' too
  d.stride_bytes[d.rank] = units * tma_place::unit_bytes;
  d.rank += 2;
  return d;
}

tensor_map make_tensor_map(tensor_map_desc const& d, target t) {
  if (auto r = check_tensor_map(d)) throw rejected(*r);
  return t == target::emu ? pack_tensor_map_emu(d) : encode_tensor_map_gpu(d);
}

}  // namespace tw
