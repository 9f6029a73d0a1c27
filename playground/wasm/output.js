// SPDX-License-Identifier: Apache-2.0
// output.js  Functions that a module calls: where its standard output and error go, byte for byte
//            into Module.written, arrays of Uint8Array by the number of the stream; and the fibers
//            of wasm/fiber.cpp.
mergeInto(LibraryManager.library, {
#if ASYNCIFY
  $leavingFiber: {},  // thrown by tw_leave_fiber
  tw_run_fibers__sig: 'vii',
  tw_run_fibers__deps: ['$Asyncify', '$Fibers', '$leavingFiber'],
  tw_run_fibers: function(first, until) {
    // Calls from here are the lowest ones of a fiber: it is unwound to here, not further.
    var calls = Asyncify.exportCallStack, running = Fibers.trampolineRunning;
    var stack = stackSave();
    var base = _emscripten_stack_get_base(), end = _emscripten_stack_get_end();
    Asyncify.exportCallStack = [];
    Fibers.trampolineRunning = true;
    try {
      for (var fiber = first; fiber !== until; fiber = Fibers.nextFiber) {
        try {
          Fibers.finishContextSwitch(fiber);
        } catch (e) {
          if (e !== leavingFiber) throw e;
        }
      }
    } finally {
      Fibers.nextFiber = 0;
      Fibers.trampolineRunning = running;
      Asyncify.exportCallStack = calls;
      _emscripten_stack_set_limits(base, end);
      stackRestore(stack);
    }
  },
  tw_leave_fiber__sig: 'vi',
  tw_leave_fiber__deps: ['$Fibers', '$leavingFiber'],
  tw_leave_fiber: function(to) {
    Fibers.nextFiber = to;
    throw leavingFiber;
  },
#endif
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
