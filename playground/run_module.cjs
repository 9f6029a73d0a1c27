// SPDX-License-Identifier: Apache-2.0
// run_module.cjs  Runs command lines in a module of the playground, in node:
//   node run_module.cjs FOLDER MODULE WORD...    writes what the command would, with its status
//   node run_module.cjs FOLDER MODULE --lines    reads lines of JSON, ["word", ...], and writes for
//                                        each {"status", "out", "err", "ms"}, texts in base64
'use strict';

const fs = require('fs');
const path = require('path');

async function loaded(folder, name) {
  const written = {1: [], 2: []};
  const make = require(path.resolve(folder, `${name}.js`));
  const wasmBinary = fs.readFileSync(path.join(folder, `${name}.wasm`));
  const module = await make({wasmBinary, written, progress: () => {}, print: () => {},
                             printErr: () => {}});
  return words => {
    written[1] = [];
    written[2] = [];
    // A file beside, for a module with a file system in memory.
    for (const name of words.filter(w => /^\w+\.json$/.test(w) && module.FS && fs.existsSync(w)))
      module.FS.writeFile(name, fs.readFileSync(name));
    const text = Buffer.from(words.map(w => w + '\0').join(''));
    const at = module._malloc(text.length);
    module.HEAPU8.set(text, at);
    module._tw_request(at, words.length);
    module._free(at);
    return {status: module._tw_status(), out: Buffer.concat(written[1]),
            err: Buffer.concat(written[2])};
  };
}

(async () => {
  const [folder, name, ...words] = process.argv.slice(2);
  const run = await loaded(folder, name);
  if (words[0] !== '--lines') {
    const answer = run(words);
    process.stdout.write(answer.out);
    process.stderr.write(answer.err);
    process.exitCode = answer.status;
    return;
  }
  const lines = fs.readFileSync(0, 'utf8').split('\n').filter(line => line !== '');
  for (const line of lines) {
    const begin = process.hrtime.bigint();
    let answer;
    try {
      answer = run(JSON.parse(line));
    } catch (e) {
      process.stderr.write(`${line}: ${e.stack || e}\n`);
      process.exit(3);
    }
    const ms = Number(process.hrtime.bigint() - begin) / 1e6;
    fs.writeSync(1, JSON.stringify({status: answer.status, out: answer.out.toString('base64'),
                                    err: answer.err.toString('base64'), ms}) + '\n');
  }
})().catch(e => {
  process.stderr.write(`${e.stack || e}\n`);
  process.exit(3);
});
