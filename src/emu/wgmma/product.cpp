// SPDX-License-Identifier: Apache-2.0
// product.cpp  Checks the steps of a wgmma group, brings their operands into linear order, and
//              hands panels of up to 24 columns to the version for this processor.
//
// All versions multiply float32 numbers: elements of 8 bits and tf32 are widened here. The sums of
// up to 64 products of integers are below 2^24, so they are exact in float32, too.
#include "emu/wgmma/product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "emu/elements/operand.hpp"
#include "emu/wgmma/product_exact.hpp"
#include "emu/wgmma/product_isa.hpp"
#include "emu/wgmma/product_operands.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw::emu {

std::optional<std::string> check_wgmma_group(wgmma_form const& form, wgmma_step_data const* steps,
                                             int count, std::uint32_t smem_base,
                                             std::uint32_t smem_bytes) {
  if (!has_wgmma(form.a_type, form.b_type, form.sums))
    return fmt::format("wgmma has no operands {} and {} with sums {}", name(form.a_type),
                       name(form.b_type), name(form.sums));
  if (!has_wgmma_n(form.sums, form.n))
    return fmt::format(
        "n = {}; it must be a multiple of 8 from 8 to 256, above 32 of 16 where "
        "sums are integers",
        form.n);
  if (traits_of(form.a_type).k_major_only &&
      (form.a_major == operand_major::mn || form.b_major == operand_major::mn))
    return fmt::format("an operand of type {} is MN-major; wgmma reads it K-major only",
                       name(form.a_major == operand_major::mn ? form.a_type : form.b_type));
  for (int i = 0; i < count; ++i) {
    for (auto const& [name, d] : {std::pair{'A', steps[i].a}, std::pair{'B', steps[i].b}})
      if (d.swizzle() == swizzle_mode::b128_base32 && !(name == 'A' && steps[i].a_in_registers))
        return fmt::format("descriptor {:#018x} of {} has reserved bit 61 set", d.bits, name);
    if (!steps[i].a_in_registers)
      if (auto wrong = check_operand('A', steps[i].a, {form.a_major, 64}, smem_base, smem_bytes))
        return wrong;
    if (auto wrong = check_operand('B', steps[i].b, {form.b_major, form.n}, smem_base, smem_bytes))
      return wrong;
  }
  return std::nullopt;
}

namespace {

std::atomic<product_isa> selected{product_isa::automatic};

product_version const& version() {
  static product_version const* const best = [] {
    for (product_isa const isa : {product_isa::avx512, product_isa::avx2})
      if (product_version const* v = vector_product(isa)) return v;
    return &product_portable;
  }();
  product_isa const wanted = selected.load(std::memory_order_relaxed);
  if (wanted == product_isa::automatic) return *best;
  product_version const* const v = vector_product(wanted);
  return v != nullptr ? *v : product_portable;
}

}  // namespace

product_version const& used_product() { return version(); }

namespace {

constexpr int pitch_bytes = 128;  // of a row of a K-major operand: four steps
constexpr int panel_bytes = 2 * panel_columns;

/// A of up to four steps, as the version multiplies it.
void prepare_a(product_block& block, product_version const& run, wgmma_form const& form,
               wgmma_step_data const* steps, int count, memory smem) {
  alignas(64) std::byte linear[64 * pitch_bytes];
  bool const k_major = form.a_major == operand_major::k || steps[0].a_in_registers;
  if (steps[0].a_in_registers) {
    for (int s = 0; s < count; ++s)
      linearise_fragment(linear + 32 * s, pitch_bytes, steps[s].a_regs);
  } else {
    chunk_table const a(steps, &wgmma_step_data::a, form.a_major, 64, count);
    linearise(linear, pitch_bytes, a, {0, a.rows, 0, a.columns}, smem);
  }
  run.widen_a(block, linear, k_major);
}

/// D (+)= a panel of float32 sums of integers.
void add_integers(std::int32_t* d, float const* panel, int count, bool accumulate,
                  integer_overflow overflow) {
  if (!accumulate) {
    for (int i = 0; i < count; ++i) d[i] = static_cast<std::int32_t>(panel[i]);
    return;
  }
  if (overflow == integer_overflow::wrap) {
    for (int i = 0; i < count; ++i)
      d[i] = static_cast<std::int32_t>(
          static_cast<std::uint32_t>(d[i]) +
          static_cast<std::uint32_t>(static_cast<std::int32_t>(panel[i])));
    return;
  }
  using limits = std::numeric_limits<std::int32_t>;
  for (int i = 0; i < count; ++i)
    d[i] = static_cast<std::int32_t>(
        std::clamp(std::int64_t{d[i]} + static_cast<std::int32_t>(panel[i]),
                   std::int64_t{limits::min()}, std::int64_t{limits::max()}));
}

/// Steps that can be fused: one multiply with K up to 64.
void run_steps(void* d, wgmma_form const& form, wgmma_step_data const* steps, int count,
               memory smem, memory smem_of_b) {
  product_version const& run = version();
  product_block block;
  block.a_type = form.a_type;
  block.b_type = form.b_type;
  block.k = form.k() * count;
  bool const accumulate = steps[0].accumulate;
  block.accumulate = accumulate && !holds_integer_sums(form.sums);
  prepare_a(block, run, form, steps, count, smem);

  alignas(64) std::byte linear[64 * pitch_bytes];
  alignas(64) float panel[64 * panel_columns];
  bool const k_major = form.b_major == operand_major::k;
  chunk_table const b(steps, &wgmma_step_data::b, form.b_major, form.n, count);
  for (int n = 0; n < form.n; n += panel_columns) {
    int const columns = std::min(panel_columns, form.n - n);
    if (k_major)
      linearise(linear, pitch_bytes, b, {n, n + columns, 0, b.columns}, smem_of_b);
    else
      linearise(linear, panel_bytes, b, {0, b.rows, n / 8, (n + columns) / 8}, smem_of_b);
    if (holds_float_sums(form.sums)) {
      run.multiply(block, static_cast<float*>(d) + 64 * n, columns, linear, k_major);
      continue;
    }
    auto* const halves = static_cast<std::uint32_t*>(d) + 32 * n;
    if (holds_half_sums(form.sums) && accumulate) run.load_halves(panel, halves, columns);
    run.multiply(block, panel, columns, linear, k_major);
    if (holds_half_sums(form.sums))
      run.store_halves(halves, panel, columns);
    else
      add_integers(static_cast<std::int32_t*>(d) + 64 * n, panel, 64 * columns, accumulate,
                   form.overflow);
  }
}

/// Steps that one multiply may have: K is at most 64, and what is rounded or saturated after each
/// step is computed step by step.
int most_steps(wgmma_form const& form) {
  bool const saturates =
      holds_integer_sums(form.sums) && form.overflow == integer_overflow::saturate;
  bool const stepwise = holds_half_sums(form.sums) || saturates;
  return stepwise ? 1 : std::min(4, 64 / form.k());
}

}  // namespace

bool product_isa_available(product_isa isa) {
  return isa == product_isa::portable || isa == product_isa::automatic ||
         vector_product(isa) != nullptr;
}

void select_product_isa(product_isa isa) { selected.store(isa, std::memory_order_relaxed); }

std::optional<std::string> run_wgmma_group(void* d, wgmma_form const& form,
                                           wgmma_step_data const* steps, int count,
                                           std::byte const* smem, std::uint32_t smem_base,
                                           std::uint32_t smem_bytes, sum_mode mode,
                                           std::byte const* smem_of_b) {
  if (auto wrong = check_wgmma_group(form, steps, count, smem_base, smem_bytes)) return wrong;
  memory const of_a{smem, smem_base}, of_b{smem_of_b != nullptr ? smem_of_b : smem, smem_base};
  if (mode == sum_mode::exact) {
    for (int i = 0; i < count; ++i) run_exact_step(d, form, steps[i], of_a, of_b);
    return std::nullopt;
  }
  int const most = most_steps(form);
  for (int first = 0; first < count;) {
    int last = first + 1;
    while (last < count && last < first + most && fuses(steps[last - 1], steps[last])) ++last;
    run_steps(d, form, steps + first, last - first, of_a, of_b);
    first = last;
  }
  return std::nullopt;
}

}  // namespace tw::emu
