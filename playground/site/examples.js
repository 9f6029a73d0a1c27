// SPDX-License-Identifier: Apache-2.0
// examples.js  The menu of the layouts page; a test draws each of them.
'use strict';

const tilewrightExamples = [
  {title: 'First layouts', examples: [
    {title: 'row-major 4 x 8', state: {e: '(4,8):(8,1)'}},
    {title: 'column-major 4 x 8', state: {e: '(4,8):(1,4)'}},
    {title: 'a padded row', state: {e: '(8,8):(9,1)'}},
    {title: 'nested modes: tiles of 2 x 4', state: {e: '((2,2),(4,2)):((4,16),(1,8))'}},
    {title: 'row-major against column-major', state: {e: '(4,8):(8,1)', other: '(4,8):(1,4)'}},
  ]},
  {title: 'Five articles (docs/articles.md)', examples: [
    {title: 'A: a nested layout, as it stands there',
     state: {e: 'auto layout_nested = make_layout(\n' +
                '    make_shape(_4{}, make_shape(_2{}, _4{})),    // (4, (2, 4))\n' +
                '    make_stride(_8{}, make_stride(_4{}, _1{}))   // (8, (4, 1))\n);'}},
    {title: 'A: is the default row-major?',
     state: {e: 'make_layout(make_shape(_4{}, _8{}))', other: '(4,8):(8,1)'}},
    {title: 'A: Sw<3,4,3> on half_t keeps conflicts',
     state: {e: 'composition(Swizzle<3,4,3>{}, Layout<Shape<_128,_64>,Stride<_64,_1>>{})',
             view: 'banks', access: 'ldmatrix.x4'}},
    {title: 'B: threads and values of C of m64n32k16',
     state: {e: 'tv(mma.sm90.m64n32k16.f16, C)', view: 'tv', tile: '(64,32)'}},
    {title: 'C: coordinates of a TMA tensor', state: {e: '(8,8):(1@0,1@1)'}},
    {title: 'C: an atom in bits, for half_t',
     state: {e: 'upcast<sizeof_bits<half_t>::value>(ComposedLayout<Swizzle<3,4,3>, ' +
                'smem_ptr_flag, Layout<Shape<_8,_1024>,Stride<_1024,_1>>>)'}},
    {title: 'D: its atom for ldmatrix, without the swizzle',
     state: {e: '(16,64):(64,1)', view: 'banks', access: 'ldmatrix.x4'}},
    {title: 'D: with the swizzle of CUTLASS',
     state: {e: 'tile_to_shape(composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>,' +
                'Stride<_64,_1>>{}), (16,64))', view: 'banks', access: 'ldmatrix.x4'}},
    {title: 'E: 192 x 192 with 64-byte swizzles',
     state: {e: 'copy_partition_d(tiled_copy_C(copy_atom(SM90_U32x4_STSM_N,16), ' +
                'tiled_mma(SM90_64x96x16_F32F16F16_SS,(1,2,1))), 0, ' +
                'tile_to_shape(smem_atom(K,64,16),(192,192)))'}},
  ]},
  {title: 'CuTe layouts: the algebra', examples: [
    {title: 'coalesce', state: {e: 'coalesce((2,(1,6)):(1,(6,2)))'}},
    {title: 'composition', state: {e: 'composition((6,2):(8,2), (4,3):(3,1))', view: 'steps'}},
    {title: 'complement', state: {e: 'complement(4:2, 24)', view: 'steps'}},
    {title: 'logical_divide', state: {e: 'logical_divide((4,2,3):(2,1,8), 4:2)'}},
    {title: 'zipped_divide, step by step',
     state: {e: 'zipped_divide((8,24):(24,1), (4,8))', view: 'steps'}},
    {title: 'blocked_product', state: {e: 'blocked_product((2,5):(5,1), (3,4):(1,3))',
                                       view: 'steps'}},
    {title: 'raked_product', state: {e: 'raked_product((2,5):(5,1), (3,4):(1,3))'}},
  ]},
  {title: 'Swizzles and banks', examples: [
    {title: 'Sw<3,3,3>: 8 rows of 64 halves', state: {e: 'Sw<3,3,3> o 0 o (8,64):(64,1)'}},
    {title: 'Sw<2,4,3>: 64 bytes of bytes', state: {e: 'Sw<2,4,3> o 0 o (8,64):(64,1)'}},
    {title: 'before and after the swizzle',
     state: {e: 'Sw<3,3,3> o 0 o (8,64):(64,1)', view: 'steps'}},
    {title: 'ldmatrix without a swizzle: conflicts',
     state: {e: '(64,64):(64,1)', view: 'banks', access: 'ldmatrix.x4'}},
    {title: 'ldmatrix with a swizzle',
     state: {e: 'Sw<3,3,3> o 0 o (64,64):(64,1)', view: 'banks', access: 'ldmatrix.x4'}},
    {title: 'a transpose through a padded tile',
     state: {e: '(32,32):(33,1)', view: 'banks', access: 'ld.32', bits: '32'}},
  ]},
  {title: 'Tensor cores', examples: [
    {title: 'mma.sync m16n8k16', state: {e: 'mma.sm80.m16n8k16.f32.f16.f16'}},
    {title: 'ldmatrix.x4', state: {e: 'copy.sm75.ldmatrix.x4'}},
    {title: 'wgmma m64n32k16', state: {e: 'mma.sm90.m64n32k16.f32.bf16.bf16.ss'}},
    {title: 'wgmma descriptor, K-major 128-byte swizzle',
     state: {e: 'Sw<3,3,3> o 0 o (64,64):(64,1)', view: 'descriptor'}},
    {title: 'accumulator in tensor memory', state: {e: 'tmem.d.1cta.m64n16'}},
  ]},
  {title: 'Hopper: TMA', examples: [
    {title: 'a box of 64 x 64 of a row-major matrix',
     state: {e: '(128,256):(256,1)', view: 'tma', tile: 'Sw<3,3,3> o 0 o (64,64):(64,1)'}},
    {title: 'the box at the edge',
     state: {e: '(100,100):(104,1)', view: 'tma', tile: '(64,64):(64,1)', at: '(64,64)'}},
  ]},
  {title: 'Threads and values', examples: [
    {title: 'a warp over 16 x 8', state: {e: '((4,8),2):((32,1),8)', view: 'tv', tile: '(16,8)'}},
    {title: 'four CTAs over 8 x 8 tiles, in turn', state: {e: '((2,4),(2,4)):((1,4),(2,16))'}},
  ]},
];
