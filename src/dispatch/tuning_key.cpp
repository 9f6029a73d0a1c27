// SPDX-License-Identifier: Apache-2.0
// tuning_key.cpp  Texts that tell measurements apart.
#include "dispatch/tuning_key.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/version.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw {
namespace {

std::string matrix_key(char const* name_of_matrix, matrix_desc const& m) {
  return fmt::format(" {}={},{},{},{}", name_of_matrix, name(m.type),
                     m.ord == order::row_major ? 'T' : 'N', m.pitch_elems, m.batch_stride_elems);
}

std::string variable(char const* name) {
  char const* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

}  // namespace

std::string tuning_version() {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  auto const mix = [&](int x) { hash = (hash ^ static_cast<std::uint32_t>(x)) * 16777619U; };
  for (gemm_family const* f : families())
    for (int kernel = 0; kernel < f->kernel_count(); ++kernel) {
      for (char const c : f->tuning_text(kernel)) mix(c);
      mix(0);
    }
  return fmt::format("{}+{:08x}", version_text, hash);
}

std::optional<tuning_identity> identity_here() {
  if (!gpu().usable) return std::nullopt;
  return tuning_identity{gpu().name, gpu().driver, tuning_version(), gpu().sms};
}

std::string problem_key(gemm_problem const& p) {
  std::string key = fmt::format("{}x{}x{}x{}", p.m, p.n, p.k, p.batch) + matrix_key("a", p.a) +
                    matrix_key("b", p.b) + matrix_key("d", p.d);
  if (p.c && p.beta != 0) key += matrix_key("c", *p.c);
  if (p.aux) key += matrix_key("x", *p.aux);
  auto const add_scale = [&](char const* of, std::optional<scale_desc> const& s) {
    if (!s) return;
    key += fmt::format(" s{}={},{},{},{},{},{},{}", of, name(s->type), s->block_outer, s->block_k,
                       s->stride_outer, s->stride_k, s->packed_k, s->batch_stride);
    if (s->tiled) key += ",t";
  };
  add_scale("a", p.scale_a);
  add_scale("b", p.scale_b);
  if (p.reproducible) key += " r";
  if (may_sum_in_f16(p)) key += " f16";
  if (is_fp8(p.a.type) && p.precision.promote_k != gemm_precision{}.promote_k)
    key += fmt::format(" p={}", p.precision.promote_k);
  if (p.scale_d) {
    add_scale("d", p.scale_d->desc);
    key += fmt::format(",{},{}", int{p.scale_d->given}, int{p.scale_d->power_of_two});
  }
  gemm_epilogue const& e = p.epilogue;
  if (is_fused(e))
    key += fmt::format(" e={},{},{},{},{},{},{}", static_cast<int>(e.bias), name(e.bias_type),
                       int{e.row_scale}, int{e.col_scale}, static_cast<int>(e.act),
                       static_cast<int>(e.gate), int{e.c_last});
  return key;
}

std::string tuning_file() {
  std::string const said = variable("TILEWRIGHT_TUNE");
  if (said == "off") return "";
  if (said.starts_with('/')) return said;
  if (!said.empty())
    throw rejected({"TW0802", "environment variable TILEWRIGHT_TUNE", said,
                    "off, or a file's path that begins with /", ""});
  if (std::string const cache = variable("XDG_CACHE_HOME"); cache.starts_with('/'))
    return cache + "/tilewright/tune.db";
  std::string const home = variable("HOME");
  return home.starts_with('/') ? home + "/.cache/tilewright/tune.db" : "";
}

}  // namespace tw
