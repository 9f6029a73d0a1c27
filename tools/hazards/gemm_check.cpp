// SPDX-License-Identifier: Apache-2.0
// gemm_check.cpp  Random problems, planned for the kernel under test.
#include "tools/hazards/gemm_check.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <thread>

#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tilewright/problem/scale_place.hpp"
#include "tools/check.hpp"
#include "tools/io/refuse.hpp"
#include "tools/mutants/mutants.hpp"
#include "tools/progress_bar.hpp"
#include "tools/random_elements.hpp"

namespace tw::hazards {

namespace {

/// A kernel under test.
struct checked_kernel {
  gemm_family const* family;
  int kernel;
  std::string name;
};

/// Those of this build.
std::vector<checked_kernel> all_kernels() {
  std::vector<checked_kernel> all;
  for (gemm_family const* f : families())
    for (int kernel = 0; kernel < f->kernel_count(); ++kernel)
      if (f->built(kernel)) all.push_back({f, kernel, f->name(kernel)});
  return all;
}

/// A matrix of random values, or of NaN, with a leading dimension that may be padded. Accesses of
/// the margins before and after it are reported (E0052).
struct matrix {
  static constexpr std::size_t margin_bytes = 4096;
  matrix_desc desc;
  std::vector<std::byte> memory;  // with the margins
  std::span<std::byte> bytes;

  matrix(elem type, order ord, std::int64_t rows, std::int64_t cols, std::int64_t pad) {
    std::int64_t const inner = ord == order::row_major ? cols : rows;
    std::int64_t const outer = ord == order::row_major ? rows : cols;
    desc = {type, ord, inner + pad};
    auto const count = static_cast<std::size_t>(desc.pitch_elems * outer * size_bytes(type));
    memory.assign(count + 2 * margin_bytes, std::byte{0xFF});
    bytes = std::span(memory).subspan(margin_bytes, count);
  }
  matrix(matrix const&) = delete;
  matrix& operator=(matrix const&) = delete;
  void fill(std::mt19937_64& random) { fill_normal(desc.type, bytes, random); }
};

class gemm_runner {
 public:
  gemm_runner(checked_kernel const& k, std::vector<shape> const& shapes)
      : kernel_(k),
        facts_(k.family->facts(k.kernel)),
        shapes_(shapes) {}

  /// Run number i of this kernel; given shapes are used in turn. With the same key it repeats.
  /// Each kernel has different problems. Problems that the planner does not give to this kernel are
  /// replaced, unless the shape is given.
  void run(int i, run_key const& key, kernel_result& result) {
    constexpr int max_draws = 32;
    for (int draw = 0; draw < (shapes_.empty() ? max_draws : 1); ++draw)
      if (run_drawn(i, draw, key, result)) return;
  }

 private:
  /// Returns whether the planner gives the problem of this draw to the kernel.
  bool run_drawn(int i, int draw, run_key key, kernel_result& result) {
    std::string words = fmt::format("{} {} {}", result.name, key.family, key.seed);
    if (draw > 0) words += fmt::format(" {}", draw);
    std::seed_seq seeds(words.begin(), words.end());
    std::mt19937_64 random(seeds);
    auto const any = [&](int lo, int hi) {
      return lo + static_cast<int>(random() % static_cast<unsigned>(hi - lo + 1));
    };
    auto const in = [&](value_range r) { return r.lo + r.step * any(0, (r.hi - r.lo) / r.step); };
    key.shape = {in(facts_.m), in(facts_.n), in(facts_.k)};
    if (!shapes_.empty()) key.shape = shapes_[static_cast<std::size_t>(i) % shapes_.size()];
    if (facts_.epilogue.gate) key.shape[1] = (key.shape[1] + 15) / 16 * 16;
    using enum order;
    // Does the kernel compute D^T = B^T A^T? Scales of D belong to its rows.
    bool const swapped = facts_.epilogue.scales ? facts_.d_order == col_major
                                                : !facts_.epilogue.gate && any(0, 1) != 0;
    if (swapped && shapes_.empty()) std::swap(key.shape[0], key.shape[1]);
    auto const m = key.shape[0], n = key.shape[1], k = key.shape[2];
    operand_major const a_major = swapped ? facts_.b : facts_.a;
    operand_major const b_major = swapped ? facts_.a : facts_.b;
    auto const pad = [&] { return any(0, 2) == 0 ? facts_.ld_step * any(0, 9) : 0; };
    elem const first = facts_.ab, second = facts_.b_type.value_or(facts_.ab);
    // Others are transposed first; a gate needs a K-major B.
    bool const any_order = traits_of(first).k_major_only && !facts_.epilogue.gate;
    auto const order_of = [&](operand_major major, order k_order, order other) {
      return major == operand_major::k && !(any_order && any(0, 3) == 0) ? k_order : other;
    };
    matrix a(swapped ? second : first, order_of(a_major, row_major, col_major), m, k, pad());
    matrix b(swapped ? first : second, order_of(b_major, col_major, row_major), k, n, pad());
    if (first == elem::tf32 && any(0, 2) == 0) a.desc.type = b.desc.type = elem::f32;
    auto const d_cols = facts_.epilogue.gate ? n / 2 : n;
    bool const d_by_cols =
        facts_.d_order ? swapped != (*facts_.d_order == col_major) : any(0, 1) != 0;
    matrix d(facts_.d, d_by_cols ? col_major : row_major, m, d_cols, pad());
    bool const exact = facts_.d == elem::s32;  // D is the sum itself
    elem const c_type = size_bytes(facts_.d) == 1 || exact ? elem::f32 : facts_.d;
    matrix c(c_type, any(0, 1) != 0 ? col_major : row_major, m, d_cols, 0);
    matrix vectors(elem::f32, row_major, 3, std::max(m, n), 0);  // bias, scales of rows, of columns
    matrix aux(facts_.d, d.desc.ord, m, n, pad());
    for (matrix* x : {&a, &b, &c, &vectors}) x->fill(random);
    gemm_problem p{m, n, k, a.desc, b.desc, d.desc, std::nullopt, 1.0F, 0.0F};
    p.precision = facts_.precision;
    if (!exact && any(0, 2) == 0) {
      p.c = c.desc;
      p.beta = any(0, 1) != 0 ? 1.0F : -0.75F;
    }
    if (!exact && any(0, 2) == 0) p.alpha = 1.5F;
    gemm_operands o{a.bytes.data(), b.bytes.data(), p.c ? c.bytes.data() : nullptr, d.bytes.data()};
    auto const* const lines = reinterpret_cast<float const*>(vectors.bytes.data());
    o.bias = lines, o.row_scale = lines + std::max(m, n), o.col_scale = lines + 2 * std::max(m, n);
    matrix scale_a(elem::f32, row_major, 1, scale_elems(m, k), 0);
    matrix scale_b(elem::f32, row_major, 1, scale_elems(n, k), 0);
    if (facts_.scaled) {
      p.scale_a = random_scales({false, m, k}, scale_a, random);
      p.scale_b = random_scales({true, n, k}, scale_b, random);
      if (fits_epilogue(*p.scale_a, m, k) && fits_epilogue(*p.scale_b, n, k)) return false;
      o.scale_a = scale_a.bytes.data(), o.scale_b = scale_b.bytes.data();
    }
    if (facts_.epilogue.ops) p.epilogue = random_epilogue(any, facts_.epilogue.gate);
    matrix scale_d(elem::f32, row_major, 1, scale_elems(m, d_cols), 0);
    if (facts_.epilogue.scales) {
      p.scale_d = random_result_scales({false, m, d_cols}, random);
      o.scale_d = scale_d.bytes.data();
      float const given = 0.37F;
      if (p.scale_d->given) std::memcpy(o.scale_d, &given, sizeof given);
    }
    if (facts_.epilogue.aux) p.aux = aux.desc, o.aux = aux.bytes.data();
    o.workspace = workspace_.get();
    o.workspace_bytes = workspace_bytes;
    emu::options options = mutants::schedule(key.family, key.seed);
    options.sms = facts_.device_sms > 0 ? facts_.device_sms : 2 + 2 * any(0, 2);
    options.most_reports = emu::options{}.most_reports;
    options.counted = &result.counts;
    for (matrix const* x : {&a, &b, &c, &d, &vectors, &aux, &scale_a, &scale_b, &scale_d})
      options.arrays.push_back({x->bytes.data(), x->bytes.size(), matrix::margin_bytes});
    std::vector<gemm_plan> plans = plan_candidates(p, o, emulated_device(options, facts_.device));
    std::erase_if(plans, [&](gemm_plan const& x) {
      return x.family != kernel_.family || x.instance != kernel_.kernel || x.swapped != swapped ||
             x.stage_d;
    });
    if (plans.empty()) return false;
    judge(plans[random() % plans.size()], o, options, key, result);
    return true;
  }

  /// Enough for the scales of any convention.
  static std::int64_t scale_elems(std::int64_t outer, std::int64_t k) {
    return (outer + 3) / 4 * 4 * ((k + 511) / 512 * 4);
  }

  /// A convention of the libraries, and scales from 1/16 to 32.
  static scale_desc random_scales(scaled_operand const& x, matrix& scales,
                                  std::mt19937_64& random) {
    elem const type = std::array{elem::f32, elem::f32, elem::ue8m0, elem::s32}[random() % 4];
    std::vector<scale_convention> const all = scale_conventions(x, type);
    bool const is_float = type == elem::f32;
    for (std::size_t i = 0; i + 4 <= scales.bytes.size(); i += 4) {
      float const f = std::ldexp(1.0F + static_cast<float>(random() % 100) / 100,
                                 static_cast<int>(random() % 9) - 4);
      std::uint32_t word = __builtin_bit_cast(std::uint32_t, f);
      if (!is_float) word = 0x7B7B7B7BU + (static_cast<std::uint32_t>(random()) & 0x07070707U);
      std::memcpy(&scales.bytes[i], &word, 4);
    }
    return all[random() % all.size()].desc;
  }

  /// Scales of D that a kernel computes, in the order of any library, or one that is given.
  static output_scales random_result_scales(scaled_operand const& over, std::mt19937_64& random) {
    if (random() % 4 == 0) return {{}, true, false};
    elem const type = std::array{elem::f32, elem::f32, elem::ue8m0, elem::s32}[random() % 4];
    std::vector<scale_convention> all = scale_conventions(over, type);
    std::erase_if(all, [](scale_convention const& c) { return c.kind != scaling::block_1x128; });
    return {all[random() % all.size()].desc, false, type != elem::f32 || random() % 2 == 0};
  }

  template <class Any>
  static gemm_epilogue random_epilogue(Any const& any, bool gated) {
    gemm_epilogue e;
    e.act = static_cast<activation>(any(gated ? 0 : 1, activation_count - 1));
    e.bias = static_cast<along>(any(0, 2));
    e.row_scale = any(0, 1) != 0, e.col_scale = any(0, 1) != 0;
    e.c_last = gated || any(0, 1) != 0;
    if (gated) e.gate = any(0, 1) != 0 ? gating::split : gating::interleaved;
    return e;
  }

  static constexpr std::int64_t workspace_bytes = std::int64_t{16} << 20;
  struct release {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{256}); }
  };
  std::unique_ptr<std::byte[], release> const workspace_{new (std::align_val_t{256})
                                                             std::byte[workspace_bytes]()};

  void judge(gemm_plan const& plan, gemm_operands const& o, emu::options const& options,
             run_key const& key, kernel_result& result) const {
    ++result.runs;
    try {
      gemm_emulated(plan, o, options);
    } catch (emu::fault const& f) {
      std::fill_n(workspace_.get(), gemm_workspace_zeros,
                  std::byte{0});  // counters that are not zero
      ++result.bad_runs;
      for (emu::diagnosis const& d : f.diagnoses())
        result.add({d.code, d.kind, d.text, d.count, 0, key, {}});
      return;
    }
    check_report const c = check_gemm(plan.problem, o);
    result.elements += c.rows_checked * c.cols;
    if (c.passed()) return;
    ++result.bad_runs;
    result.wrong_elements += c.wrong;
    result.add({"",
                "wrong-elements",
                fmt::format("wrong elements: {} of {}{} in this run", c.wrong, c.rows * c.cols,
                            c.wrong_scales == 0 ? ""
                                                : fmt::format(", and {} of {} scales of D",
                                                              c.wrong_scales, c.scales)),
                c.wrong + c.wrong_scales,
                0,
                key,
                {}});
  }

  checked_kernel const& kernel_;
  kernel_facts facts_;
  std::vector<shape> const& shapes_;
};

}  // namespace

std::vector<kernel_result> check_gemm_kernels(request const& r) {
  std::vector<int> const families = families_of(r);
  std::vector<shape> shapes;
  for (std::string const& text : r.shapes) shapes.push_back(parse_shape(text, 3, "M,N,K"));
  int const per_family = r.seeds > 0 ? r.seeds : 1;
  int const runs = r.runs > 0 ? r.runs : per_family * static_cast<int>(families.size());
  std::vector<checked_kernel> chosen;
  for (checked_kernel const& k : all_kernels())
    if (k.name.find(r.kernel) != std::string::npos &&
        (r.family.empty() || k.family->id() == r.family))
      chosen.push_back(k);
  if (chosen.empty() && !r.family.empty() && find_family(r.family) == nullptr)
    refuse("TW0634", "--family", r.family,
           "a family such as " + std::string(tw::families()[0]->id()));
  if (chosen.empty())
    refuse("TW0634", "--kernel", r.kernel, "part of a name such as " + all_kernels()[0].name);

  std::vector<kernel_result> results(chosen.size());
  std::atomic<std::size_t> next{0};
  std::atomic<int> done{0};
  progress_bar bar(!r.quiet);
  std::mutex mutex;
  std::exception_ptr error;
  auto const work = [&] {
    try {
      for (std::size_t i = next++; i < chosen.size(); i = next++) {
        results[i].name = chosen[i].name;
        gemm_runner runner(chosen[i], shapes);
        auto const count = static_cast<int>(families.size());
        for (int x = 0; x < runs; ++x) {
          runner.run(x,
                     {{},
                      families[static_cast<std::size_t>(x % count)],
                      r.first_seed + static_cast<std::uint64_t>(x / count)},
                     results[i]);
          bar.update(static_cast<double>(++done) / (runs * static_cast<double>(chosen.size())));
        }
      }
    } catch (...) {
      std::scoped_lock const lock(mutex);
      error = std::current_exception();
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
    workers.emplace_back(work);
  for (std::thread& w : workers) w.join();
  if (error) std::rethrow_exception(error);
  return results;
}

}  // namespace tw::hazards
