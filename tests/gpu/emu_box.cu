// SPDX-License-Identifier: Apache-2.0
// emu_box.cu  TMA loads, stores and additions on a GPU and in the emulator: the same bytes for
//             random boxes of all ranks, types and swizzles, inside and across the tensor's edges.
//             First coordinates are multiples of 16 bytes, and where the tensor is written none is
//             negative: the GPU stops at others. Exit 0 done, 1 wrong, 77 no Hopper.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "emu/elements/box.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/arch/tensor_map.hpp"
#include "tilewright/base/convert.hpp"

namespace {

using namespace tw;

constexpr int image_bytes = 64 * 1024;
constexpr std::uint32_t smem_base = 0x400;

int failures = 0;

void must(cudaError_t e, char const* what) {
  if (e == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(e));
  std::exit(1);
}

enum class action { load, store, add };

/// Fills shared memory with an image, moves one box, and writes shared memory back.
template <int R, action Action>
struct one_box {
  struct params {
    tensor_map map;
    uint4* image;
    tma_coord<R> at;
    int offset, box_bytes;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = image_bytes + 1024;
  struct smem_layout {
    uint4 image[image_bytes / 16];
    mbarrier landed;
  };

  __device__ static void run(params const& p) {
    auto& smem = dynamic_smem<smem_layout>();
    for (int i = thread_id(); i < image_bytes / 16; i += threads) smem.image[i] = p.image[i];
    if (thread_id() == 0) {
      smem.landed.init(1);
      fence_mbarrier_init();
    }
    fence_proxy_async();
    cta_sync();
    char* const box = reinterpret_cast<char*>(smem.image) + p.offset;
    if (thread_id() == 0) {
      if constexpr (Action == action::load) {
        smem.landed.arrive_expect_tx(p.box_bytes);
        tma_load(box, p.map, smem.landed, p.at);
      } else {
        if constexpr (Action == action::store)
          tma_store(p.map, box, p.at);
        else
          tma_reduce_add(p.map, box, p.at);
        tma_store_commit();
        tma_store_wait<0>();
      }
    }
    if constexpr (Action == action::load) smem.landed.wait(0);
    cta_sync();
    for (int i = thread_id(); i < image_bytes / 16; i += threads) p.image[i] = smem.image[i];
  }
};

using random_engine = std::mt19937;
int pick(random_engine& r, int first, int last) {
  return std::uniform_int_distribution(first, last)(r);
}

struct box_case {
  tensor_map_desc map;
  int at[5] = {};
  int offset = 0;
  std::size_t bytes = 0;  // of the tensor
};

box_case random_case(random_engine& r, elem type, bool writes_tensor) {
  box_case c;
  tensor_map_desc& m = c.map;
  m.type = type;
  m.rank = pick(r, 1, 5);
  m.swizzle = swizzle_mode(pick(r, 0, 3));
  int const size = size_bytes(type);
  int const span = m.swizzle == swizzle_mode::none ? 256 : swizzle_span_bytes(m.swizzle);
  m.box[0] = (pick(r, 0, 1) != 0 && span != 256 ? span : 16 * pick(r, 1, span / 16)) / size;
  for (int i = 1; i < m.rank; ++i) m.box[i] = pick(r, 1, m.rank == 2 ? 60 : 5);
  std::int64_t pitch = 0;
  for (int i = 0; i < m.rank; ++i) {
    m.dim[i] = pick(r, 1, 2 * m.box[i]);
    c.at[i] = pick(r, 0, 3) != 0 ? pick(r, 0, static_cast<int>(m.dim[i]) - 1)
                                 : pick(r, -m.box[i], static_cast<int>(m.dim[i]));
    if (i == 0) c.at[0] -= c.at[0] % (16 / size);
    if (writes_tensor) c.at[i] = std::max(c.at[i], 0);
    pitch = i == 0 ? m.dim[0] * size : pitch * m.dim[i];
    pitch = (pitch + 15) / 16 * 16 + 16 * pick(r, 0, 2);
    if (i < 4) m.stride_bytes[i] = pitch;
  }
  c.bytes = static_cast<std::size_t>(pitch);
  c.offset = (m.swizzle == swizzle_mode::none ? 128 : 8 * span) * pick(r, 1, 4);
  return c;
}

/// Random bytes, or N(0,1).
std::vector<std::byte> random_bytes(random_engine& r, std::size_t count, elem type, bool numbers) {
  std::vector<std::byte> v(count);
  for (auto& b : v) b = static_cast<std::byte>(r());
  if (type == elem::tf32)  // many ties between two neighbours
    for (std::size_t i = 0; i + 3 < count; i += 4 * static_cast<std::size_t>(pick(r, 1, 4))) {
      v[i] = std::byte{0};
      v[i + 1] = (v[i + 1] & std::byte{0xE0}) | std::byte{0x10};
    }
  if (!numbers) return v;
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i + 3 < count; i += static_cast<std::size_t>(size_bytes(type))) {
    float const x = normal(r);
    std::uint16_t const bits = type == elem::f16 ? to_f16(x).bits : to_bf16(x).bits;
    if (type == elem::f32)
      std::memcpy(&v[i], &x, 4);
    else
      std::memcpy(&v[i], &bits, 2);
  }
  return v;
}

template <int R, action Action>
bool run_case(box_case c, random_engine& r, bool numbers) {
  std::vector<std::byte> image = random_bytes(r, image_bytes, c.map.type, numbers);
  std::vector<std::byte> tensor = random_bytes(r, c.bytes, c.map.type, numbers);
  void *gpu_tensor = nullptr, *gpu_image = nullptr;
  must(cudaMalloc(&gpu_tensor, c.bytes), "cudaMalloc");
  must(cudaMalloc(&gpu_image, image_bytes), "cudaMalloc");
  must(cudaMemcpy(gpu_tensor, tensor.data(), c.bytes, cudaMemcpyHostToDevice), "upload");
  must(cudaMemcpy(gpu_image, image.data(), image_bytes, cudaMemcpyHostToDevice), "upload");
  typename one_box<R, Action>::params p{};
  c.map.base = gpu_tensor;
  p.map = make_tensor_map(c.map, target::gpu);
  p.image = static_cast<uint4*>(gpu_image);
  for (int i = 0; i < R; ++i) p.at.c[i] = c.at[i];
  p.offset = c.offset;
  p.box_bytes = c.map.box_bytes();
  must((launch<one_box<R, Action>>(1, p, nullptr)), "launch");
  std::vector<std::byte> got_image(image_bytes), got_tensor(c.bytes);
  must(cudaMemcpy(got_image.data(), gpu_image, image_bytes, cudaMemcpyDeviceToHost), "kernel");
  must(cudaMemcpy(got_tensor.data(), gpu_tensor, c.bytes, cudaMemcpyDeviceToHost), "kernel");
  must(cudaFree(gpu_tensor), "cudaFree");
  must(cudaFree(gpu_image), "cudaFree");

  c.map.base = tensor.data();
  std::byte* const box = image.data() + c.offset;
  std::uint32_t const address = smem_base + static_cast<std::uint32_t>(c.offset);
  if (Action == action::load) emu::load_box(c.map, c.at, box, address);
  if (Action == action::store) emu::store_box(c.map, c.at, box, address);
  if (Action == action::add) emu::reduce_add_box(c.map, c.at, box, address);
  bool const same = got_image == image && got_tensor == tensor;
  return same;
}

template <action Action>
bool run_case(box_case const& c, random_engine& r, bool numbers) {
  switch (c.map.rank) {
    case 1: return run_case<1, Action>(c, r, numbers);
    case 2: return run_case<2, Action>(c, r, numbers);
    case 3: return run_case<3, Action>(c, r, numbers);
    case 4: return run_case<4, Action>(c, r, numbers);
    default: return run_case<5, Action>(c, r, numbers);
  }
}

template <action Action>
void compare(char const* text, std::vector<elem> const& types, bool numbers) {
  for (elem type : types) {
    random_engine r(5);
    int wrong = 0;
    for (int i = 0; i < 120; ++i) {
      box_case const c = random_case(r, type, Action != action::load);
      if (c.offset + emu::box_smem_bytes(c.map) > image_bytes) continue;
      if (run_case<Action>(c, r, numbers)) continue;
      if (++wrong > 3) continue;
      std::printf("%s %s rank %d swizzle %d:", text, name(type), c.map.rank, int(c.map.swizzle));
      for (int k = 0; k < c.map.rank; ++k)
        std::printf(" (box %d at %d of %d)", c.map.box[k], c.at[k], int(c.map.dim[k]));
      std::printf("\n");
    }
    std::printf("%s %s: %s\n", text, name(type), wrong == 0 ? "ok" : "WRONG");
    failures += wrong;
  }
}

}  // namespace

int main() {
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major != 9) return 77;
  std::vector<elem> const all{elem::f32, elem::tf32, elem::f16, elem::bf16, elem::e4m3, elem::e5m2};
  std::vector<elem> const sums{elem::f32, elem::f16, elem::bf16};
  compare<action::load>("load", all, false);
  compare<action::store>("store", all, false);
  compare<action::add>("add", sums, true);
  compare<action::add>("add any bits", sums, false);
  std::printf("%s\n", failures == 0 ? "ok" : "FAILED");
  return failures == 0 ? 0 : 1;
}
