// Draws the figures of the story from the numbers inside the page, and moves between the scenes. No library, no network.
"use strict";
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const numbers = JSON.parse(document.getElementById("numbers").textContent);
  const STEP = 900; // milliseconds between the frames of Play

  function element(name, attributes, parent, text) {
    const made = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.appendChild(made);
    return made;
  }

  // Writes n^α with a raised α.
  function words(parent, text) {
    const [start, ...raised] = text.split("^");
    parent.append(start);
    for (const part of raised) {
      const [, index, rest] = part.match(/^([\wα-ω.−]+)(.*)$/u) || [null, part, ""];
      element("tspan", { dy: "-0.4em", "font-size": "75%" }, parent, index);
      if (rest) element("tspan", { dy: "0.3em" }, parent, rest);
    }
  }

  // A scale maps a value to pixels between two ends.
  function scale(axis, from, to) {
    const bend = axis.log ? Math.log : axis.asinh ? (v) => Math.asinh(v / axis.asinh) : (v) => v;
    const low = bend(axis.min), high = bend(axis.max);
    return (v) => from + ((bend(v) - low) / (high - low)) * (to - from);
  }

  function ticks(axis, most) {
    if (axis.names.length) return axis.names.map((name, i) => [i, name]);
    let values = [];
    if (axis.log || axis.asinh) {
      const decades = Math.log10(axis.max / (axis.log ? axis.min : axis.asinh));
      const digits = decades < 1.6 ? [1, 2, 5] : decades < 3 ? [1, 3] : [1];
      for (let k = -6; k < 7; k++) for (const m of digits) values.push(Number(`${m}e${k}`));
      values = values.filter((v) => v >= (axis.log ? axis.min : axis.asinh / 1.5) && v <= axis.max);
      if (axis.asinh) values.unshift(0);
    } else {
      const rough = (axis.max - axis.min) / most, power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
      for (let v = Math.ceil(axis.min / step - 1e-9) * step; v <= axis.max + 1e-9 * step; v += step) values.push(v);
    }
    return values.map((v) => [v, String(Number(v.toPrecision(6))).replace("-", "−")]);
  }

  function chart(figure, frame, width, spoken) {
    const square = figure.x.circle, height = square ? Math.min(width - 26, 430) : Math.max(240, Math.min(width * 0.62, 400));
    const side = { left: 68, right: 12, top: 10, bottom: figure.x.label ? 44 : 26 };
    const inner = square ? height - side.top - side.bottom : width - side.left - side.right;
    const start = square ? Math.max(side.left, (width - inner) / 2) : side.left;
    const x = scale(figure.x, start, start + inner), y = scale(figure.y, height - side.bottom, side.top);
    const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": spoken });
    const axes = element("g", { class: "axis" }, svg);
    const bottom = height - side.bottom, right = start + inner, clip = `clip-${Math.random().toString(36).slice(2)}`;
    for (const [value, name] of ticks(figure.x, Math.max(3, inner / 90))) {
      if (!figure.x.names.length) element("line", { class: "grid", x1: x(value), x2: x(value), y1: side.top, y2: bottom }, axes);
      element("text", { x: x(value), y: bottom + 17, "text-anchor": "middle" }, axes, name);
    }
    for (const [value, name] of ticks(figure.y, 5)) {
      element("line", { class: "grid", x1: start, x2: right, y1: y(value), y2: y(value) }, axes);
      element("text", { x: start - 7, y: y(value) + 4, "text-anchor": "end" }, axes, name);
    }
    words(element("text", { class: "name", x: (start + right) / 2, y: height - 6, "text-anchor": "middle" }, axes), figure.x.label);
    const middle = (side.top + bottom) / 2;
    words(element("text", { class: "name", "text-anchor": "middle", transform: `translate(${start - 54} ${middle}) rotate(-90)` }, axes), figure.y.label);
    element("rect", { x: start - 7, y: side.top - 7, width: inner + 14, height: bottom - side.top + 7 },
      element("clipPath", { id: clip }, element("defs", {}, svg)));
    const inside = element("g", { "clip-path": `url(#${clip})` }, svg);
    if (square) element("circle", { class: "frame", cx: x(0), cy: y(0), r: x(1) - x(0) }, inside);
    for (const mark of frame.marks) draw(inside, mark, x, y, { bottom, top: side.top, start, right });
    return svg;
  }

  const path = (xs, ys) => xs.map((v, i) => `${i ? "L" : "M"}${v.toFixed(1)} ${ys[i].toFixed(1)}`).join("");

  function draw(parent, mark, x, y, box) {
    const ink = `ink${mark.ink}`, xs = (mark.x || []).map(x), ys = (mark.y || []).map(y);
    const kinds = {
      line: () => element("path", { class: `line ${ink}${mark.dashed ? " dashed" : ""}`, d: path(xs, ys) }, parent),
      band: () => element("path", { class: `band ${ink}`,
        d: `${path(xs.concat([...xs].reverse()), ys.concat(mark.high.map(y).reverse()))}Z` }, parent),
      bars: () => ys.forEach((top, i) => element("rect", { class: `bars ${ink}`, x: xs[i], y: Math.min(top, box.bottom),
        width: Math.max(xs[i + 1] - xs[i] - 0.5, 0.5), height: Math.max(box.bottom - top, 0) }, parent)),
      dots: () => xs.forEach((at, i) => {
        const error = mark.error && mark.error[i];
        if (error) element("line", { class: `error ${ink}`, x1: at, x2: at, y1: y(Math.max(mark.y[i] - error, mark.y[i] / 20)),
          y2: y(mark.y[i] + error) }, parent);
        element("circle", { class: `${mark.hollow ? "hollow" : "dot"} ${ink}`, cx: at, cy: ys[i], r: mark.ink === 3 ? 0 : 4 }, parent);
      }),
      wedges: () => xs.forEach((at) => element("path", { class: `wedge ${ink}`, d: `M${at} ${box.bottom - 1}l-5 -10h10z` }, parent)),
      level: () => element("line", { class: `level ${ink}`, x1: box.start, x2: box.right, y1: ys[0], y2: ys[0] }, parent),
      upright: () => xs.forEach((at) => element("line", { class: `upright ${ink}`, x1: at, x2: at, y1: box.bottom, y2: box.top }, parent)),
      trails: () => mark.paths.forEach((points) => {
        const across = points.map((p) => x(p[0])), up = points.map((p) => y(p[1])), last = points.length - 1;
        element("path", { class: `trail ${ink}`, d: path(across, up) }, parent);
        element("circle", { class: `dot ${ink}`, cx: across[last], cy: up[last], r: 5 }, parent);
      }),
    };
    kinds[mark.kind]();
  }

  function legend(list, marks) {
    list.replaceChildren();
    const seen = new Set();
    for (const mark of marks.filter((m) => m.name && !seen.has(m.name) && seen.add(m.name))) {
      const item = list.appendChild(document.createElement("li"));
      const key = element("svg", { viewBox: "0 0 22 12", "aria-hidden": "true" }, item), ink = `ink${mark.ink}`;
      const shapes = {
        bars: () => element("rect", { class: `bars ${ink}`, x: 3, y: 1, width: 16, height: 11 }, key),
        wedges: () => element("path", { class: `wedge ${ink}`, d: "M11 12l-5 -10h10z" }, key),
        dots: () => element("circle", { class: `${mark.hollow ? "hollow" : "dot"} ${ink}`, cx: 11, cy: 6, r: 4 }, key),
        trails: () => element("circle", { class: `dot ${ink}`, cx: 11, cy: 6, r: 5 }, key),
      };
      const stroke = () => element("line", { class: `${mark.kind} ${ink}${mark.dashed ? " dashed" : ""}`, x1: 0, x2: 22, y1: 6, y2: 6 }, key);
      (shapes[mark.kind] || stroke)();
      item.append(mark.name);
    }
  }

  function start(section) {
    const figure = numbers[section.id], play = section.querySelector(".play");
    const inputs = [...section.querySelectorAll(".control input, .control select")];
    const count = (input) => (input.options ? input.options.length : Number(input.max) + 1);
    let timer = 0, untouched = true; // Play begins at the first value, unless a reader chose another
    const index = () => inputs.reduce((at, input) => at * count(input) + Number(input.value), 0);

    function show() {
      for (const input of inputs.filter((each) => each.dataset.values)) {
        const value = input.dataset.values.split(" ")[input.value];
        input.setAttribute("aria-valuetext", value);
        input.parentElement.querySelector("output").textContent = value;
      }
      const frame = figure.frames[index()], box = section.querySelector(".chart");
      box.replaceChildren(chart(figure, frame, Math.max(box.clientWidth, 280), frame.words));
      legend(section.querySelector(".legend"), frame.marks);
      section.querySelector("figcaption").textContent = frame.words;
    }

    function stop() {
      clearInterval(timer);
      timer = 0;
      play.textContent = "▶ Play";
    }

    play.addEventListener("click", () => {
      if (timer) return stop();
      const last = count(inputs[0]) - 1;
      if (untouched || Number(inputs[0].value) === last) inputs[0].value = 0;
      untouched = false;
      play.textContent = "❚❚ Pause";
      timer = setInterval(() => {
        inputs[0].value = Number(inputs[0].value) + 1;
        show();
        if (Number(inputs[0].value) >= last) stop();
      }, STEP);
      show();
    });
    for (const input of inputs) input.addEventListener("input", () => { untouched = false; stop(); show(); });
    window.addEventListener("resize", show);
    show();
  }

  const dark = window.matchMedia("(prefers-color-scheme: dark)"), root = document.documentElement;
  root.dataset.theme = dark.matches ? "dark" : "light";
  dark.addEventListener("change", () => { root.dataset.theme = dark.matches ? "dark" : "light"; });
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  });

  const sections = [...document.querySelectorAll(".scene")];
  sections.forEach(start);
  document.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|PRE)$/.test(event.target.tagName)) return;
    const here = sections.findLastIndex((each) => each.getBoundingClientRect().top < window.innerHeight / 3);
    const next = sections[Math.max(0, Math.min(sections.length - 1, here + step))];
    event.preventDefault();
    next.scrollIntoView();
    next.focus({ preventScroll: true });
  });
})();
