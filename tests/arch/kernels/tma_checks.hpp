// SPDX-License-Identifier: Apache-2.0
// tma_checks.hpp  Bulk tensor copies against the host's model: every byte of the box, of what
//                 follows it and of the tensor.
#pragma once

#include <array>
#include <cmath>

#include "tests/arch/kernels/tma.hpp"
#include "tests/arch/kernels/tma_model.hpp"
#include "tests/effort.hpp"

namespace tw::test {

inline std::vector<std::uint8_t> bytes_of(std::vector<std::uint32_t> const& words) {
  std::vector<std::uint8_t> bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}
inline std::vector<std::uint32_t> words_of(std::vector<std::uint8_t> const& bytes) {
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

template <int R>
tma_coord<R> coordinates(tma_case const& c) {
  tma_coord<R> at;
  std::copy_n(c.at, R, at.c);
  return at;
}

/// Calls f.template operator()<R>() for the case's rank.
template <class F>
void with_rank(int rank, F&& f) {
  switch (rank) {
    case 1: return f.template operator()<1>();
    case 2: return f.template operator()<2>();
    case 3: return f.template operator()<3>();
    case 4: return f.template operator()<4>();
    default: return f.template operator()<5>();
  }
}

template <class M>
std::string check_load(M& m, tma_case c, int policy) {
  std::vector<std::uint8_t> const tensor = random_bytes(tensor_bytes(c.desc), 1);
  c.desc.base = upload(m, tensor);
  int const room = room_of(c.desc);
  std::vector<std::uint32_t> smem((room + box_margin) / 4);
  std::uint32_t* const out = upload(m, smem);
  tensor_map const map = make_tensor_map(c.desc, M::where);
  with_rank(c.desc.rank, [&]<int R>() {
    run<tma_load_box<R>>(m, 1, {map, coordinates<R>(c), c.desc.box_bytes(), room, out, policy});
  });
  std::vector<std::uint8_t> const got = bytes_of(download(m, out, smem.size()));
  std::vector<std::uint8_t> want = got;  // the padding of narrow rows may hold anything
  std::ranges::fill(want.begin() + room, want.end(), untouched & 0xFFU);
  load_into(want, c, tensor);
  return differences(got, want, [](std::size_t i) { return text("shared byte ", i); });
}

template <bool Add, class M>
std::string check_store(M& m, tma_case c, std::vector<std::uint8_t> const& tensor,
                        std::vector<std::uint8_t> const& box, int times, int policy = 0) {
  std::uint8_t* const memory = upload(m, tensor);
  c.desc.base = memory;
  tensor_map const map = make_tensor_map(c.desc, M::where);
  std::uint32_t* const smem = upload(m, words_of(box));
  with_rank(c.desc.rank, [&]<int R>() {
    run<tma_store_box<R, Add>>(
        m, times, {map, coordinates<R>(c), c.desc.box_bytes(), room_of(c.desc), smem, policy});
  });
  std::vector<std::uint8_t> want = tensor;
  for (int i = 0; i < times; ++i) want = Add ? added(c, want, box) : stored(c, want, box);
  return differences(download(m, memory, tensor.size()), want,
                     [](std::size_t i) { return text("tensor byte ", i); });
}

template <class M>
check<M> load_check(elem type) {
  return {text("tma_load ", name(type)), [type](M& m) {
            failures f;
            for (tma_case const& c : tma_cases(type, false)) f.add(c.name, check_load(m, c, 0));
            return f.result();
          }};
}
template <class M>
check<M> hinted_load_check() {
  return {"tma_load_hinted", [](M& m) {
            failures f;
            for (tma_case const& c : tma_cases(elem::bf16, false))
              for (int policy : {1, 2}) f.add(text(c.name, ", ", policy), check_load(m, c, policy));
            return f.result();
          }};
}
template <class M>
check<M> store_check(elem type, int policy = 0) {
  return {text(policy != 0 ? "tma_store_hinted " : "tma_store ", name(type)), [=](M& m) {
            failures f;
            for (tma_case const& c : tma_cases(type, true))
              f.add(c.name, check_store<false>(m, c, random_bytes(tensor_bytes(c.desc), 1),
                                               random_bytes(room_of(c.desc), 2), 1, policy));
            return f.result();
          }};
}

/// Elements of the type: integers up to 15 in magnitude, or integers over powers of two whose sums
/// round in 16 bits.
inline std::vector<std::uint8_t> addends(elem type, std::size_t bytes, bool rounding,
                                         unsigned seed) {
  auto const size = static_cast<std::size_t>(size_bytes(type));
  std::vector<float> const integers = small_integers(bytes / size, seed);
  std::vector<std::uint8_t> values(bytes);
  for (std::size_t i = 0; i < integers.size(); ++i)
    set_element(type, values.data() + i * size,
                rounding ? std::ldexp(integers[i], -static_cast<int>(i * 7 % 12))
                         : std::trunc(integers[i] / 8));
  return values;
}

/// Four CTAs add the same box of integers, in any order; then one addition that rounds.
template <class M>
check<M> reduce_check(elem type) {
  return {
      text("tma_reduce_add ", name(type)), [type](M& m) {
        failures f;
        std::vector<tma_case> const cases = tma_cases(type, true);
        // Every 5th of a sample: an odd distance, which reaches each swizzle mode.
        for (std::size_t i = 0; i < cases.size(); i += full_effort() ? 1 : 5)
          for (bool rounding : {false, true}) {
            tma_case const& c = cases[i];
            f.add(text(c.name, rounding ? ", rounding" : ", exact"),
                  check_store<true>(m, c, addends(type, tensor_bytes(c.desc), rounding, 1),
                                    addends(type, room_of(c.desc), rounding, 2), rounding ? 1 : 4));
          }
        return f.result();
      }};
}

template <class M>
std::string check_store_three(M& m) {
  tma_case c = make_case(elem::bf16, swizzle_mode::b128, {180, 64}, {64, 64}, {0, 0});
  std::vector<std::uint8_t> want(tensor_bytes(c.desc));
  std::uint8_t* const memory = upload(m, want);
  c.desc.base = memory;
  int const bytes = c.desc.box_bytes();
  std::vector<std::uint8_t> const boxes = random_bytes(3 * bytes, 3);
  run<tma_store_three>(m, 1,
                       {make_tensor_map(c.desc, M::where), bytes, 64, upload(m, words_of(boxes))});
  for (int j = 0; j < 3; ++j) {
    c.at[0] = 64 * j;
    want = stored(c, want, {boxes.begin() + j * bytes, boxes.begin() + (j + 1) * bytes});
  }
  return differences(download(m, memory, want.size()), want);
}

template <int Ctas, class M>
std::string check_multicast(M& m, std::array<std::uint16_t, Ctas> const& mask) {
  using K = tma_multicast_boxes<Ctas>;
  tma_case c = make_case(elem::f32, swizzle_mode::b128, {32 * Ctas - 5, 20}, {32, 24}, {0, 0});
  std::vector<std::uint8_t> const tensor = random_bytes(tensor_bytes(c.desc), 4);
  c.desc.base = upload(m, tensor);
  int const clusters = 3;
  std::vector<std::uint32_t> want(clusters * Ctas * Ctas * K::slot_words, untouched);
  typename K::params p{
      make_tensor_map(c.desc, M::where), c.desc.box_bytes(), 32, {}, upload(m, want)};
  std::copy_n(mask.begin(), Ctas, p.mask);
  run<K>(m, clusters * Ctas, p);
  for (int cta = 0; cta < clusters * Ctas; ++cta)
    for (int r = 0; r < Ctas; ++r) {
      c.at[0] = 32 * r;
      if ((mask[r] >> cta % Ctas & 1) == 0) continue;
      std::vector<std::uint8_t> box(static_cast<std::size_t>(room_of(c.desc)));
      load_into(box, c, tensor);
      std::ranges::copy(words_of(box), want.begin() + (cta * Ctas + r) * K::slot_words);
    }
  return differences(download(m, p.smem, want.size()), want, [](std::size_t i) {
    return text("CTA ", i / K::slot_words / Ctas, " slot ", i / K::slot_words % Ctas, " word ",
                i % K::slot_words);
  });
}

template <class M>
std::string check_multicasts(M& m) {
  failures f;
  f.add("2 CTAs, both to both", check_multicast<2>(m, {3, 3}));
  f.add("2 CTAs, each to the other", check_multicast<2>(m, {2, 1}));
  f.add("2 CTAs, each to itself", check_multicast<2>(m, {1, 2}));
  f.add("4 CTAs, rows and columns", check_multicast<4>(m, {5, 12, 15, 8}));
  f.add("4 CTAs, one to all", check_multicast<4>(m, {15, 0, 0, 0}));
  f.add("8 CTAs, all to all", check_multicast<8>(m, {255, 255, 255, 255, 255, 255, 255, 255}));
  return f.result();
}

template <class M>
std::vector<check<M>> tma_checks() {
  return {load_check<M>(elem::bf16),
          load_check<M>(elem::f32),
          load_check<M>(elem::e4m3),
          load_check<M>(elem::tf32),
          load_check<M>(elem::s8),
          hinted_load_check<M>(),
          {"tma_load_multicast", check_multicasts<M>},
          store_check<M>(elem::bf16),
          store_check<M>(elem::f32),
          store_check<M>(elem::e4m3),
          store_check<M>(elem::bf16, 1),
          {"tma_store three boxes, two buffers", check_store_three<M>},
          reduce_check<M>(elem::f32),
          reduce_check<M>(elem::bf16),
          reduce_check<M>(elem::f16),
          reduce_check<M>(elem::s32)};
}

}  // namespace tw::test
