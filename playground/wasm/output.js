// SPDX-License-Identifier: Apache-2.0
// output.js  Where a module's standard output and error go: byte for byte into Module.written,
//            arrays of Uint8Array by the number of the stream.
mergeInto(LibraryManager.library, {
  tw_progress__sig: 'vd',
  tw_progress: function(share) { Module['progress'](share); },
  fd_write__sig: 'iiiii',
#if FILESYSTEM
  fd_write__deps: ['$SYSCALLS'],
#endif
  fd_write: function(fd, vectors, count, written) {
#if FILESYSTEM
    if (fd > 2) {
      HEAPU32[written >> 2] = SYSCALLS.doWritev(SYSCALLS.getStreamFromFD(fd), vectors, count);
      return 0;
    }
#endif
    var total = 0;
    for (var i = 0; i < count; ++i) {
      var at = HEAPU32[(vectors + 8 * i) >> 2], bytes = HEAPU32[(vectors + 8 * i + 4) >> 2];
      if (bytes && Module['written'][fd]) Module['written'][fd].push(HEAPU8.slice(at, at + bytes));
      total += bytes;
    }
    HEAPU32[written >> 2] = total;
    return 0;
  },
});
