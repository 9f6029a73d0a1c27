// SPDX-License-Identifier: Apache-2.0
// packed_tensor.cpp  The names are those that the libraries write (docs/checkpoints.md).
#include "tools/io/packed_tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "tools/io/in_quotes.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

[[noreturn]] void refuse_gguf_file(std::string const& file) {
  refuse("TW0660", "file " + file, "a GGUF file, the format of llama.cpp",
         ".safetensors or .npy with F16, BF16, F32, 8-bit or block-scaled elements",
         "its blocks hold scales and values together; gguf.dequantize() of the Python package gguf "
         "gives float32 arrays for numpy.save");
}

/// True if `all` has scales of 8 bits for each 16 or 32 elements, two to a byte of t. t may be a
/// part of a tensor, "weight[3]".
bool has_block_scales(tensor_entry const& t, std::vector<tensor_entry> const& all) {
  std::string const scales_name = t.name.substr(0, t.name.find('[')) + "_scale";
  for (tensor_entry const& s : all) {
    if (s.name != scales_name || (s.dtype != "F8_E4M3" && s.dtype != "U8")) continue;
    if (s.shape.empty() || t.shape.empty()) continue;
    std::int64_t const bytes = t.shape.back(), scales = s.shape.back();
    if (bytes == 8 * scales || bytes == 16 * scales) return true;
  }
  return false;
}

}  // namespace

void refuse_packed(tensor_entry const& t, std::string_view name,
                   std::vector<tensor_entry> const& all, std::string const& what, bool e2m1) {
  std::string const& dtype = t.dtype;
  std::vector<std::int64_t> const& shape = t.shape;
  std::string const got = fmt::format("{} [{}]", dtype, fmt::join(shape, ", "));
  bool const weights = name.ends_with("qweight"), zeros = name.ends_with("qzeros");
  bool const packed = name.ends_with("weight_packed");
  if (dtype == "I32" && (weights || zeros || packed))
    refuse("TW0659", "tensor " + what,
           got +
               (packed ? ", integers of 4 or 8 bits of compressed-tensors (pack-quantized)"
                       : ", integers of 4 or 8 bits of GPTQ or AWQ") +
               ", several to an int32",
           "elements that a GEMM multiplies: bf16, f16, f32, int8, FP8, MXFP or NVFP4",
           "with its scales in the file, a weight of 4 bits is B of `tilewright gemm` "
           "(docs/weights4.md); else dequantise the layer to bf16 with the library that wrote it, "
           "save it, and quantise it with `tilewright quantize`");
  bool const blocks = name.ends_with("blocks") || (shape.size() == 4 && shape[3] == 16);
  if (dtype == "U8" && !e2m1 && (packed || blocks || has_block_scales(t, all)))
    refuse("TW0662", "tensor " + what, got + ", two elements of e2m1 to a byte",
           blocks ? "`gemm --dtype mxfp4`, which reads blocks of 16 bytes as 32 elements of a row"
                  : "`gemm --dtype nvfp4` (a scale for each 16 elements) or mxfp4 (32)",
           "and the scales beside it: docs/checkpoints.md");
}

void refuse_gguf(std::span<std::byte const> content, std::string const& file) {
  if (content.size() >= 4 && std::memcmp(content.data(), "GGUF", 4) == 0) refuse_gguf_file(file);
}

void refuse_gguf(std::string const& address) {
  std::size_t const at = address.find(".gguf");
  if (at == std::string::npos) return;
  std::size_t const end = at + 5;
  if (end == address.size() || address[end] == ':') refuse_gguf_file(in_quotes_if_odd(address));
}

}  // namespace tw
