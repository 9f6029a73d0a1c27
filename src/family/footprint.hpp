// SPDX-License-Identifier: Apache-2.0
// footprint.hpp  Bytes that a raster order reads: the model that chooses the order.
#pragma once

#include "tilewright/device/calibration.hpp"
#include "tilewright/pipeline/order.hpp"

namespace tw {

/// A problem as the model sees it. A panel is the part of an operand that one row (of A) or one
/// column (of B) of cluster tiles needs, over all of K.
struct strips {
  double row_bytes = 0, col_bytes = 0;            // of one panel
  bool shared_rows = false, shared_cols = false;  // the same matrix for the whole batch
  int wave = 1;                                   // clusters that run at the same time
  bool stores_rows = true;                        // D is row-major
  bool multicast = false;                         // clusters load panels once for their CTAs
};

/// Bytes per wave, averaged over the first waves.
struct footprint {
  double touched = 0;  // panels that the wave needs, each counted once
  double fresh = 0;    // those of them that the L2 cache cannot hold since they were needed last
};

/// Waves are runs of `wave` tiles. A panel that was needed last in wave u is still in L2 in wave t
/// if the waves u to t-1 touched no more than m.l2_operand_bytes: less
/// than L2 has, which holds D too, and lines in both halves. At most 4096 tiles are placed.
footprint footprint_of(tile_order const& order, strips const& s, tile_order_calibration const& m);

/// The order that costs least to read, fresh bytes and l2_byte_cost of those touched, if that
/// saves min_gain of the usual order; the usual order where one wave is all, the operands stay in
/// L2, one row or column of tiles is all, or tiles run along the rows of a larger A. tile_rows:
/// rows of a cluster tile.
tile_order choose_order(tile_order const& grid, strips const& s, int tile_rows,
                        tile_order_calibration const& m);

/// The order by rules alone. In more than one wave, of operands that do not stay in L2:
/// - Where A is the larger operand, no cluster shares panels, there is no batch, there are two
///   columns of tiles or more, and a wave of whole rows of tiles reads at least 0.6 times as much
///   of A as of B (docs/decisions/0032): grouped in bands of one up to 4 columns of tiles, else
///   serpentine in bands of two.
/// - Else, without clusters that share panels, without a batch, and with two rows and columns of
///   tiles or more: serpentine in the bands of default_order.
/// - Else default_order.
/// In one wave, or where the operands stay in L2, default_order but for its bands: of one tile
/// where A is the larger operand, of two where the operands are equal and A's panels larger, both
/// where no cluster shares panels (docs/decisions/0025); else of 4 in more waves than one where
/// the operands are small and D is row-major: it is D's order then, and tiles beside each other
/// write the same rows, up to 8 % faster (docs/decisions/0009).
tile_order usual_order(tile_order const& grid, strips const& s, int tile_rows,
                       tile_order_calibration const& m);

/// The grouped order in bands of 2048 rows of D, of 1536 where tile_rows is 192 or 384, or of all
/// rows of tiles if they are fewer; of at most 4 tiles if there are 2 to 4 columns of tiles, so
/// that those of a row are near each other (docs/decisions/0019).
tile_order default_order(tile_order grid, int tile_rows);

}  // namespace tw
