// SPDX-License-Identifier: Apache-2.0
// common.js  What all pages share: the state in the fragment of the address, elements, copying.
'use strict';

const byId = id => document.getElementById(id);

/** An element with attributes and children; texts are texts, never markup. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const longestText = 4000;  // of a value in the fragment

/** The fragment as an object with the keys of `defaults`. Anybody may have written it: what is no
 *  key is dropped, values are texts of a limited length. */
function readFragment(defaults) {
  const state = {...defaults};
  let parts;
  try {
    parts = new URLSearchParams(location.hash.slice(1));
  } catch (e) {
    return state;
  }
  for (const [key, value] of parts) {
    if (!Object.hasOwn(defaults, key)) continue;
    state[key] = value.replace(/[\u0000-\u0009\u000b-\u001f\u007f]/g, '').slice(0, longestText);
  }
  return state;
}

function fragmentOf(state, defaults) {
  const parts = new URLSearchParams();
  for (const key of Object.keys(defaults)) {
    if (state[key] !== defaults[key]) parts.set(key, state[key]);
  }
  return '#' + parts.toString();
}

function writeFragment(state, defaults) {
  const hash = fragmentOf(state, defaults);
  if (hash !== (location.hash || '#')) history.replaceState(null, '', hash);
}

function download(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = element('a', {href: url, download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** Copies a text; where the browser refuses, the text is saved as a file. */
async function copyText(text, name) {
  try {
    await navigator.clipboard.writeText(text);
    return 'copied';
  } catch (e) {
    const field = element('textarea', {readonly: true, class: 'unseen'});
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    if (done) return 'copied';
    download(name, new Blob([text], {type: 'text/plain'}));
    return `saved as ${name}`;
  }
}

/** A word as a POSIX shell needs it. */
function shellWord(word) {
  return /^[A-Za-z0-9_.,:\/=+-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`;
}

/** The record of an answer in JSON; null where the command refused. */
function recordOf(answer) {
  try {
    return JSON.parse(answer.out);
  } catch (e) {
    return null;
  }
}

/** What the command says on stderr, without its name. */
function refusalText(answer) {
  return answer.err.replace(/^tilewright: /, '').trimEnd();
}
