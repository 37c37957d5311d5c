// The address follows the state, the theme follows the reader, the page says that it computes, and texts can be copied.
// Everything else is the server's.
(function () {
  "use strict";
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  function paint() {
    const chosen = localStorage.getItem("giantstep-theme");
    root.dataset.theme = chosen || (dark.matches ? "dark" : "light");
  }
  paint();
  dark.addEventListener("change", paint);

  // An answer that takes longer than a moment is announced. Polling is quicker, so it is not.
  const ask = window.fetch;
  let waiting = 0;
  function announce() { root.toggleAttribute("data-computing", waiting > 0); }
  window.fetch = async function (...given) {
    let counted = false;
    const late = setTimeout(() => { counted = true; waiting += 1; announce(); }, 250);
    try {
      return await ask.apply(this, given);
    } finally {
      clearTimeout(late);
      if (counted) waiting -= 1;
      announce();
    }
  };

  // A line keeps its caret where its reader has it. Dash sets it back a moment after every key: while the page is busy that comes
  // after later keys, and what is typed lands in the wrong order.
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLInputElement && target.type === "text") target.setSelectionRange = () => {};
  });

  async function copy(button) {
    const what = button.dataset.copy;
    const text = what === "location" ? window.location.href : document.getElementById(what).textContent;
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch (_) {
      button.textContent = "Press Ctrl+C";
      window.getSelection().selectAllChildren(document.getElementById(what) || button);
    }
    setTimeout(() => { button.textContent = before; }, 1500);
  }

  // A text inside a PNG: an iTXt chunk with its checksum (PNG, third edition, 11.3.3.4 and annex D).
  const remainders = Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
    return n >>> 0;
  });
  function inscription(name, text) {
    const body = new TextEncoder().encode(`iTXt${name}\0\0\0\0\0${text}`);
    const sum = body.reduce((rest, byte) => remainders[(rest ^ byte) & 255] ^ (rest >>> 8), 0xffffffff);
    const chunk = new Uint8Array(body.length + 8);
    new DataView(chunk.buffer).setUint32(0, body.length - 4);
    chunk.set(body, 4);
    new DataView(chunk.buffer).setUint32(body.length + 4, (sum ^ 0xffffffff) >>> 0);
    return chunk;
  }

  // The figure of a claim is an SVG; a PNG of it is painted here, with the page's texts inside, after its header of 33 bytes.
  async function painted(link) {
    const image = new Image();
    image.src = link.href;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.naturalWidth;
    canvas.height = 2 * image.naturalHeight;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const plain = await new Promise((done) => canvas.toBlob(done, "image/png"));
    const texts = { Software: "giantstep" };
    for (const [name, key] of [["Python", "claims-snippet"], ["BibTeX", "claims-bibtex"]]) {
      texts[name] = document.getElementById(key).textContent;
    }
    const inside = Object.entries(texts).map(([name, text]) => inscription(name, text));
    const save = document.createElement("a");
    save.href = URL.createObjectURL(new Blob([plain.slice(0, 33), ...inside, plain.slice(33)], { type: "image/png" }));
    save.download = link.download;
    save.click();
    setTimeout(() => URL.revokeObjectURL(save.href), 60000);
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.as-png");
    if (link) {
      event.preventDefault();
      painted(link);
    }
    const button = event.target.closest("button");
    if (!button) return;
    if (button.id === "theme") {
      localStorage.setItem("giantstep-theme", root.dataset.theme === "dark" ? "light" : "dark");
      paint();
    } else if (button.dataset.copy) {
      copy(button);
    }
  });

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    explorer: {
      // The query of the state replaces that of the address: no entry in the history for every move of a slider.
      address: function (query) {
        const view = (query || "").split("?")[0];
        const here = window.location.pathname === "/" ? "/one-step" : window.location.pathname;
        if (query && view === here) window.history.replaceState(window.history.state, "", query);
        return query;
      },
      // Whether polling and Stop are disabled: unless there is a run that is not done.
      waits: function (run, done) {
        const over = (run || null) === (done || null);
        return [over, over];
      },
    },
  });
})();
