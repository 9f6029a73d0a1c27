// SPDX-License-Identifier: Apache-2.0
// group_map_checks.hpp  Tensor maps that end with a group by coordinates alone
//                       (docs/decisions/0054): every byte of a store, of a sum and of a load.
#pragma once

#include <algorithm>

#include "tests/arch/kernels/tma.hpp"
#include "tests/arch/kernels/tma_checks.hpp"

namespace tw::test {

/// Rows [begin, end) of a tensor of `rows` rows of `cols` elements, `pitch` elements apart, and a
/// box of 64 rows of 128 bytes whose first row is `first` of the group, and its column `col`.
struct group_box {
  elem type = elem::bf16;
  int rows = 0, cols = 0, pitch = 0, begin = 0, end = 0, first = 0, col = 0;

  static constexpr int box_rows = 64, box_bytes_of_row = 128;
  int size() const { return size_bytes(type); }
  int box_cols() const { return box_bytes_of_row / size(); }
  std::size_t row_bytes() const { return static_cast<std::size_t>(pitch) * size(); }
  std::size_t bytes() const { return row_bytes() * rows; }
  int box_bytes() const { return box_rows * box_bytes_of_row; }
  /// Bytes of row r of the box that lie in the group and in the tensor's columns.
  int bytes_of(int r) const {
    if (begin + first + r >= end) return 0;
    return std::clamp((cols - col) * size(), 0, box_bytes_of_row);
  }
  std::size_t at(int r) const {
    return static_cast<std::size_t>(begin + first + r) * row_bytes() +
           static_cast<std::size_t>(col) * size();
  }
  std::string name() const {
    return text(tw::name(type), " rows ", begin, " to ", end, " of ", rows, ", ", cols,
                " columns, row ", first, " column ", col);
  }
};

inline std::vector<group_box> group_boxes(elem type) {
  std::mt19937 random(20261129);
  auto const any = [&](int lo, int hi) { return lo + static_cast<int>(random() % (hi - lo + 1)); };
  std::vector<group_box> all;
  for (int i = 0; i < sample(160, 24); ++i) {
    int const chunk = 16 / size_bytes(type);
    group_box b{.type = type};
    b.rows = any(1, 300), b.cols = chunk * any(1, 20), b.pitch = b.cols + chunk * any(0, 2);
    b.begin = any(0, b.rows - 1), b.end = any(b.begin + 1, b.rows);
    b.first = group_box::box_rows * any(0, (b.end - b.begin - 1) / group_box::box_rows);
    b.col = b.box_cols() * any(0, (b.cols - 1) / b.box_cols());
    all.push_back(b);
  }
  return all;
}

/// The map of `b`: `lines` rows from the given base, and matrices a row apart.
inline tensor_map_desc ending_map(group_box const& b, void* base, int lines) {
  tensor_map_desc d;
  d.base = base, d.type = b.type, d.rank = 3;
  d.dim[0] = b.cols, d.dim[1] = lines, d.dim[2] = b.rows + 1;
  d.stride_bytes[0] = d.stride_bytes[1] = static_cast<std::int64_t>(b.row_bytes());
  d.box[0] = b.box_cols(), d.box[1] = group_box::box_rows;
  return d;
}

/// Stores, or adds, a box; the base of the map is memory that nothing was allocated for.
template <bool Add, class M>
std::string check_ending_store(M& m, group_box const& b) {
  std::vector<std::uint8_t> const tensor =
      Add ? addends(b.type, b.bytes(), false, 1) : random_bytes(b.bytes(), 1);
  std::vector<std::uint8_t> const box =
      Add ? addends(b.type, b.box_bytes(), false, 2) : random_bytes(b.box_bytes(), 2);
  std::uint8_t* const memory = upload(m, tensor);
  int const lines = 512;
  auto const base = reinterpret_cast<std::uintptr_t>(memory) - lines * b.row_bytes();
  tensor_map const map =
      make_tensor_map(ending_map(b, reinterpret_cast<void*>(base), lines), M::where);
  tma_coord<3> const at{b.col, lines - (b.end - b.begin) + b.first, b.end};
  run<tma_store_box<3, Add>>(m, 1,
                             {map, at, b.box_bytes(), b.box_bytes(), upload(m, words_of(box)), 0});
  std::vector<std::uint8_t> want = tensor;
  for (int r = 0; r < group_box::box_rows; ++r)
    for (int i = 0; i < b.bytes_of(r); i += b.size()) {
      std::uint8_t const* const from = &box[static_cast<std::size_t>(r * 128 + i)];
      std::uint8_t* const to = &want[b.at(r) + static_cast<std::size_t>(i)];
      if constexpr (Add) {
        float x = 0, y = 0;
        std::memcpy(&x, from, 4), std::memcpy(&y, to, 4);
        x += y;
        std::memcpy(to, &x, 4);
      } else {
        std::copy_n(from, b.size(), to);
      }
    }
  return differences(download(m, memory, tensor.size()), want,
                     [](std::size_t i) { return text("tensor byte ", i); });
}

/// Shared memory after a load: the group's rows, and zeros. `columns`: the group is of columns, the
/// box is 128 bytes of them by 64 rows.
template <int R, class M>
std::string check_landed(M& m, tensor_map const& map, tma_coord<R> at, int bytes,
                         std::vector<std::uint8_t> const& want) {
  std::vector<std::uint32_t> smem((bytes + box_margin) / 4);
  std::uint32_t* const out = upload(m, smem);
  run<tma_load_box<R>>(m, 1, {map, at, bytes, bytes, out, 0});
  std::vector<std::uint8_t> got = bytes_of(download(m, out, smem.size()));
  got.resize(want.size());
  return differences(got, want, [](std::size_t i) { return text("shared byte ", i); });
}

/// Rows of a group as K of an MN-major operand: a map over all memory, whose matrix is `lines` rows
/// that end with the group; they begin before anything that was allocated.
template <class M>
std::string check_ending_rows(M& m, group_box const& b, int lines) {
  std::vector<std::uint8_t> const tensor = random_bytes(b.bytes(), 1);
  std::uint8_t* const memory = upload(m, tensor);
  tensor_map_desc d = ending_map(b, nullptr, lines);
  d.rank = 2;
  tensor_map const map = make_tensor_map(in_all_memory(d), M::where);
  auto const from =
      reinterpret_cast<std::uintptr_t>(memory) +
      (static_cast<std::uintptr_t>(b.end) - static_cast<std::uintptr_t>(lines)) * b.row_bytes();
  tma_place const place = tma_place_of(reinterpret_cast<void const*>(from));
  std::vector<std::uint8_t> want(static_cast<std::size_t>(b.box_bytes()), 0);
  for (int r = 0; r < group_box::box_rows; ++r)
    std::copy_n(&tensor[std::min(b.at(r), tensor.size() - 1)], b.bytes_of(r), &want[r * 128UL]);
  return check_landed<4>(m, map,
                         {b.col, lines - (b.end - b.begin) + b.first, place.units, place.spans},
                         b.box_bytes(), want);
}

/// Columns of a group as K of a K-major operand: groups begin at multiples of 16 bytes.
template <class M>
std::string check_ending_columns(M& m, group_box const& b, int lines) {
  // b's rows are indices of K here, and its columns the lines of the tensor.
  int const chunk = 16 / b.size(), up = b.rows / chunk * chunk + chunk;
  int const begin = b.begin / chunk * chunk,
            end = std::min(up, (b.end + chunk - 1) / chunk * chunk);
  std::size_t const pitch = static_cast<std::size_t>(up) * b.size();
  std::vector<std::uint8_t> const tensor = random_bytes(pitch * b.cols, 1);
  std::uint8_t* const memory = upload(m, tensor);
  int const total = (lines + chunk - 1) / chunk * chunk, box_k = b.box_cols();
  tensor_map_desc d;
  d.type = b.type, d.rank = 2;
  d.dim[0] = total, d.dim[1] = b.cols;
  d.stride_bytes[0] = static_cast<std::int64_t>(pitch);
  d.box[0] = box_k, d.box[1] = group_box::box_rows;
  tensor_map const map = make_tensor_map(in_all_memory(d), M::where);
  auto const from = reinterpret_cast<std::uintptr_t>(memory) +
                    (static_cast<std::uintptr_t>(end) - static_cast<std::uintptr_t>(total)) *
                        static_cast<std::uintptr_t>(b.size());
  tma_place const place = tma_place_of(reinterpret_cast<void const*>(from));
  int const first = b.first / box_k * box_k % std::max(1, end - begin);
  std::vector<std::uint8_t> want(static_cast<std::size_t>(b.box_bytes()), 0);
  int const here = std::clamp(end - begin - first, 0, box_k);
  for (int r = 0; r < group_box::box_rows && r < b.cols; ++r)
    std::copy_n(&tensor[r * pitch + static_cast<std::size_t>(begin + first) * b.size()],
                here * b.size(), &want[r * 128UL]);
  return check_landed<4>(m, map, {total - (end - begin) + first, 0, place.units, place.spans},
                         b.box_bytes(), want);
}

template <class M>
std::vector<check<M>> group_map_checks() {
  std::vector<check<M>> all;
  for (elem const type : {elem::e4m3, elem::bf16, elem::f32}) {
    auto const add = [&](char const* what, auto one) {
      all.push_back({text(what, " ", name(type)), [=](M& m) {
                       failures f;
                       for (group_box const& b : group_boxes(type)) f.add(b.name(), one(m, b));
                       return f.result();
                     }});
    };
    add("store that ends with a group",
        [](M& m, auto& b) { return check_ending_store<false>(m, b); });
    if (type == elem::f32)
      add("sum that ends with a group",
          [](M& m, auto& b) { return check_ending_store<true>(m, b); });
    for (int const lines : {300, 1 << 16}) {
      auto const of = lines == 300 ? "" : ", far before";
      add(text("rows of K that end with a group", of).c_str(),
          [=](M& m, auto& b) { return check_ending_rows(m, b, lines); });
      add(text("columns of K that end with a group", of).c_str(),
          [=](M& m, auto& b) { return check_ending_columns(m, b, lines); });
    }
  }
  return all;
}

}  // namespace tw::test
