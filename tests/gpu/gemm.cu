// SPDX-License-Identifier: Apache-2.0
// gemm.cu  Every kernel on a GPU: random GEMMs up to 8192 against float64 on the device, the
//          emulator's bits against the GPU's, and refusals. Exit 0 done, 1 wrong, 77 no GPU.
#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tools/operand/device_memory.hpp"

namespace {

using namespace tw;
using device_matrix_of_tools = tw::device_matrix;

void must(cudaError_t e, int line = __builtin_LINE()) {
  if (e == cudaSuccess) return;
  std::printf("gemm.cu:%d: %s\n", line, cudaGetErrorString(e));
  std::exit(1);
}

/// A matrix on the device as the check sees it.
struct view {
  void const* data;
  long long row, col, batch;  // strides in elements
  elem type;
};
view view_of(matrix_desc const& m, void const* data) {
  bool const row_major = m.ord == order::row_major;
  return {data, row_major ? m.pitch_elems : 1, row_major ? 1 : m.pitch_elems, m.batch_stride_elems,
          m.type};
}

__device__ double load(view const& v, long long r, long long c, int product) {
  long long const i = r * v.row + c * v.col + product * v.batch;
  if (v.type == elem::f32) return static_cast<float const*>(v.data)[i];
  unsigned short const bits = static_cast<unsigned short const*>(v.data)[i];
  return v.type == elem::bf16 ? to_float(bf16{bits}) : to_float(f16{bits});
}

__device__ unsigned long long hash(unsigned long long z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// The elements of a batch of matrices in memory.
struct extent {
  long long inner, outer, matrices;
  long long pitch, stride;  // elements
  __host__ __device__ long long count() const { return inner * outer * matrices; }
  __device__ long long at(long long i) const {
    return i / inner / outer * stride + i / inner % outer * pitch + i % inner;
  }
};

enum class content { normal, fractions, poison };

/// N(0,1), or multiples of 1/16 in [-8, 8), whose sums of products are exact, or all bits set.
/// Memory between the matrices' lines keeps its poison, NaN.
__global__ void fill(void* data, extent const e, elem type, unsigned long long seed, content what) {
  for (long long n = blockIdx.x * 256LL + threadIdx.x; n < e.count(); n += gridDim.x * 256LL) {
    long long const i = e.at(n);
    unsigned long long const z = hash(seed * 0x9E3779B97F4A7C15ULL + n);
    float x;
    if (what == content::poison) {
      if (type == elem::f32)
        static_cast<unsigned*>(data)[i] = 0xFFFFFFFFU;
      else
        static_cast<unsigned short*>(data)[i] = 0xFFFF;
      continue;
    }
    if (what == content::fractions) {
      x = static_cast<float>(static_cast<int>(z % 256) - 128) / 16.0F;
    } else {
      float const u = (static_cast<float>(z >> 40) + 1) / 16777217.0F;
      x = sqrtf(-2 * logf(u)) * cosf(6.2831853F * static_cast<float>(z & 0xFFFFFF) / 16777216.0F);
    }
    if (type == elem::f32)
      static_cast<float*>(data)[i] = x;
    else
      static_cast<unsigned short*>(data)[i] = type == elem::bf16 ? to_bf16(x).bits : to_f16(x).bits;
  }
}

struct device_verdict {
  unsigned long long wrong;
  double worst_ratio;  // of error to bound
  long long row, col, product;
  double got, want;
};

/// One thread per element of D: the result and the sum of magnitudes in float64, and the bound of
/// tests/kernel/gemm_cases.hpp.
__global__ void check(view a, view b, view c, view d, int m, int n, int k, double alpha,
                      double beta, bool has_c, double rounding, double tiny, device_verdict* out) {
  int const col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  int const of = blockIdx.z;
  if (row >= m || col >= n) return;
  double sum = 0, mag = 0;
  for (int i = 0; i < k; ++i) {
    double const x = load(a, row, i, of) * load(b, i, col, of);
    sum += x;
    mag += fabs(x);
  }
  double want = alpha * sum, size = fabs(alpha) * mag;
  if (has_c) {
    double const x = beta * load(c, row, col, of);
    want += x;
    size += fabs(x);
  }
  double const sum_error = (k + 4.0) * 1.1920928955078125e-7 * size;
  double const bound = sum_error + rounding * (fabs(want) + sum_error) + tiny;
  double const got = load(d, row, col, of);
  double const ratio =
      got == want ? 0 : fabs(got - want) / bound;  // a bound of 0 is kept by equality
  if (!(ratio <= 1)) {
    if (atomicAdd(&out->wrong, 1ULL) == 0) {
      out->row = row;
      out->col = col;
      out->product = of;
      out->got = got;
      out->want = want;
    }
  } else {
    atomicMax(reinterpret_cast<unsigned long long*>(&out->worst_ratio),
              static_cast<unsigned long long>(__double_as_longlong(ratio)));
  }
}

/// Counts bytes that are not poison.
__global__ void stray(unsigned char const* bytes, long long total, unsigned long long* count) {
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < total; i += gridDim.x * 256LL)
    if (bytes[i] != 0xFF) atomicAdd(count, 1ULL);
}

/// How the matrices of a batch lie: one for all, one after the other, or side by side.
enum class batch_form { behind, beside, same };
struct batch_shape {
  long long batch = 1;
  batch_form form = batch_form::behind;
  long long gap = 0;  // elements
};

class device_matrix {
 public:
  device_matrix(elem type, order ord, long long rows, long long cols, long long extra_pitch,
                batch_shape b = {}) {
    long long const inner = ord == order::row_major ? cols : rows;
    long long const outer = ord == order::row_major ? rows : cols;
    long long const matrices = b.form == batch_form::same ? 1 : b.batch;
    bool const beside = b.form == batch_form::beside;
    desc = {type, ord, (beside ? (inner + b.gap) * b.batch : inner) + extra_pitch};
    if (matrices > 1) desc.batch_stride_elems = b.gap + (beside ? inner : desc.pitch_elems * outer);
    elements_ = {inner, outer, matrices, desc.pitch_elems, desc.batch_stride_elems};
    bytes =
        (desc.pitch_elems * outer + desc.batch_stride_elems * (matrices - 1)) * size_bytes(type) +
        64;
    must(cudaMalloc(&data, bytes));
    must(cudaMemset(data, 0xFF, bytes));
  }
  ~device_matrix() {
    static_cast<void>(cudaFree(data));
    static_cast<void>(cudaFree(addresses));
  }
  device_matrix(device_matrix const&) = delete;
  device_matrix& operator=(device_matrix const&) = delete;

  void randomise(unsigned long long seed, bool fractions) const {
    fill<<<1024, 256>>>(data, elements_, desc.type, seed,
                        fractions ? content::fractions : content::normal);
  }
  /// Bytes of the allocation that are not the matrices' and were written. The matrices are lost.
  void count_stray(unsigned long long* count) const {
    fill<<<1024, 256>>>(data, elements_, desc.type, 0, content::poison);
    stray<<<512, 256>>>(static_cast<unsigned char const*>(data), bytes, count);
  }

  /// Turns a batch by strides into one by pointers, the last matrix in memory first; if each
  /// address is a multiple of 16 bytes.
  void give_addresses() {
    long long const step = elements_.stride * size_bytes(desc.type);
    if (elements_.matrices == 1 || step % 16 != 0) return;
    std::vector<void*> host;
    for (long long i = elements_.matrices - 1; i >= 0; --i)
      host.push_back(static_cast<char*>(data) + i * step);
    must(cudaMalloc(&addresses, host.size() * sizeof(void*)));
    must(cudaMemcpy(addresses, host.data(), host.size() * sizeof(void*), cudaMemcpyHostToDevice));
    desc.batch_stride_elems = matrix_desc::by_pointers;
  }
  view seen() const {
    view v = view_of(desc, data);
    if (addresses == nullptr) return v;
    v.data = static_cast<char*>(data) +
             (elements_.matrices - 1) * elements_.stride * size_bytes(desc.type);
    v.batch = -elements_.stride;
    return v;
  }

  matrix_desc desc;
  void* data = nullptr;
  void** addresses = nullptr;
  long long bytes = 0;

 private:
  extent elements_{};
};

/// Memory for the partial sums of split-K tiles.
struct workspace {
  static constexpr std::int64_t bytes = std::int64_t{512} << 20;  // two copies of 134 MB too
  void* data = nullptr;
  workspace() {
    must(cudaMalloc(&data, bytes));
    must(cudaMemset(data, 0, bytes));
  }
};

struct random_choice {
  std::mt19937_64 rng;
  int any(int lo, int hi) {
    return lo + static_cast<int>(rng() % static_cast<unsigned>(hi - lo + 1));
  }
  /// Log-uniform in 1..8192, half of the time a multiple of 8.
  int extent() {
    int const x =
        static_cast<int>(std::exp2(13.0 * static_cast<double>(rng() >> 11) * 0x1p-53) + 0.5);
    return any(0, 1) != 0 ? x : (x + 7) / 8 * 8;
  }
};

bool run_random(random_choice& r, int index, device_verdict* v, unsigned long long* strays) {
  elem const outputs[] = {elem::bf16, elem::f16, elem::f32};
  int m = r.extent(), n = r.extent(), k = r.extent();
  if (index % 40 == 0) m = n = k = 8192 - 8 * r.any(0, 20);
  // A third are batches of smaller GEMMs.
  int const batch = index % 3 == 1 ? r.any(2, index % 2 == 0 ? 6 : 300) : 1;
  int const shrink = batch == 1 ? 1 : batch <= 6 ? 4 : 32;
  m = (m + shrink - 1) / shrink, n = (n + shrink - 1) / shrink, k = (k + shrink - 1) / shrink;
  elem const ab = r.any(0, 1) != 0 ? elem::bf16 : elem::f16;
  auto const ord = [&] { return r.any(0, 1) != 0 ? order::row_major : order::col_major; };
  // A third of the pitches are padded to 16 bytes, so that rows that TMA loads end inside a chunk.
  auto const extra = [&](int inner) {
    int const kind = r.any(0, 5);
    return kind < 2 ? (inner + 7) / 8 * 8 - inner : kind == 2 ? r.any(0, 9) : 0;
  };
  bool const has_c = r.any(0, 2) == 0;
  order const oa = ord(), ob = ord(), od = ord(), oc = ord();
  auto const shape = [&](int forms) {
    if (batch == 1) return batch_shape{};
    return batch_shape{batch, static_cast<batch_form>(r.any(0, forms - 1)),
                       r.any(0, 2) != 0 ? 8 * r.any(0, 3) : r.any(0, 9)};
  };
  device_matrix a(ab, oa, m, k, extra(oa == order::row_major ? k : m), shape(3));
  device_matrix b(ab, ob, k, n, extra(ob == order::row_major ? n : k), shape(3));
  device_matrix d(outputs[r.any(0, 2)], od, m, n, extra(od == order::row_major ? n : m), shape(2));
  device_matrix c(outputs[r.any(0, 2)], oc, has_c ? m : 1, has_c ? n : 1, has_c ? r.any(0, 3) : 0,
                  has_c ? shape(3) : batch_shape{});
  for (device_matrix* x : {&a, &b, &c, &d})
    if (batch > 1 && r.any(0, 1) != 0) x->give_addresses();
  a.randomise(r.rng(), false);
  b.randomise(r.rng(), false);
  c.randomise(r.rng(), false);
  gemm_problem p{m, n, k, a.desc, b.desc, d.desc, std::nullopt, 1.0F, 0.0F, batch};
  if (r.any(0, 1) != 0) p.alpha = 0.25F * static_cast<float>(r.any(-9, 9));
  if (has_c) {
    p.c = c.desc;
    p.beta = 0.5F * static_cast<float>(r.any(-5, 5));
  }
  gemm_operands o{a.data, b.data, has_c ? c.data : nullptr, d.data};
  o.a_array = a.addresses, o.b_array = b.addresses;
  o.c_array = c.addresses, o.d_array = d.addresses;
  static workspace const space;
  o.workspace = space.data, o.workspace_bytes = workspace::bytes;
  // Mostly a plan that would be chosen; at times any other.
  std::vector<gemm_plan> plans = plan_candidates(p, o, gpu_device());
  std::size_t const most = r.any(0, 1) != 0 ? std::min<std::size_t>(plans.size(), 4) : plans.size();
  gemm_plan& plan = plans[r.rng() % most];
  if (r.any(0, 1) != 0)
    plan.schedule.raster = static_cast<order_kind>(r.any(0, 2)),
    plan.schedule.band = 1 << r.any(0, 4);
  gemm(plan, o, nullptr);
  *v = {};
  *strays = 0;
  double const rounding = std::exp2(d.desc.type == elem::bf16  ? -8
                                    : d.desc.type == elem::f16 ? -11
                                                               : -24);
  double const tiny = d.desc.type == elem::f16 ? std::exp2(-25) : 0;
  check<<<dim3((n + 31) / 32, (m + 7) / 8, batch), dim3(32, 8)>>>(
      a.seen(), b.seen(), c.seen(), d.seen(), m, n, k, p.alpha, p.beta, has_c, rounding, tiny, v);
  must(cudaDeviceSynchronize());
  d.count_stray(strays);
  must(cudaDeviceSynchronize());
  bool const right = v->wrong == 0 && *strays == 0;
  if (!right || index % 40 == 0)
    std::printf(
        "%s %3d: %dx%dx%d batch %d (%lld %lld %lld) %s A %s B %s D %s %s ld %lld %lld %lld C "
        "%d %s shared %d by %d: "
        "wrong %llu "
        "stray %llu worst %.3f of the bound; first D(%lld,%lld) of %lld = %g, want %g\n",
        right ? "ok   " : "WRONG", index, m, n, k, batch,
        static_cast<long long>(a.desc.batch_stride_elems),
        static_cast<long long>(b.desc.batch_stride_elems),
        static_cast<long long>(d.desc.batch_stride_elems), name(ab),
        a.desc.ord == order::row_major ? "row" : "col",
        b.desc.ord == order::row_major ? "row" : "col",
        d.desc.ord == order::row_major ? "row" : "col", name(d.desc.type),
        static_cast<long long>(a.desc.pitch_elems), static_cast<long long>(b.desc.pitch_elems),
        static_cast<long long>(d.desc.pitch_elems), has_c, plan.kernel.c_str(),
        plan.schedule.split_k_tiles, plan.schedule.split_k_clusters, v->wrong, *strays,
        v->worst_ratio, v->row, v->col, v->product, v->got, v->want);
  return right;
}

/// 512x512x1024 with 8-bit fractions: every sum is exact, so GPU and emulator agree in every bit.
bool same_bits_as_the_emulator(elem ab, order oa, order ob) {
  int const m = 512, n = 512, k = 1024;
  device_matrix a(ab, oa, m, k, 0), b(ab, ob, k, n, 0), d(ab, order::row_major, m, n, 0);
  a.randomise(7, true);
  b.randomise(8, true);
  gemm_problem const p{m, n, k, a.desc, b.desc, d.desc, std::nullopt, 1.0F, 0.0F};
  gemm(p, {a.data, b.data, nullptr, d.data}, nullptr);
  auto const to_host = [](device_matrix const& x) {
    std::vector<unsigned char> h(static_cast<std::size_t>(x.bytes));
    must(cudaMemcpy(h.data(), x.data, h.size(), cudaMemcpyDeviceToHost));
    return h;
  };
  std::vector<unsigned char> const ha = to_host(a), hb = to_host(b), from_card = to_host(d);
  std::vector<unsigned char> emulated(from_card.size(), 0xFF);
  gemm_emulated(p, {ha.data(), hb.data(), nullptr, emulated.data()});
  long long different = 0;
  for (int i = 0; i < m * n; ++i)
    different += std::memcmp(&from_card[2 * i], &emulated[2 * i], 2) != 0;
  std::printf("%s GPU and emulator, 512x512x1024 %s A %s B %s: %lld of %d results differ\n",
              different == 0 ? "ok   " : "WRONG", name(ab), oa == order::row_major ? "row" : "col",
              ob == order::row_major ? "row" : "col", different, m * n);
  return different == 0;
}

__global__ void illegal() { asm volatile("trap;"); }

/// True if a batch by pointers fails whose last D begins between multiples of 16 bytes. It leaves
/// the process without a usable device.
bool odd_address_fails(gemm_problem p, gemm_operands o) {
  void* host[2] = {o.d, static_cast<char*>(o.d) + 2};
  void** addresses = nullptr;
  must(cudaMalloc(&addresses, sizeof host));
  must(cudaMemcpy(addresses, host, sizeof host, cudaMemcpyHostToDevice));
  p.batch = 2;
  p.d.batch_stride_elems = matrix_desc::by_pointers;
  o.d_array = addresses;
  gemm(p, o, nullptr);
  cudaError_t const e = cudaDeviceSynchronize();
  bool const failed = e == cudaErrorIllegalAddress;
  std::printf("%s odd address: illegal address expected, %s\n", failed ? "ok   " : "WRONG",
              cudaGetErrorString(e));
  return failed;
}

/// True if the GEMM is refused with this code.
bool refused(char const* code, gemm_problem const& p, gemm_operands const& o) {
  std::string got = "no refusal";
  try {
    gemm(p, o, nullptr);
  } catch (rejected const& r) {
    got = r.why().code;
  }
  std::printf("%s refusal: %s expected, %s\n", got == code ? "ok   " : "WRONG", code, got.c_str());
  return got == code;
}

/// A copy without room in the workspace, memory that no GPU has, and a launch after another kernel
/// has failed, first by an odd address. The last leave the process without a usable device.
int check_refusals() {
  device_matrix a(elem::bf16, order::row_major, 64, 64, 0),
      d(elem::bf16, order::row_major, 64, 64, 0);
  gemm_problem p{64, 64, 64, a.desc, a.desc, d.desc, std::nullopt, 1.0F, 0.0F};
  gemm_operands const o{a.data, a.data, nullptr, d.data};
  gemm_problem odd = p;
  odd.k = 33;
  odd.a.pitch_elems = 33;  // is copied to the workspace first
  int failures = !refused("TW0410", odd, o);
  std::string got = "no refusal";
  try {
    device_matrix_of_tools const huge({elem::f16, order::row_major, 1 << 30, 1001, nullptr});
  } catch (rejected const& r) {
    got = r.why().code;
  }
  std::printf("%s refusal: TW0507 expected, %s\n", got == "TW0507" ? "ok   " : "WRONG",
              got.c_str());
  failures += got != "TW0507";
  workspace const space;
  gemm_operands with_space = o;
  with_space.workspace = space.data, with_space.workspace_bytes = workspace::bytes;
  failures += !odd_address_fails(p, o);
  illegal<<<1, 1>>>();
  cudaDeviceSynchronize();
  failures += !refused("TW0506", odd, with_space);
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  if (!gpu().usable) {
    std::printf("%s\n", to_string(gpu().why_not).c_str());
    return 77;
  }
  int const cases = argc > 1 ? std::atoi(argv[1]) : 240;
  unsigned long long const seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20261120;
  std::printf("%s, %d random GEMMs, seed %llu\n", gpu().name.c_str(), cases, seed);
  int failures = 0;
  for (elem const ab : {elem::bf16, elem::f16})
    for (order const oa : {order::row_major, order::col_major})
      for (order const ob : {order::row_major, order::col_major})
        failures += !same_bits_as_the_emulator(ab, oa, ob);
  device_verdict* v = nullptr;
  unsigned long long* strays = nullptr;
  must(cudaMallocManaged(&v, sizeof *v));
  must(cudaMallocManaged(&strays, sizeof *strays));
  random_choice r{std::mt19937_64(seed)};
  double worst = 0;
  for (int i = 0; i < cases && failures < 10; ++i) {
    failures += !run_random(r, i, v, strays);
    worst = std::max(worst, v->worst_ratio);
  }
  failures += check_refusals();
  std::printf("%d cases, %d failures, largest error %.3f of its bound\n", cases, failures, worst);
  return failures == 0 ? 0 : 1;
}
