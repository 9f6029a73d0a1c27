// SPDX-License-Identifier: Apache-2.0
// kernels.cpp  Each built kernel on one problem that its facts describe, against float64.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tools/check/check.hpp"
#include "tools/check/random_weights.hpp"
#include "tools/check/selftest/digest.hpp"
#include "tools/check/selftest/selftest.hpp"
#include "tools/operand/device_memory.hpp"
#include "tools/operand/memory.hpp"
#include "tools/operand/random_elements.hpp"

namespace tw::selftest {

namespace {

/// Values in host memory, and a copy on the GPU where that runs the kernel.
class array {
 public:
  array(elem type, order ord, std::int64_t rows, std::int64_t cols, std::int64_t pitch)
      : view_{.type = type, .ord = ord},
        bytes_(bytes_of(type, elements{pitch * (ord == order::row_major ? rows : cols)})) {
    // One line: leading dimensions are those of the problem on both machines.
    view_.rows = 1, view_.ord = order::row_major;
    view_.cols = pitch * (ord == order::row_major ? rows : cols);
    view_.data = bytes_.data();
  }
  std::byte* data() { return bytes_.data(); }
  std::size_t size() const { return static_cast<std::size_t>(view_.size().count); }
  void fill(std::mt19937& random) { fill_normal(view_.type, {data(), size()}, random); }
  void upload() {
    device_.emplace(view_);
    device_->upload();
  }
  void download() { device_->download(data()); }
  void* where() { return device_ ? device_->data() : data(); }

 private:
  matrix_view view_;
  host_buffer bytes_;
  std::optional<device_matrix> device_;
};

/// The middle of a range.
int middle(value_range r) { return r.lo + (r.hi - r.lo) / 2 / r.step * r.step; }

/// A kernel's problem, its operands, and a plan that has the kernel.
class trial {
 public:
  /// staged: a second launch quantises the float32 D of the kernel.
  trial(gemm_family const& family, int kernel, bool on_gpu, bool staged = false)
      : family_(family),
        kernel_(kernel),
        on_gpu_(on_gpu),
        staged_(staged),
        facts_(family.facts(kernel)) {}

  finding run() {
    finding f{.name = family_.name(kernel_) + (staged_ ? ", D quantised by a second launch" : "")};
    describe();
    f.problem = fmt::format("{} x {} x {}", p_.m, p_.n, p_.k);
    array a(p_.a.type, p_.a.ord, p_.m, p_.k, p_.a.pitch_elems);
    array b(p_.b.type, p_.b.ord, p_.k, p_.n, p_.b.pitch_elems);
    array d(p_.d.type, p_.d.ord, p_.m, d_cols_, p_.d.pitch_elems);
    array aux(p_.d.type, p_.d.ord, p_.m, p_.n, p_.d.ord == order::row_major ? p_.n : p_.m);
    array ones(elem::f32, order::row_major, 1, 1, (p_.m + p_.n + 16) * (p_.k / 128 + 4));
    std::mt19937 random(20261125);
    array scale_d(elem::f32, order::row_major, 1, 1, (p_.m + 127) * (d_cols_ / 128 + 1));
    a.fill(random);
    b.fill(random);
    for (std::size_t i = 0; i < ones.size() / 4; ++i) reinterpret_cast<float*>(ones.data())[i] = 1;
    // Scales of blocks, 1 in each byte.
    int const factor = facts_.block_scaled == block_format::nvfp4 ? 0x38 : 127;
    array factors(elem::u8, order::row_major, 1, 1, (p_.m + p_.n + 256) * (p_.k / 16 + 4));
    std::fill_n(factors.data(), factors.size(), static_cast<std::byte>(factor));
    array sizes(elem::s32, order::row_major, 1, 1,
                std::max<std::int64_t>(1, 2 * static_cast<std::int64_t>(sizes_.size())));
    std::memcpy(sizes.data(), sizes_.data(), sizes_.size() * sizeof(std::int64_t));
    std::vector<std::byte> prepared;
    role const weighted = swapped_ ? role::b : role::a;
    if (facts_.weights)
      prepared =
          random_weights({outer_extent(p_, weighted), p_.k, 1, weights(p_, weighted)}, random);
    array blocks(elem::u8, order::row_major, 1, 1,
                 std::max<std::int64_t>(1, static_cast<std::int64_t>(prepared.size())));
    std::ranges::copy(prepared, blocks.data());
    array* const all[] = {&a, &b, &d, &aux, &ones, &factors, &scale_d, &sizes, &blocks};
    if (on_gpu_)
      for (array* x : all) x->upload();
    auto const operands = [&](auto&& place) {
      gemm_operands o{place(a), place(b), nullptr, place(d)};
      if (p_.aux) o.aux = place(aux);
      if (facts_.weights) set_address(o, weighted, place(blocks));
      for (role const x : a_and_b) {
        if (!scale(p_, x)) continue;
        set_address(o, scales_of(x), place(facts_.block_scaled ? factors : ones));
        if (scale(p_, x)->second_level) set_address(o, second_level_of(x), place(ones));
      }
      if (p_.scale_d) o.scale_d = place(scale_d);
      if (p_.groups) o.groups = place(sizes);
      return o;
    };
    gemm_operands o = operands([](array& x) -> void* { return x.where(); });
    emu_options options;
    options.sms = facts_.device_sms > 0 ? facts_.device_sms : 4;
    device const dev = on_gpu_ ? gpu_device() : emulated_device(options, facts_.device);
    try {
      o.workspace_bytes = device_workspace::size_bytes;
      std::optional<device_workspace> device_space;
      if (on_gpu_) o.workspace = device_space.emplace().data();
      std::vector<gemm_plan> plans = plan_candidates(p_, o, dev);
      std::erase_if(plans, [&](gemm_plan const& x) {
        return x.family != &family_ || x.instance != kernel_ || x.swapped != swapped_ ||
               x.stage_d != staged_;
      });
      if (plans.empty()) {
        f.trouble = "no plan of this device has the kernel";
        return f;
      }
      if (on_gpu_) {
        time_on_device([&](cudaStream_t stream) { gemm(plans.front(), o, stream); });
        d.download();
        aux.download();
        scale_d.download();
      } else {
        o.workspace_bytes =
            plans.front().workspace_bytes;  // no more: what the plan states suffices
        host_buffer space(bytes{o.workspace_bytes});
        std::fill_n(space.data(), std::min(o.workspace_bytes, gemm_workspace_zeros), std::byte{0});
        o.workspace = space.data();
        gemm_emulated(plans.front(), o, options);
      }
    } catch (rejected const& r) {
      f.trouble = to_string(r.why());
      return f;
    } catch (emu::fault const& e) {
      f.trouble = e.diagnoses().front().code + " " + e.diagnoses().front().text;
      return f;
    }
    check_report const c = check_gemm(p_, operands([](array& x) -> void* { return x.data(); }));
    f.compared = c.rows_checked * c.cols;
    f.wrong = c.wrong;
    f.largest_ratio = c.largest_ratio.ratio;
    f.digest = digest_of(std::span(d.data(), d.size()));
    f.passed = c.passed();
    return f;
  }

 private:
  /// The problem, in the form as run; but where the kernel writes columns of D with scales, which
  /// belong to rows, or pairs rows of weights with a gate, which belongs to columns, the transposed
  /// one.
  void describe() {
    using enum order;
    swapped_ = (facts_.epilogue.scales && facts_.d_order == col_major) ||
               (facts_.epilogue.gate && facts_.weights);
    p_.m = middle(swapped_ ? facts_.n : facts_.m);
    p_.n = middle(swapped_ ? facts_.m : facts_.n), p_.k = middle(facts_.k);
    if (facts_.epilogue.gate) p_.n = (p_.n + 15) / 16 * 16;
    auto const operand = [&](elem type, bool k_major, order with_k, std::int64_t other) {
      matrix_desc m{type,
                    k_major               ? with_k
                    : with_k == row_major ? col_major
                                          : row_major,
                    k_major ? p_.k : other};
      std::int64_t const step = std::max<std::int64_t>(facts_.ld_step, 128 / size_bits(type));
      m.pitch_elems = (m.pitch_elems + step - 1) / step * step;
      return m;
    };
    elem const a = facts_.ab, b = facts_.b_type.value_or(facts_.ab);
    bool const a_by_k = facts_.a == operand_major::k, b_by_k = facts_.b == operand_major::k;
    p_.a = operand(swapped_ ? b : a, swapped_ ? b_by_k : a_by_k, row_major, p_.m);
    p_.b = operand(swapped_ ? a : b, swapped_ ? a_by_k : b_by_k, col_major, p_.n);
    p_.precision = facts_.precision;
    role const weighted = swapped_ ? role::b : role::a;
    weights(p_, weighted) = facts_.weights;
    if (facts_.weights) matrix_of(p_, weighted)->pitch_elems = p_.k;
    group_axis const axis = swapped_ ? transposed(facts_.groups) : facts_.groups;
    if (axis != group_axis::none) {
      // Of K one group, whose D is D; of others two, and an empty one between them.
      bool const of_k = axis == group_axis::k;
      p_.groups = group_desc{
          .axis = axis, .form = group_form::sizes, .count = of_k ? 1 : 3, .index_bits = 64};
      std::int64_t const total = ragged_extent(p_), step = step_of_numbers(p_);
      std::int64_t const first = total / 3 / step * step;
      sizes_ = {total};
      if (!of_k) sizes_ = {first, 0, total - first};
      if (facts_.scaled && axis == group_axis::k)
        p_.groups->scale_blocks = (p_.k + scale_block_k - 1) / scale_block_k;
    }
    d_cols_ = facts_.epilogue.gate ? p_.n / 2 : p_.n;
    order const d = swapped_ ? row_major : facts_.d_order.value_or(row_major);
    p_.d = {facts_.d, d, d == row_major ? d_cols_ : p_.m};
    for (role const x : a_and_b) {
      scaled_operand const of{x == role::b, outer_extent(p_, x), p_.k};
      if (facts_.block_scaled) scale(p_, x) = make_block_scale(of, *facts_.block_scaled);
      // A scale for each of the rows, or of the columns that groups divide; of K for both.
      role const each = facts_.groups == group_axis::n ? role::b : role::a;
      bool const of_lines = x == each || axis == group_axis::k;
      if (facts_.scaled)
        scale(p_, x) = make_scale(of, of_lines ? scaling::block_1x128 : scaling::block_128x128);
    }
    if (facts_.epilogue.ops || facts_.epilogue.gate || facts_.epilogue.aux)
      p_.epilogue.act = activation::relu;
    if (facts_.epilogue.gate) p_.epilogue.gate = gating::split;
    if (facts_.weights) weights(p_, weighted).gate = p_.epilogue.gate;
    if (facts_.epilogue.scales && facts_.block_scaled)
      p_.scale_d = make_block_result(*facts_.block_scaled, p_.m, d_cols_);
    else if (facts_.epilogue.scales)
      p_.scale_d = output_scales{make_scale({false, p_.m, d_cols_}, scaling::block_1x128)};
    if (facts_.epilogue.aux) p_.aux = matrix_desc{facts_.d, d, d == row_major ? p_.n : p_.m};
    if (!staged_) return;
    p_.d.type = elem::e4m3;
    p_.scale_d = output_scales{make_scale({false, p_.m, d_cols_}, scaling::block_1x128)};
  }

  gemm_family const& family_;
  int kernel_;
  bool on_gpu_, staged_;
  kernel_facts facts_;
  gemm_problem p_{};
  bool swapped_ = false;
  std::vector<std::int64_t> sizes_;  // of groups
  std::int64_t d_cols_ = 0;
};

/// Does the current GPU run kernels for a described device?
bool runs_on_gpu(kernel_facts const& facts) {
  return known_device(facts.device).compute_capability / 10 == gpu().compute_capability / 10;
}

}  // namespace

std::vector<finding> run_kernels(bool on_gpu, std::string const& text) {
  std::vector<finding> all;
  for (gemm_family const* family : families()) {
    bool staged = false;  // once for a family
    for (int kernel = 0; kernel < family->kernel_count(); ++kernel) {
      kernel_facts const facts = family->facts(kernel);
      if (!family->built(kernel) || (on_gpu && !runs_on_gpu(facts))) continue;
      if (family->name(kernel).find(text) == std::string::npos) continue;
      all.push_back(trial(*family, kernel, on_gpu).run());
      bool const row_major = facts.d_order.value_or(order::row_major) == order::row_major;
      if (staged || facts.d != elem::f32 || facts.groups != group_axis::none ||
          !(facts.epilogue == epilogue_operands{}) || !row_major)
        continue;
      all.push_back(trial(*family, kernel, on_gpu, true).run());
      staged = true;
    }
  }
  return all;
}

}  // namespace tw::selftest
