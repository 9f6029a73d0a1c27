// SPDX-License-Identifier: Apache-2.0
// worker.js  The thread of a module: command lines come in, what the command writes goes out. The
//            page joins it with emscripten's code of the module, so it is no file of the site.
'use strict';

let instance = null;
const written = {1: [], 2: []};

function joined(parts) {
  const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

async function unpacked(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

function run(words) {
  written[1] = [];
  written[2] = [];
  const text = new TextEncoder().encode(words.map(w => w.replace(/\0/g, '') + '\0').join(''));
  const at = instance._malloc(text.length);
  instance.HEAPU8.set(text, at);
  instance._tw_request(at, words.length);
  instance._free(at);
  return {status: instance._tw_status(), out: joined(written[1]), err: joined(written[2])};
}

onmessage = async ({data}) => {
  if (data.module) {
    try {
      const wasmBinary = await unpacked(data.module.wasm);
      instance = await self[data.module.factory]({
        wasmBinary,
        written,
        progress: share => postMessage({progress: share}),
        print: () => {},
        printErr: () => {},
      });
      postMessage({ready: true});
    } catch (e) {
      postMessage({failed: String(e)});
    }
    return;
  }
  try {
    for (const [name, text] of Object.entries(data.files)) instance.FS.writeFile(name, text);
    const answer = run(data.words);
    postMessage({id: data.id, ...answer}, [answer.out.buffer, answer.err.buffer]);
  } catch (e) {
    // A failed allocation, or a trap: the module's memory cannot be trusted any more.
    postMessage({id: data.id, failed: String(e), memory: instance.HEAPU8.length});
  }
};
