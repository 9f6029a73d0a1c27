// SPDX-License-Identifier: Apache-2.0
// engine.js  Modules in threads of their own. A request is a command line; the answer is what the
//            command writes, and its exit status.
'use strict';

const memoryLimitBytes = 512 << 20;

class Engine {
  /** name: of the module; its file has set globalThis.tilewrightModules[name] when it is loaded. */
  constructor(name) {
    this.name = name;
    this.next = 0;
    this.waiting = new Map();
    this.worker = null;
    this.onProgress = null;
  }

  /** Loads the file of the module once, by a script element: a page from file:// may not fetch. */
  static load(name) {
    Engine.loads ??= new Map();
    if (!Engine.loads.has(name)) {
      Engine.loads.set(name, new Promise((done, failed) => {
        const script = document.createElement('script');
        script.src = `modules/${name}.js`;
        script.onload = () => done(globalThis.tilewrightModules[name]);
        script.onerror = () => failed(new Error(`modules/${name}.js cannot be loaded`));
        document.head.append(script);
      }));
    }
    return Engine.loads.get(name);
  }

  async start() {
    const module = await Engine.load(this.name);
    if (this.worker) return;
    const url = URL.createObjectURL(new Blob([module.code], {type: 'text/javascript'}));
    const worker = new Worker(url);
    this.worker = worker;
    await new Promise((done, failed) => {
      worker.onerror = e => failed(new Error(e.message || 'the worker cannot be started'));
      worker.onmessage = ({data}) => data.ready ? done() : failed(new Error(data.failed));
      worker.postMessage({module: {wasm: module.wasm, factory: `tilewright_${this.name}`}});
    });
    URL.revokeObjectURL(url);
    worker.onmessage = ({data}) => this.received(worker, data);
    worker.onerror = e => this.received(worker, {id: null, failed: e.message});
  }

  received(worker, data) {
    if (worker !== this.worker) return;
    if ('progress' in data) {
      if (this.onProgress) this.onProgress(data.progress);
      return;
    }
    if (data.failed !== undefined) {
      const memory = data.memory >= memoryLimitBytes / 2 || /memory|OOM|bad_alloc/i.test(data.failed);
      this.end(new Error(memory
        ? `The run needs more than ${memoryLimitBytes >> 20} MB of memory, the limit of this page: ` +
          'choose a smaller size.'
        : `The module stopped: ${data.failed}`));
      return;
    }
    const request = this.waiting.get(data.id);
    this.waiting.delete(data.id);
    if (request) request.done(data);
  }

  /** Ends the thread; requests without an answer are rejected. */
  end(reason) {
    if (this.worker) this.worker.terminate();
    this.worker = null;
    this.starting = null;
    const left = [...this.waiting.values()];
    this.waiting.clear();
    for (const request of left) request.failed(reason);
  }

  stop() { this.end(new Error('stopped')); }

  /** Resolves with {status, out, err}: the exit status and the bytes written. files: texts by name,
   *  which the command can read. */
  async request(words, files = {}) {
    this.starting ??= this.start();
    try {
      await this.starting;
    } catch (e) {
      this.starting = null;
      throw e;
    }
    if (!this.worker) throw new Error('stopped');
    const id = this.next++;
    return new Promise((done, failed) => {
      this.waiting.set(id, {done, failed});
      this.worker.postMessage({id, words, files});
    });
  }

  /** As text. */
  async text(words, files = {}) {
    const answer = await this.request(words, files), decode = b => new TextDecoder().decode(b);
    return {status: answer.status, out: decode(answer.out), err: decode(answer.err)};
  }
}

/** Calls `work` with the newest argument alone while an older call is at work. */
function newestOnly(work) {
  let busy = false, wanted = null;
  return async function call(argument) {
    wanted = {argument};
    if (busy) return;
    busy = true;
    while (wanted) {
      const now = wanted.argument;
      wanted = null;
      try { await work(now); } catch (e) { console.error(e); }
    }
    busy = false;
  };
}
