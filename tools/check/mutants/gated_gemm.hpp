// SPDX-License-Identifier: Apache-2.0
// gated_gemm.hpp  The GEMM with a gate before its loads, on several devices whose rows of A copy
//                 engines bring, with correct steps at the gate or faulty ones.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tilewright/arch/emu/devices.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/kernel/ranks/divided.hpp"
#include "tilewright/kernel/sm90/gemm.hpp"

namespace tw::mutants {

inline constexpr gemm_config gated_config{
    .a = {elem::bf16, elem::bf16, operand_major::k},
    .b = {elem::bf16, elem::bf16, operand_major::k},
    .d = elem::bf16,
    .tile_m = 64,
    .tile_n = 64,
    .cluster_m = 1,
    .stages = 4,
};
template <class Steps>
struct gated_gemm : gemm_sm90_kernel<gated_config, no_profile, shard_gate_of<Steps>> {};

/// Operands of all ranks: A is gathered, each rank has its B and D. Sums are exact.
struct gated_product {
  static constexpr int n = 128, k = 2 * gated_config.tile_k(), ctas = 2;
  static constexpr int most_ranks = 4;  // of one launch
  static constexpr std::uint32_t digest = 0xABCD;
  struct rank {
    gpu_arena_head head = {};
    failure_record report = {};
    std::vector<std::uint16_t> own, received[2], b, d;
  };
  std::vector<int> first_row;
  std::vector<std::uint16_t> a;
  std::vector<std::unique_ptr<rank>> of;
  std::uint64_t timeout_ns = ~std::uint64_t{0};
  unsigned silent = 0;     // bit r: the copy engines of rank r do nothing
  bool next_call = false;  // copies of the next call into the same buffer follow at once
  std::function<void const*(void const*)> moved;  // by default operands stay in host memory

  explicit gated_product(std::vector<int> const& shards) : first_row{0} {
    for (int const rows : shards) first_row.push_back(first_row.back() + rows);
    a.resize(static_cast<std::size_t>(m() * k));
    for (std::size_t r = 0; r < shards.size(); ++r) {
      of.push_back(std::make_unique<rank>());
      rank& x = *of.back();
      for (auto& buffer : x.received) buffer.assign(a.size(), 0);
      x.own.resize(static_cast<std::size_t>(shards[r] * k));
      x.b.resize(static_cast<std::size_t>(n * k));
      x.d.resize(static_cast<std::size_t>(m() * n));
      for (std::size_t i = 0; i < x.b.size(); ++i) x.b[i] = value(i * 7 + r);
    }
  }
  int ranks() const { return static_cast<int>(of.size()); }
  int m() const { return first_row.back(); }

  /// Call `call` of all ranks, whose epoch is given, each on a device.
  template <class Steps>
  void run(int call, std::uint32_t epoch, emu::options const& o) {
    emu::device_layout layout;
    auto const all = begin<gated_gemm<Steps>>(call, epoch, target::emu);
    for (int r = 0; r < ranks(); ++r) {
      layout.queues.push_back(queue_of(r, r, call));
      list(layout, r, at(r));
    }
    emu::launch_on_devices<gated_gemm<Steps>>(
        ctas, std::span<typename gated_gemm<Steps>::params const>(all), o, layout);
  }

  /// As run(), of all ranks on one device, in one launch.
  template <class Steps>
  void run_in_one_launch(int call, std::uint32_t epoch, emu::options const& o) {
    using kernel = divided_kernel<gated_gemm<Steps>, most_ranks>;
    emu::device_layout layout;
    typename kernel::params const p = divided<kernel>(call, epoch, target::emu);
    for (int r = 0; r < ranks(); ++r) {
      layout.queues.push_back(queue_of(r, 0, call));
      list(layout, 0, at(r));
    }
    emu::launch_on_devices<kernel>(ctas * ranks(), std::span(&p, 1), o, layout);
  }

  /// The parameters of one launch of all ranks: rank r has the CTAs [r * ctas, (r + 1) * ctas).
  template <class Kernel>
  typename Kernel::params divided(int call, std::uint32_t epoch, target t) {
    typename Kernel::params p{};
    p.ctas = ctas;
    auto const all = begin<typename Kernel::of_rank>(call, epoch, t);
    for (int r = 0; r < ranks(); ++r) {
      p.of[r] = all[index(r)];
      p.of[r].gate.first_cluster = r * ctas;
    }
    return p;
  }

  std::int64_t wrong_elements() const {
    std::int64_t wrong = 0;
    for (auto const& x : of)
      for (int i = 0; i < m(); ++i)
        for (int j = 0; j < n; ++j) {
          float sum = 0;
          for (int l = 0; l < k; ++l) sum += number(a, i * k + l) * number(x->b, j * k + l);
          wrong += number(x->d, i * n + j) != sum;
        }
    return wrong;
  }

  /// The copies of rank r, by a queue of a device.
  emu::copy_queue queue_of(int r, int device, int call) {
    emu::copy_queue q;
    q.device = device;
    if ((silent >> r & 1) != 0) return q;
    for (int round = 0; round < (next_call ? 2 : 1); ++round)
      for (int step = 1; step < ranks(); ++step) {
        int const to = (r + ranks() - step) % ranks();
        // Each copy on one line: of several g++ and clang name different ones.
        auto* const there = at(to).received[call % 2].data() + first_row[index(r)] * k;
        auto* const flag = &at(to).head.flags[static_cast<int>(rank_flag::sent)][r].value;
        if (!at(r).own.empty()) q.copies.push_back({at(r).own.data(), there, at(r).own.size() * 2});
        if (round == 0) q.copies.push_back({&at(r).head.outgoing.value, flag, 8, true});
      }
    return q;
  }

 private:
  /// Operands of the call, and the parameters of each rank for a launch of `ctas` CTAs.
  template <class Kernel>
  std::vector<typename Kernel::params> begin(int call, std::uint32_t epoch, target t) {
    std::vector<typename Kernel::params> all;
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = value(i * 5 + static_cast<unsigned>(call));
    for (int r = 0; r < ranks(); ++r) {
      rank& x = at(r);
      x.head.outgoing.value = std::uint64_t{epoch} << 32 | digest;
      x.own.assign(a.begin() + first_row[index(r)] * k, a.begin() + first_row[index(r) + 1] * k);
      for (int const row : {first_row[index(r)], first_row[index(r) + 1] - 1})
        put_tile_of(x.received[call % 2], r, row);
      typename Kernel::params p{};
      static_cast<gemm_params&>(p) = params_of(x, call, t);
      p.gate = gate_of(r, t);
      all.push_back(p);
    }
    return all;
  }

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  static std::uint16_t value(std::uint64_t i) {
    return to_bf16(static_cast<float>(static_cast<int>((i * 0x9E3779B9U >> 16) % 3) - 1)).bits;
  }
  static float number(std::vector<std::uint16_t> const& v, int i) {
    return to_float(bf16{v[index(i)]});
  }
  rank& at(int r) { return *of[index(r)]; }

  /// Own rows of the tile that has `row`: a load may have them together with rows of another rank.
  void put_tile_of(std::vector<std::uint16_t>& buffer, int r, int row) {
    int const first =
        std::max(first_row[index(r)], row / gated_config.tile_m * gated_config.tile_m);
    int const end = std::min(first_row[index(r) + 1], first + gated_config.tile_m);
    if (first < end)
      std::copy(a.begin() + first * k, a.begin() + end * k, buffer.begin() + first * k);
  }

  static tensor_map map_of(void const* base, target t, elem type, int inner, int lines,
                           int box_inner, int box_lines, int rank = 3) {
    tensor_map_desc d;
    d.base = const_cast<void*>(base);
    d.type = type;
    d.rank = rank;
    d.dim[0] = inner, d.dim[1] = lines, d.dim[2] = d.dim[3] = 1;
    std::fill_n(d.stride_bytes, 3, inner * size_bytes(type));
    d.box[0] = box_inner, d.box[1] = box_lines, d.box[2] = d.box[3] = 1;
    d.swizzle = swizzle_mode::b128;
    return make_tensor_map(d, t);
  }
  /// Lines of A or B, of which `box` are loaded at a time. shift: lines before the first.
  tensor_map map_of_lines(std::vector<std::uint16_t> const& of, target t, int lines, int box,
                          int shift = 0) const {
    auto const at = reinterpret_cast<std::uintptr_t>(place(of.data())) -
                    static_cast<std::uintptr_t>(shift) * k * 2;
    return map_of(reinterpret_cast<void const*>(at), t, elem::bf16, k, lines, gated_config.tile_k(),
                  box);
  }
  gemm_params params_of(rank& x, int call, target t) const {
    constexpr gemm_config c = gated_config;
    gemm_params p{};
    int const left = m() % c.tile_m;
    p.m = m(), p.n = n, p.tile_cols = c.tile_n;
    p.a = map_of_lines(x.received[call % 2], t, m(), c.tile_m);
    p.a_edge = left == 0 ? p.a : map_of_lines(x.received[call % 2], t, m(), left);
    p.b = p.b_edge = map_of_lines(x.b, t, n, c.tile_n);
    p.walk = tile_walk({(m() + c.tile_m - 1) / c.tile_m, n / c.tile_n, 1});
    p.work = make_work_plan(p.walk.order.tiles(), k / c.tile_k(), 0, 0);
    d_box const box = d_box_of(c);
    p.epilogue.d = map_of(place(x.d.data()), t, c.d, n, m(), box.cols, box.rows, 4);
    p.epilogue.data = place(x.d.data()), p.epilogue.pitch = p.epilogue.tma_end = n;
    p.epilogue.m = m(), p.epilogue.n = n, p.epilogue.alpha = 1;
    return p;
  }
  gate_params gate_of(int r, target t) {
    constexpr int rows = gated_config.tile_m;
    gate_params g{};
    for (int i = 0; i < ranks(); ++i) g.at.heads[i] = place(&at(i).head);
    g.at.rank = r, g.at.ranks = ranks(), g.at.report = place(&at(r).report);
    g.at.timeout_ns = timeout_ns;
    std::copy(first_row.begin(), first_row.end(), g.first_row);
    int const n_tiles = n / gated_config.tile_n, m_tiles = (m() + rows - 1) / rows;
    g.first_cluster = 0, g.clusters = ctas;
    g.first_tile = first_row[index(r)] / rows % m_tiles * n_tiles;
    g.own_begin = first_row[index(r)], g.own_end = first_row[index(r) + 1];
    if (g.own_begin == g.own_end) return g;
    g.own_a = map_of_lines(at(r).own, t, g.own_end, rows, g.own_begin);
    int const left = m() % rows;
    g.own_a_edge = left == 0 ? g.own_a : map_of_lines(at(r).own, t, g.own_end, left, g.own_begin);
    return g;
  }
  /// The address of operands, heads and reports on the device that runs the launch.
  template <class T>
  T* place(T* host) const {
    return moved ? static_cast<T*>(const_cast<void*>(moved(host))) : host;
  }
  static void list(emu::device_layout& layout, int r, rank& x) {
    layout.memory.push_back({r, &x.head, sizeof x.head, true});
    for (auto& b : x.received) layout.memory.push_back({r, b.data(), b.size() * 2, true});
    layout.memory.push_back({r, x.b.data(), x.b.size() * 2});
    layout.memory.push_back({r, x.d.data(), x.d.size() * 2});
  }
};

}  // namespace tw::mutants
