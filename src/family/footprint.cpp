// SPDX-License-Identifier: Apache-2.0
// footprint.cpp  Waves, the panels they read, and how long ago each was read.
#include "family/footprint.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace tw {

namespace {

constexpr int most_placed = 4096;
constexpr int default_band_rows = 2048;
constexpr int max_narrow_tiles = 4;
constexpr double least_rows_of_columns = 0.6;
constexpr int small_band = 4;

/// The waves in which panels of one operand were needed last.
class last_needed {
 public:
  /// The wave in which `strip` was needed last, -1 if never; from now on that is `wave`. Orders
  /// begin at the first panels: the largest number is about that of the tiles that are placed.
  int needed(int strip, int wave) {
    auto const i = static_cast<std::size_t>(strip);
    if (i >= wave_of_.size()) wave_of_.resize(std::max(2 * i, i + 64), -1);
    return std::exchange(wave_of_[i], wave);
  }

 private:
  std::vector<int> wave_of_;
};

double operand_bytes(tile_order const& grid, strips const& s) {
  return s.row_bytes * grid.m_tiles * (s.shared_rows ? 1 : grid.batch) +
         s.col_bytes * grid.n_tiles * (s.shared_cols ? 1 : grid.batch);
}

/// Whatever the order, one wave touches all there is, and what fits into the cache stays there.
bool stays(tile_order const& grid, strips const& s, tile_order_calibration const& m) {
  return grid.tiles() <= s.wave || operand_bytes(grid, s) <= m.l2_operand_bytes;
}

/// The band in which neighbouring tiles read the same panel of the larger operand, if that is
/// A; 0 if not. Where both are equal, of the one with the larger panels.
int band_of_larger_rows(tile_order const& grid, strips const& s) {
  double const rows = s.row_bytes * grid.m_tiles, cols = s.col_bytes * grid.n_tiles;
  if (s.multicast || grid.n_tiles == 1) return 0;
  return rows > cols ? 1 : rows == cols && s.row_bytes > s.col_bytes ? 2 : 0;
}

/// A is the larger operand, no cluster shares its panels, it is not a batch, there are two columns
/// of tiles or more, and a wave of whole rows of tiles is square enough: more waves than one read
/// each panel of A once (docs/decisions/0032).
bool runs_along_rows(tile_order const& grid, strips const& s) {
  double const rows = s.row_bytes * s.wave / grid.n_tiles, cols = s.col_bytes * grid.n_tiles;
  return grid.batch == 1 && rows >= least_rows_of_columns * cols &&
         band_of_larger_rows(grid, s) == 1;
}

/// Tiles that share a panel of A are neighbours: row by row, or two rows at a time.
tile_order along_rows(tile_order order) {
  bool const narrow = order.n_tiles <= max_narrow_tiles;
  order.kind = narrow ? order_kind::grouped : order_kind::serpentine;
  order.band = narrow ? 1 : std::min(2, order.m_tiles);
  return order;
}

}  // namespace

footprint footprint_of(tile_order const& order, strips const& s, tile_order_calibration const& m) {
  int const tiles = std::min(order.tiles(), std::max(most_placed, 2 * s.wave));
  std::vector<double> until{0};  // bytes that the waves before this one touched
  double fresh = 0;
  last_needed rows, cols;
  for (int first = 0; first < tiles; first += s.wave) {
    int const wave = static_cast<int>(until.size()) - 1;
    double touched = 0;
    auto const count = [&](int last, double bytes) {
      if (last == wave) return;
      touched += bytes;
      bool const held =
          last >= 0 && until.back() - until[static_cast<std::size_t>(last)] <= m.l2_operand_bytes;
      if (!held) fresh += bytes;
    };
    for (int i = first; i < std::min(first + s.wave, tiles); ++i) {
      tile_place const t = order.place(i);
      count(rows.needed((s.shared_rows ? 0 : t.batch) * order.m_tiles + t.m, wave), s.row_bytes);
      count(cols.needed((s.shared_cols ? 0 : t.batch) * order.n_tiles + t.n, wave), s.col_bytes);
    }
    until.push_back(until.back() + touched);
  }
  double const waves = static_cast<double>(until.size()) - 1;
  return {until.back() / waves, fresh / waves};
}

tile_order default_order(tile_order grid, int tile_rows) {
  grid.kind = order_kind::grouped;
  int band = static_cast<int>(std::bit_floor(static_cast<unsigned>(default_band_rows / tile_rows)));
  // Few columns of tiles: those of a row, which read the same rows of A, run side by side.
  if (grid.n_tiles > 1 && grid.n_tiles <= max_narrow_tiles) band = std::min(band, max_narrow_tiles);
  grid.band = std::clamp(band, 1, grid.m_tiles);
  return grid;
}

tile_order usual_order(tile_order const& grid, strips const& s, int tile_rows,
                       tile_order_calibration const& m) {
  tile_order usual = default_order(grid, tile_rows);
  if (!stays(grid, s, m)) {
    if (runs_along_rows(grid, s)) return along_rows(usual);
    // The next wave begins with the panels that a wave read last.
    if (!s.multicast && grid.batch == 1 && grid.m_tiles > 1 && grid.n_tiles > 1)
      usual.kind = order_kind::serpentine;
    return usual;
  }
  if (int const band = band_of_larger_rows(grid, s); band > 0)
    usual.band = std::min(usual.band, band);
  else if (grid.tiles() > s.wave && operand_bytes(grid, s) <= m.small_operand_bytes &&
           s.stores_rows)
    usual.band = std::min(usual.band, small_band);
  return usual;
}

tile_order choose_order(tile_order const& grid, strips const& s, int tile_rows,
                        tile_order_calibration const& m) {
  tile_order const usual = usual_order(grid, s, tile_rows, m);
  if (stays(grid, s, m) || runs_along_rows(grid, s)) return usual;
  // A single row or column of tiles has no other order.
  if (grid.m_tiles == 1 || grid.n_tiles == 1) return usual;
  tile_order best = usual;
  auto const cost_of = [&](tile_order const& o) {
    footprint const f = footprint_of(o, s, m);
    return f.fresh + m.l2_byte_cost * f.touched;
  };
  double least = (1 - m.min_gain) * cost_of(usual);
  int const power = static_cast<int>(std::bit_floor(static_cast<unsigned>(usual.band)));
  int const narrower = power == usual.band ? power / 2 : power;  // a power of two, as all bands are
  struct choice {
    order_kind kind;
    int band;
  };
  bool const there_and_back = usual.kind == order_kind::serpentine;
  for (choice const c :
       {choice{there_and_back ? order_kind::grouped : order_kind::serpentine, usual.band},
        choice{order_kind::serpentine, narrower}, choice{order_kind::serpentine, usual.band * 2},
        choice{order_kind::grouped, narrower}, choice{order_kind::grouped, usual.band * 2},
        choice{order_kind::hilbert, power}, choice{order_kind::hilbert, power * 2}}) {
    if (c.band < 1 || c.band > grid.m_tiles) continue;
    tile_order const o{grid.m_tiles, grid.n_tiles, c.band, grid.batch, c.kind};
    double const cost = cost_of(o);
    if (cost >= least) continue;
    best = o;
    least = 0.999 * cost;
  }
  return best;
}

}  // namespace tw
