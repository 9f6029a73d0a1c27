// SPDX-License-Identifier: Apache-2.0
// iframe-worker.js  The search of the pages opened as files: browsers start no Worker of a file, so
//                   its script runs in a hidden frame of the page.
"use strict";
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      this.inside = inside;
      const load = (path) =>
        new Promise((done, failed) => {
          const script = inside.document.createElement("script");
          script.src = path;
          script.onload = done;
          script.onerror = failed;
          inside.document.body.append(script);
        });
      inside.importScripts = (...paths) =>
        paths.reduce((before, path) => before.then(() => load(path)), Promise.resolve());
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.loaded = load(url);
    }
    postMessage(data) {
      this.loaded.then(() =>
        this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data })));
    }
    terminate() {
      this.inside.frameElement.remove();
    }
  };
