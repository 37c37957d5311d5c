// The address follows the state, the theme follows the reader, and texts can be copied. Everything else is the server's.
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

  // The figure of a claim is an SVG; a PNG of it is painted here.
  function painted(link) {
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 2 * image.naturalWidth;
      canvas.height = 2 * image.naturalHeight;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      const save = document.createElement("a");
      save.href = canvas.toDataURL("image/png");
      save.download = link.download;
      save.click();
    };
    image.src = link.href;
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
        const here = window.location.pathname === "/" ? "/explain" : window.location.pathname;
        if (query && view === here) window.history.replaceState(window.history.state, "", query);
        return query;
      },
    },
  });
})();
