// SPDX-License-Identifier: Apache-2.0
// gemm_test.cpp  Random GEMMs through the C library against sums in float64 over the tensors'
//                strides, within the proven bound; bytes beside the elements of d stay as they are.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <thread>

#include "tests/c/tensors.hpp"
#include "tilewright/problem/error_bound.hpp"
#include "tilewright/problem/reference.hpp"

namespace tw_c_test {
namespace {

using tw::elem;

tw::tensor_argument argument_of(tensor& t) {
  DLTensor const* const x = t.dl();
  return {x->data, x->ndim, x->shape, x->strides, {x->dtype.code, x->dtype.bits, x->dtype.lanes},
          {}};
}

class dice {
 public:
  explicit dice(std::uint64_t seed) : rng_(seed) {}
  std::int64_t any(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(rng_() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  bool coin() { return any(0, 1) != 0; }
  template <class T>
  T one_of(std::vector<T> const& all) {
    return all[static_cast<std::size_t>(any(0, static_cast<std::int64_t>(all.size()) - 1))];
  }
  float number(elem type) {
    if (type == elem::u8) return static_cast<float>(any(0, 255));
    if (type == elem::s8) return static_cast<float>(any(-128, 127));
    return std::normal_distribution<float>()(rng_);
  }
  /// A matrix of any order, leading dimension, base and distance in the batch.
  tensor matrix(elem type, std::int64_t rows, std::int64_t cols, std::int64_t batch, bool plain) {
    bool const row_major = plain || coin();
    std::int64_t const pitch = (row_major ? cols : rows) + (plain ? 0 : any(0, 3) * any(0, 5));
    std::int64_t const whole = pitch * (row_major ? rows : cols) + (plain ? 0 : any(0, 9));
    extents shape = {rows, cols}, strides = row_major ? extents{pitch, 1} : extents{1, pitch};
    if (batch > 0) shape.insert(shape.begin(), batch), strides.insert(strides.begin(), whole);
    return tensor(type, shape, strides, plain ? 0 : any(0, 3));
  }

 private:
  std::mt19937_64 rng_;
};

/// Runs the call, and compares d with the sums; false where this build lacks the kernel.
bool is_right(tw_gemm_args& g, tensor& a, tensor& b, tensor& d, tensor* c, double alpha,
              double beta, std::string const& text) {
  tw_status const status = tw_gemm(&g);
  if (status != TW_OK && std::string(tw_last_error()->code) == "TW0505") return false;
  EXPECT_EQ(status, TW_OK) << text << ": " << tw_last_error()->text;
  if (status != TW_OK) return true;
  tw::tensor_argument const ta = argument_of(a), tb = argument_of(b), td = argument_of(d);
  tw::tensor_argument const tc = c != nullptr ? argument_of(*c) : tw::tensor_argument{};
  tw::gemm_arguments args{.a = &ta, .b = &tb, .c = c != nullptr ? &tc : nullptr, .d = &td};
  args.alpha = static_cast<float>(alpha), args.beta = static_cast<float>(beta);
  args.precision.promote_k = g.promote == 0 ? 128 : std::max(g.promote, 0);
  tw::gemm_problem const p = tw::gemm_of_tensors(args).problem;
  tw::bound_terms const terms = tw::make_bound_terms(p);
  int wrong = 0;
  d.each([&](std::int64_t z, std::int64_t i, std::int64_t j) {
    tw::exact_sum x{0, 0, 0};
    for (std::int64_t k = 0; k < p.k; ++k) {
      double const left = tw::multiplied_value(a.type(), a.get(a.at(z, i, k)));
      double const right = tw::multiplied_value(b.type(), b.get(b.at(z, k, j)));
      x.s += left * right;
      x.t += tw::bound_magnitude(a.type(), left) * tw::bound_magnitude(b.type(), right);
    }
    if (c != nullptr && beta != 0) x.c = c->get(c->at(z, i, j));
    double const got = d.get(d.at(z, i, j));
    tw::expected_element const e = tw::expect_element(x, terms);
    if (tw::judge(got, e, terms) == tw::verdict::wrong && ++wrong < 3)
      ADD_FAILURE() << text << ": d(" << z << ", " << i << ", " << j << ") is " << got << ", not "
                    << e.value << " within " << e.bound;
  });
  EXPECT_EQ(d.changed_outside(), 0) << text;
  return true;
}

TEST(CGemm, RandomTensorsAreMultiplied) {
  int ran = 0, absent = 0;
  int const rounds = effort(150, 1500);
  for (int round = 0; round < rounds; ++round) {
    dice draw(0xC0DE + static_cast<unsigned>(round));
    auto const [ta, tb] = draw.one_of<std::pair<elem, elem>>({{elem::bf16, elem::bf16},
                                                              {elem::f16, elem::f16},
                                                              {elem::f32, elem::f32},
                                                              {elem::e4m3, elem::e4m3},
                                                              {elem::e5m2, elem::e4m3},
                                                              {elem::s8, elem::s8},
                                                              {elem::u8, elem::s8}});
    bool const integers = tw::is_integer(ta);
    elem const td = draw.one_of<elem>(integers ? std::vector{elem::s32, elem::bf16, elem::f32}
                                               : std::vector{elem::bf16, elem::f16, elem::f32});
    bool const plain = draw.any(0, 3) == 0;
    std::int64_t const m = draw.any(1, 90), n = draw.any(1, 90);
    std::int64_t const k = draw.any(0, 9) == 0 ? 0 : draw.any(1, 150);
    std::int64_t const batch = draw.any(0, 4) == 0 ? draw.any(2, 3) : 0;
    tensor a = draw.matrix(ta, m, k, draw.coin() ? batch : 0, plain);
    tensor b = draw.matrix(tb, k, n, a.shape().size() == 3 && draw.coin() ? 0 : batch, plain);
    tensor d = draw.matrix(td, m, n, batch, plain);
    a.fill([&] { return draw.number(ta); });
    b.fill([&] { return draw.number(tb); });
    tw_gemm_args g = args_of(a, b, d);
    bool const linear = td != elem::s32;
    float alpha = linear && draw.coin() ? 0.75F : 1.0F, beta = draw.coin() ? 1.0F : -0.5F;
    tensor c;
    bool const with_c = linear && draw.coin();
    if (alpha != 1.0F) g.alpha = &alpha;
    if (with_c) {
      c = draw.matrix(draw.one_of<elem>({elem::bf16, elem::f32}), m, n,
                      batch != 0 && draw.coin() ? 0 : batch, plain);
      c.fill([&] { return draw.number(elem::f32); });
      g.c = c.dl();
      if (beta != 1.0F) g.beta = &beta;
    }
    g.promote = draw.one_of<std::int32_t>({0, 64, TW_PROMOTE_NEVER});
    g.threads = static_cast<std::int32_t>(draw.any(0, 2));
    std::string const text = "seed " + std::to_string(round) + ", " + std::to_string(m) + "x" +
                             std::to_string(n) + "x" + std::to_string(k) + " " + tw::name(ta) +
                             " to " + tw::name(td);
    (is_right(g, a, b, d, with_c ? &c : nullptr, alpha, with_c ? beta : 0, text) ? ran : absent)++;
  }
  EXPECT_GT(ran, rounds / 2) << absent << " have no kernel in this build";
}

/// Elements of e4m3 with scales of 1x128 by 128x128, each of which is read where the order says.
TEST(CGemm, ScalesAreReadWhereTheirOrderSays) {
  int const rounds = effort(6, 60);
  for (int round = 0; round < rounds; ++round) {
    dice draw(7 + static_cast<unsigned>(round));
    std::int64_t const m = draw.any(1, 100), n = draw.any(1, 200), k = 16 * draw.any(1, 25);
    std::int64_t const kb = (k + 127) / 128, nb = (n + 127) / 128;
    tensor a(elem::e4m3, {m, k}), b(elem::e4m3, {k, n}, {1, k}), d(elem::bf16, {m, n});
    bool const fortran = draw.coin();
    tensor sa(elem::f32, {m, kb}, fortran ? extents{1, m} : extents{kb, 1});
    tensor sb(elem::f32, {nb, kb});
    for (auto* const t : {&a, &b, &sa, &sb})
      t->fill([&] { return draw.number(t->type()) * (t->type() == elem::f32 ? 0.01F : 1.0F); });
    tw_gemm_args g = args_of(a, b, d);
    g.scale_a = sa.dl(), g.scale_b = sb.dl();
    g.scale_a_as = fortran ? "torch:1x128" : "flashinfer-k:1x128",
    g.scale_b_as = "deepgemm:128x128";
    ASSERT_EQ(tw_gemm(&g), TW_OK) << tw_last_error()->text;
    d.each([&](std::int64_t, std::int64_t i, std::int64_t j) {
      double sum = 0, size = 0;
      for (std::int64_t x = 0; x < k; ++x) {
        double const y = a.get(a.at(0, i, x)) * b.get(b.at(0, x, j)) *
                         sa.get(sa.at(0, i, x / 128)) * sb.get(sb.at(0, j / 128, x / 128));
        sum += y, size += std::fabs(y);
      }
      ASSERT_NEAR(d.get(d.at(0, i, j)), sum, 0.01 * size + 1e-30)
          << round << ": " << i << ", " << j;
    });
  }
}

/// x -> NVFP4 -> GEMM, in the order that tw_quantize_shape() says and in linear order.
TEST(CGemm, QuantisedTensorsGoOnToTheGemm) {
  struct format {
    char const *to, *scaling;
    double error;
  };
  for (format const& f : {format{"nvfp4", nullptr, 0.25},
                          {"nvfp4", "linear", 0.25},
                          {"mxfp4", nullptr, 0.35},
                          {"mxfp8", "linear", 0.08},
                          {"e4m3", "row", 0.08},
                          {"e4m3", "1x128", 0.08},
                          {"int8", "row", 0.03}}) {
    dice draw(11);
    constexpr std::int64_t m = 40, n = 48, k = 256;
    tensor d(elem::bf16, {m, n});
    struct side {
      tensor x, values, scale, second{elem::f32, {1}};
    } of[2] = {};
    for (int is_b = 0; is_b < 2; ++is_b) {
      side& s = of[is_b];
      s.x = tensor(elem::f32, {is_b != 0 ? n : m, k});
      s.x.fill([&] { return draw.number(elem::f32); });
      tw_quantize_args q{};
      q.size = sizeof q, q.x = s.x.dl(), q.to = f.to, q.scaling = f.scaling;
      tw_result r{};
      r.size = sizeof r;
      ASSERT_EQ(tw_quantize_shape(&q, &r), TW_OK) << tw_last_error()->text;
      s.values = tensor(elem::u8, {r.shape[0], r.shape[1]});
      s.values.view().dtype = r.dtype;
      elem const type =
          tw::element_type({r.scale_dtype.code, r.scale_dtype.bits, r.scale_dtype.lanes}, "scale");
      s.scale = tensor(type, extents(r.scale_shape, r.scale_shape + r.scale_ndim),
                       extents(r.scale_strides, r.scale_strides + r.scale_ndim));
      q.d = s.values.dl(), q.scale_d = s.scale.dl();
      if (std::string(f.to) == "nvfp4") q.second_d = s.second.dl();
      ASSERT_EQ(tw_quantize(&q), TW_OK) << f.to << ": " << tw_last_error()->text;
    }
    tw_gemm_args g = args_of(of[0].values, of[1].values, d);
    std::int64_t b_shape[2] = {of[1].values.shape()[1], of[1].values.shape()[0]};
    std::int64_t b_strides[2] = {1, b_shape[0]};
    DLTensor b = *g.b;
    b.shape = b_shape, b.strides = b_strides, g.b = &b;
    g.scale_a = of[0].scale.dl(), g.scale_b = of[1].scale.dl();
    if (std::string(f.to) == "nvfp4")
      g.second_a = of[0].second.dl(), g.second_b = of[1].second.dl();
    if (f.to[0] == 'm' || f.to[0] == 'n') g.format = f.to;
    tw_result r{};
    r.size = sizeof r;
    ASSERT_EQ(tw_result_shape(&g, &r), TW_OK) << tw_last_error()->text;
    EXPECT_EQ(r.dtype.code, kDLBfloat);
    ASSERT_EQ(tw_gemm(&g), TW_OK) << f.to << ": " << tw_last_error()->text;
    double worst = 0;
    d.each([&](std::int64_t, std::int64_t i, std::int64_t j) {
      double sum = 0, norm = 0;
      for (std::int64_t x = 0; x < k; ++x) {
        double const y = of[0].x.get(i * k + x) * of[1].x.get(j * k + x);
        sum += y, norm += y * y;
      }
      worst = std::max(worst, std::fabs(d.get(i * n + j) - sum) / std::sqrt(norm));
    });
    EXPECT_LT(worst, 6 * f.error) << f.to;
    EXPECT_GT(worst, 0);
  }
}

/// A stack is quantised as its matrices are, with one second level for all.
TEST(CGemm, StacksAreQuantisedAsTheirMatrices) {
  constexpr std::int64_t batch = 3, m = 5, k = 96;
  struct output {
    tensor values, scale, second{elem::f32, {1}};
  };
  auto const quantised = [](DLTensor* x, char const* to, char const* scaling, unsigned flags,
                            float second) {
    output out;
    tw_quantize_args q{};
    q.size = sizeof q, q.x = x, q.to = to, q.scaling = scaling, q.flags = flags;
    tw_result r{};
    r.size = sizeof r;
    EXPECT_EQ(tw_quantize_shape(&q, &r), TW_OK) << tw_last_error()->text;
    EXPECT_EQ(r.ndim, x->ndim);
    out.values = tensor(elem::u8, extents(r.shape, r.shape + r.ndim));
    elem const type =
        tw::element_type({r.scale_dtype.code, r.scale_dtype.bits, r.scale_dtype.lanes}, "scale");
    out.scale = tensor(type, extents(r.scale_shape, r.scale_shape + r.scale_ndim),
                       extents(r.scale_strides, r.scale_strides + r.scale_ndim));
    out.second.set(0, second);
    out.values.view().dtype = r.dtype;
    q.d = out.values.dl(), q.scale_d = out.scale.dl();
    if (std::string(to) == "nvfp4") q.second_d = out.second.dl();
    EXPECT_EQ(tw_quantize(&q), TW_OK) << to << ": " << tw_last_error()->text;
    return out;
  };
  dice draw(21);
  tensor x(elem::bf16, {batch, m, k});
  x.fill([&] { return draw.number(elem::bf16); });
  for (auto const& [to, scaling] : {std::pair{"e4m3", "row"},
                                    {"e4m3", "tensor"},
                                    {"int8", "row"},
                                    {"e5m2", "1x128"},
                                    {"mxfp8", "linear"},
                                    {"mxfp4", "32x4x4"},
                                    {"nvfp4", "linear"}}) {
    output all = quantised(x.dl(), to, scaling, 0, 0);
    bool const nvfp4 = std::string(to) == "nvfp4";
    for (std::int64_t z = 0; z < batch; ++z) {
      tensor one(elem::bf16, {m, k});
      one.each([&](std::int64_t, std::int64_t i, std::int64_t j) {
        one.set(i * k + j, static_cast<float>(x.get(x.at(z, i, j))));
      });
      output alone = quantised(one.dl(), to, scaling, nvfp4 ? TW_GIVEN : 0,
                               static_cast<float>(all.second.get(0)));
      alone.values.each([&](std::int64_t, std::int64_t i, std::int64_t j) {
        ASSERT_EQ(alone.values.get(alone.values.at(0, i, j)),
                  all.values.get(all.values.at(z, i, j)))
            << to << " " << scaling;
      });
      if (alone.scale.shape().size() == 2)
        alone.scale.each([&](std::int64_t, std::int64_t i, std::int64_t j) {
          ASSERT_EQ(alone.scale.get(alone.scale.at(0, i, j)), all.scale.get(all.scale.at(z, i, j)))
              << to << " " << scaling;
        });
    }
  }
}

TEST(CGemm, AnEpilogueIsApplied) {
  constexpr std::int64_t m = 33, n = 64, k = 80;
  dice draw(3);
  tensor a(elem::bf16, {m, k}), b(elem::bf16, {k, n}, {1, k}), d(elem::bf16, {m, n}),
      bias(elem::bf16, {n}), aux(elem::bf16, {m, n}), rows(elem::f32, {m, 1});
  for (tensor* t : {&a, &b}) t->fill([&] { return draw.number(elem::f32) * 0.3F; });
  for (std::int64_t j = 0; j < n; ++j) bias.set(j, static_cast<float>(j) / 16);
  tw_gemm_args g = args_of(a, b, d);
  g.bias = bias.dl(), g.activation = "gelu", g.aux = aux.dl();
  ASSERT_EQ(tw_gemm(&g), TW_OK) << tw_last_error()->text;
  auto const x_of = [&](std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t x = 0; x < k; ++x) sum += a.get(i * k + x) * b.get(j * k + x);
    return sum;
  };
  d.each([&](std::int64_t, std::int64_t i, std::int64_t j) {
    double const x = x_of(i, j) + bias.get(j);
    double const y = x / (1 + std::exp(-1.5957691216057308 * x * (1 + 0.044715 * x * x)));
    ASSERT_NEAR(aux.get(i * n + j), x, 0.02 + 0.01 * std::fabs(x));
    ASSERT_NEAR(d.get(i * n + j), y, 0.02 + 0.01 * std::fabs(y));
  });
  tensor half(elem::bf16, {m, n / 2});
  g = args_of(a, b, half);
  g.activation = "silu", g.gate = "split";
  ASSERT_EQ(tw_gemm(&g), TW_OK) << tw_last_error()->text;
  half.each([&](std::int64_t, std::int64_t i, std::int64_t j) {
    double const gate = x_of(i, j), y = gate / (1 + std::exp(-gate)) * x_of(i, j + n / 2);
    ASSERT_NEAR(half.get(i * n / 2 + j), y, 0.02 + 0.01 * std::fabs(y));
  });
}

TEST(CGemm, ScalesOfTheResultAreWritten) {
  constexpr std::int64_t m = 32, n = 256, k = 128;
  dice draw(5);
  tensor a(elem::bf16, {m, k}), b(elem::bf16, {k, n}, {1, k});
  for (tensor* t : {&a, &b}) t->fill([&] { return draw.number(elem::f32); });
  for (char const* const as : {"row", "1x128", "nvfp4", "mxfp8"}) {
    tw_gemm_args g{};
    g.size = sizeof g, g.a = a.dl(), g.b = b.dl(), g.scale_d_as = as;
    tw_result r{};
    r.size = sizeof r;
    ASSERT_EQ(tw_result_shape(&g, &r), TW_OK) << as << ": " << tw_last_error()->text;
    tensor d(elem::u8, {r.shape[0], r.shape[1]});
    d.view().dtype = r.dtype;
    elem const type =
        tw::element_type({r.scale_dtype.code, r.scale_dtype.bits, r.scale_dtype.lanes}, "scale");
    tensor scale(type, extents(r.scale_shape, r.scale_shape + r.scale_ndim),
                 extents(r.scale_strides, r.scale_strides + r.scale_ndim));
    g.d = d.dl(), g.scale_d = scale.dl();
    tw_status const s = tw_gemm(&g);
    if (s != TW_OK && std::string(tw_last_error()->code) == "TW0505") continue;
    ASSERT_EQ(s, TW_OK) << as << ": " << tw_last_error()->text;
    if (std::string(as) != "row") continue;
    for (std::int64_t i = 0; i < m; ++i) {
      double amax = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t x = 0; x < k; ++x) sum += a.get(i * k + x) * b.get(j * k + x);
        amax = std::max(amax, std::fabs(sum));
      }
      EXPECT_NEAR(scale.get(i), amax / 448, 1e-4 * amax);
    }
  }
}

TEST(CGemm, NothingToComputeIsRight) {
  for (auto const& [m, n, k] : {std::array<std::int64_t, 3>{0, 16, 32}, {16, 0, 32}, {0, 0, 0}}) {
    tensor a(elem::e4m3, {m, k}), b(elem::e4m3, {k, n}, {1, std::max<std::int64_t>(k, 1)}),
        d(elem::bf16, {m, n}), sa(elem::f32, {m, 1}), sb(elem::f32, {n, 1});
    tw_gemm_args g = args_of(a, b, d);
    EXPECT_EQ(refusal(tw_gemm(&g)), "") << m << " " << n << " " << k;
    g.scale_a = sa.dl(), g.scale_b = sb.dl();
    EXPECT_EQ(refusal(tw_gemm(&g)), "") << m << " " << n << " " << k;
  }
  tensor a(elem::e4m3, {16, 0}), b(elem::e4m3, {0, 16}), d(elem::bf16, {16, 16}),
      sa(elem::f32, {16, 0}), sb(elem::f32, {16, 0});
  tw_gemm_args g = args_of(a, b, d);
  g.scale_a = sa.dl(), g.scale_b = sb.dl();
  EXPECT_EQ(refusal(tw_gemm(&g)), "");
  d.each([&](std::int64_t, std::int64_t i, std::int64_t j) { EXPECT_EQ(d.get(i * 16 + j), 0); });
}

TEST(CGemm, GroupsOfRowsAreMultiplied) {
  constexpr std::int64_t m = 40, n = 48, k = 64, groups = 3;
  dice random(17);
  tensor a(elem::bf16, {m, k}), b(elem::bf16, {groups, k, n}, {n * k, 1, k}), d(elem::bf16, {m, n});
  for (tensor* const t : {&a, &b}) t->fill([&] { return random.number(elem::bf16); });
  d.fill([] { return 7.0F; });
  tensor ends(elem::s32, {groups});
  std::int64_t const end[] = {9, 9, 35};  // the second group is empty
  for (std::int64_t g = 0; g < groups; ++g) ends.set(g, static_cast<float>(end[g]));
  tw_gemm_args args = args_of(a, b, d);
  args.groups = ends.dl(), args.groups_as = "ends", args.group_axis = "m";
  tw_result r{};
  r.size = sizeof r;
  ASSERT_EQ(refusal(tw_result_shape(&args, &r)), "");
  EXPECT_EQ(r.ndim, 2);
  EXPECT_EQ(r.shape[0], m);
  ASSERT_EQ(refusal(tw_gemm(&args)), "");
  d.each([&](std::int64_t, std::int64_t i, std::int64_t j) {
    double sum = 0, magnitude = 0;
    std::int64_t const g = i < end[0] ? 0 : 2;
    for (std::int64_t x = 0; x < k; ++x) {
      double const product = a.get(a.at(0, i, x)) * b.get(b.at(g, x, j));
      sum += product, magnitude += std::abs(product);
    }
    if (i < end[2])
      EXPECT_NEAR(d.get(d.at(0, i, j)), sum, std::abs(sum) / 256 + magnitude * 1e-5);
    else
      EXPECT_EQ(d.get(d.at(0, i, j)), 7);
  });
  EXPECT_EQ(d.changed_outside(), 0);
  tw_plan* plan = nullptr;
  ASSERT_EQ(refusal(tw_plan_make(&args, &plan)), "");
  EXPECT_EQ(refusal(tw_plan_run(plan, &args)), "");
  ends.set(2, 41);
  EXPECT_EQ(refusal(tw_gemm(&args)), "TW0496 number of group 2");
  EXPECT_EQ(refusal(tw_plan_run(plan, &args)), "TW0496 number of group 2");
  tw_plan_free(plan);
  args.groups = nullptr;
  EXPECT_EQ(refusal(tw_gemm(&args)), "TW0484 groups");
}

TEST(CGemm, ThreadsHaveTheirOwnErrorsAndResults) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t, &wrong] {
      for (int round = 0; round < 10; ++round) {
        std::int64_t const k = 16 + 8 * t;
        tensor a(elem::bf16, {20, k}), b(elem::bf16, {k, 24}), d(elem::f32, {20, 24});
        a.fill([] { return 1.0F; });
        b.fill([] { return 1.0F; });
        tw_gemm_args g = args_of(a, b, d);
        if (tw_gemm(&g) != TW_OK || d.get(0) != static_cast<double>(k)) ++wrong;
        a.shape()[1] = k + t + 1;
        if (tw_gemm(&g) != TW_REFUSED) ++wrong;
        std::string const want = "a 20x" + std::to_string(k + t + 1);
        if (std::string(tw_last_error()->got).find(want) == std::string::npos) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tw_c_test
