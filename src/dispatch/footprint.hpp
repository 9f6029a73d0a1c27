// SPDX-License-Identifier: Apache-2.0
// footprint.hpp  What an order of tiles makes the card read: the model that chooses the order.
#pragma once

#include "tilewright/pipeline/order.hpp"

namespace tw {

/// A product as the model sees it. A strip is the part of an operand that one row (of A) or one
/// column (of B) of cluster tiles needs, over all of K.
struct strips {
  double row_bytes = 0, col_bytes = 0;            // of one strip
  bool shared_rows = false, shared_cols = false;  // the same matrix for the whole batch
  int wave = 1;                                   // clusters that run at the same time
  bool stores_rows = true;                        // D is row-major
  bool multicast = false;                         // clusters load strips once for their CTAs
};

/// Bytes per wave, averaged over the first waves.
struct footprint {
  double touched = 0;  // strips that the wave needs, each counted once
  double fresh = 0;    // those of them that the L2 cache cannot hold since they were needed last
};

/// Bytes of operands that stay in L2, of its 50 MB: it holds D too, and lines in both halves.
inline constexpr double footprint_cache_bytes = 32e6;

/// Operands that are so small stay there whatever the order: unless A is the larger, it is D's
/// then. Tiles beside each other write the same rows: up to 8 % faster (docs/decisions/0009).
inline constexpr double small_operands_bytes = 17e6;

/// Waves are runs of `wave` tiles. A strip that was needed last in wave u is still there in wave t
/// if the waves u to t-1 touched no more than footprint_cache_bytes. At most 4096 tiles are placed.
footprint footprint_of(tile_order const& order, strips const& s);

/// The order and band that cost least to read: fresh bytes and 0.45 of those touched, unless that
/// saves less than 2 % of the usual order: bands of about 2048 rows of D (docs/decisions/0005), in
/// serpentine where no cluster shares strips and none are those of a batch, else grouped. Where one
/// wave is all or the operands fit into L2, tiles beside each other read the same strip of the
/// larger operand (docs/decisions/0025): in bands of one tile where that is A, of two where the
/// operands are equal and A's strips larger; else in bands of 4 where the operands are small and D
/// is row-major. In more waves the same where A is the larger operand and a wave of whole rows of
/// tiles is not much wider than high (docs/decisions/0032): in bands of one up to 4 columns of
/// tiles, else in serpentine bands of two. tile_rows: rows of a cluster tile.
tile_order choose_order(tile_order const& grid, strips const& s, int tile_rows);

/// The same by rules alone, whatever is read: where none of them holds, default_order.
tile_order usual_order(tile_order const& grid, strips const& s, int tile_rows);

/// The grouped order in bands of 2048 rows of D, of 1536 for tiles of 192; of 4 tiles where there
/// are few columns of tiles, so that those of a row are near each other (docs/decisions/0019).
tile_order default_order(tile_order grid, int tile_rows);

}  // namespace tw
