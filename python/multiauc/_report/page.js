"use strict";
(() => {
  const report = JSON.parse(document.getElementById("multiauc-numbers").textContent);
  const root = document.documentElement;
  root.classList.add("scripted");
  const BINS = 9;
  const SVG = "http://www.w3.org/2000/svg";

  const element = (name, attributes, text) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  // As everywhere: more digits where a number would read as 0 or 1 without being it.
  const shown = (value, digits) => {
    if (value === null) return "–";
    for (let count = digits; count <= 16; count += 1) {
      const text = value.toFixed(count);
      if (value === 0 || value >= 1 || (Number(text) !== 0 && Number(text) !== 1)) return text;
    }
    return value.toExponential(0);
  };
  const named = (label) => (/[^\p{C}\p{Z}]/u.test(label) ? label : label === "" ? "(empty)" : "(blank)");
  const chosen = (name) => {
    const input = document.querySelector(`input[name="${name}"]:checked`);
    return input ? input.value : null;
  };

  // The theme: the reader's own unless the button says otherwise.
  const theme = document.getElementById("theme");
  theme.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // Tables that sort by a click on a heading: up, then down.
  for (const button of document.querySelectorAll("table.sortable button.sort")) {
    button.addEventListener("click", () => {
      const heading = button.closest("th");
      const table = heading.closest("table");
      const column = [...heading.parentNode.children].indexOf(heading);
      const rising = heading.getAttribute("aria-sort") !== "ascending";
      for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const key = (row) => {
        const cell = row.children[column];
        if (cell.dataset.value === undefined) return cell.textContent;
        return cell.dataset.value === "" ? NaN : Number(cell.dataset.value);
      };
      const compare = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (typeof x === "string") return (rising ? 1 : -1) * x.localeCompare(y, undefined, { numeric: true });
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
        return (rising ? 1 : -1) * (x - y);
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort(compare));
    });
  }

  // Curves that can be hidden.
  for (const box of document.querySelectorAll("input.show-curve")) {
    box.addEventListener("change", () => {
      for (const curve of document.querySelectorAll(`.roc g[data-model="${box.value}"]`)) curve.toggleAttribute("hidden", !box.checked);
    });
  }

  // The heat map of pairs.
  const heat = document.getElementById("heat");
  const readout = document.getElementById("readout");
  if (!heat) return;
  const classes = report.heat_map.classes;
  heat.classList.toggle("many", classes.length > 20);
  const floor = report.heat_map.floor;
  const labels = classes.map((k) => named(report.labels[k]));
  const counts = classes.map((k) => report.counts[k]);
  const K = classes.length;
  let layout = null;
  let order = labels.map((_, k) => k);
  let at = null;

  const kinds = report.heat_map.kinds;
  const kind = () => kinds.find((each) => each.metric === chosen("kind")) ?? kinds[0];
  const table = () => report.models[Number(chosen("model") ?? 0)].pairs[kind().metric];
  const directed = () => !kind().is_symmetric;
  const value = (row, column) => table().value[row][column];
  const bin = (v) => Math.max(0, Math.min(BINS - 1, Math.floor(((v - floor) / (1 - floor)) * BINS)));

  const worstOf = (k) => {
    let worst = Infinity;
    for (let d = 0; d < K; d += 1) {
      for (const v of [value(k, d), value(d, k)]) if (v !== null && v < worst) worst = v;
    }
    return worst;
  };
  const ORDERS = {
    labels: () => labels.map((_, k) => k),
    worst: () => {
      const worst = labels.map((_, k) => worstOf(k));
      return ORDERS.labels().sort((a, b) => worst[a] - worst[b] || a - b);
    },
    rows: () => ORDERS.labels().sort((a, b) => counts[b] - counts[a] || a - b),
  };

  // How wide a text is drawn.
  const pen = document.createElement("canvas").getContext("2d");
  const family = getComputedStyle(document.body).fontFamily;
  const widthOf = (text, size) => {
    pen.font = `${size}px ${family}`;
    return pen.measureText(text).width;
  };
  // A label in lines of some width, broken between words where that is possible; what does not fit into `most` lines is cut.
  const wrapped = (label, size, width, most) => {
    const lines = [""];
    for (const word of label.split(/(?<=[\s\-_/])/u)) {
      if (widthOf(lines.at(-1) + word.trimEnd(), size) <= width) {
        lines[lines.length - 1] += word;
        continue;
      }
      if (lines.at(-1) !== "") lines.push("");
      for (const sign of word) {
        if (lines.at(-1) !== "" && widthOf(lines.at(-1) + sign, size) > width) lines.push("");
        lines[lines.length - 1] += sign;
      }
    }
    if (lines.length <= most) return lines;
    let last = [...lines[most - 1]];
    while (last.length > 1 && widthOf(`${last.join("")}…`, size) > width) last = last.slice(0, -1);
    return [...lines.slice(0, most - 1), `${last.join("")}…`];
  };

  // Sizes that use the width there is: cells up to 200 wide, rows as high as their names need, columns named across if that fits.
  const laidOut = (room) => {
    const longest = (size) => Math.max(...labels.map((label) => widthOf(label, size)));
    const size = K <= 20 ? 13 : K <= 40 ? 11 : 9;
    const left = Math.ceil(Math.min(longest(size), Math.max(70, 0.35 * room))) + 10;
    const across = Math.max(K <= 40 ? 14 : 9, Math.min(200, Math.floor((room - left - 4) / K)));
    const fontSize = Math.min(size, Math.max(7, across - 1));
    const rowNames = labels.map((label) => wrapped(label, fontSize, left - 10, K <= 40 ? 6 : 1));
    const line = 1.15 * fontSize;
    const needed = Math.ceil(line * Math.max(...rowNames.map((lines) => lines.length))) + 2;
    const down = Math.max(Math.min(across, 56), K <= 40 ? needed : 0);
    const turned = longest(fontSize) > across - 6;
    const abreast = turned ? Math.max(1, Math.floor((across - 2) / line)) : 1;
    const depth = turned ? Math.min(longest(fontSize), abreast > 1 ? 170 : 300) : line;
    const columnNames = labels.map((label) => wrapped(label, fontSize, (turned ? depth : across) + 1, abreast));
    return { left, top: Math.ceil(depth) + 10, across, down, fontSize, line, rowNames, columnNames, turned };
  };

  const draw = () => {
    order = ORDERS[chosen("order") ?? "labels"]();
    layout = laidOut(heat.parentElement.clientWidth);
    const { left, top, across, down, fontSize, line, rowNames, columnNames, turned } = layout;
    const parts = [];
    const paths = Array.from({ length: BINS + 1 }, () => []);
    const gap = Math.min(across, down) >= 14 ? 1 : 0;
    const stacked = (text, lines, x, middle) => lines.forEach((words, k) => {
      const y = middle + (k - (lines.length - 1) / 2) * line + fontSize * 0.36;
      text.append(element("tspan", { x, y }, words));
    });
    const texts = new Map();
    if (K <= 12) order.forEach((row) => order.forEach((column) => { const v = value(row, column); if (v !== null) texts.set(v, shown(v, 3).replace(/^0/, "")); }));
    const fitting = Math.min(13, ...[...texts.values()].map((text) => (13 * (across - 5)) / widthOf(text, 13)));
    order.forEach((row, i) => {
      order.forEach((column, j) => {
        const v = value(row, column);
        const bucket = v === null ? BINS : bin(v);
        paths[bucket].push(`M${left + j * across},${top + i * down}h${across - gap}v${down - gap}h${gap - across}z`);
        if (texts.has(v) && fitting >= 7.5) {
          const place = { x: left + (j + 0.5) * across, y: top + (i + 0.5) * down + 0.35 * fitting, "text-anchor": "middle", "font-size": fitting.toFixed(1) };
          parts.push(element("text", { ...place, class: `number ${bucket < 4 ? "dark" : "light"}` }, texts.get(v)));
        }
      });
      const name = element("text", { "text-anchor": "end", "font-size": fontSize, "data-row": i });
      stacked(name, rowNames[row], left - 5, top + (i + 0.5) * down);
      const middle = left + (i + 0.5) * across;
      const head = element("text", { "text-anchor": turned ? "start" : "middle", "font-size": fontSize, "data-column": i });
      if (turned) head.setAttribute("transform", `translate(${middle} ${top - 5}) rotate(-90)`);
      stacked(head, columnNames[row], turned ? 0 : middle, turned ? 0 : top - 5 - line / 2);
      for (const text of [name, head]) text.append(element("title", {}, labels[row]));
      parts.push(name, head);
    });
    const shapes = paths.map((d, k) => element("path", { d: d.join(""), class: k === BINS ? "nothing" : `h${k}`, "shape-rendering": "crispEdges" }));
    const crosses = [element("rect", { class: "cross", id: "cross-row" }), element("rect", { class: "cross", id: "cross-column" })];
    const cursor = element("rect", { class: "cursor", id: "cursor", width: across, height: down });
    heat.replaceChildren(...shapes, ...crosses, ...parts, cursor);
    const [width, height] = [left + K * across + 2, top + K * down + 2];
    heat.setAttribute("viewBox", `0 0 ${width} ${height}`);
    heat.setAttribute("width", width);
    heat.setAttribute("height", height);
    mark();
  };

  const mark = () => {
    const cursor = document.getElementById("cursor");
    for (const old of heat.querySelectorAll(".chosen")) old.classList.remove("chosen");
    for (const rect of heat.querySelectorAll(".cross, .cursor")) rect.toggleAttribute("hidden", at === null);
    if (at === null) return;
    const { left, top, across, down } = layout;
    const [i, j] = [order.indexOf(at[0]), order.indexOf(at[1])];
    const set = (rect, values) => Object.entries(values).forEach(([key, v]) => rect.setAttribute(key, v));
    set(cursor, { x: left + j * across, y: top + i * down });
    set(document.getElementById("cross-row"), { x: left, y: top + i * down, width: K * across, height: down });
    set(document.getElementById("cross-column"), { x: left + j * across, y: top, width: across, height: K * down });
    heat.querySelector(`[data-row="${i}"]`).classList.add("chosen");
    heat.querySelector(`[data-column="${j}"]`).classList.add("chosen");
    readout.textContent = sentence(at[0], at[1]);
  };

  const sentence = (row, column) => {
    if (row === column) return `${labels[row]}: ${counts[row].toLocaleString("en")} rows`;
    const numbers = table();
    const found = numbers.value[row][column];
    const pair = directed() ? `${labels[row]} against ${labels[column]} by the score for ${labels[row]}` : `${labels[row]} and ${labels[column]}`;
    const rows = `${counts[row].toLocaleString("en")} and ${counts[column].toLocaleString("en")} rows`;
    if (found === null) return `${pair}: not known (${rows})`;
    const low = numbers.low[row][column];
    const limits = low === null ? "" : `, ${report.level_text} interval ${shown(low, 4)} to ${shown(numbers.high[row][column], 4)}`;
    return `${pair}: ${shown(found, 4)}${limits} (${rows})`;
  };

  const select = (row, column) => {
    if (at !== null && at[0] === row && at[1] === column) return;
    at = [row, column];
    mark();
  };
  const worstPair = () => {
    let best = null;
    for (let c = 0; c < K; c += 1) {
      for (let d = 0; d < K; d += 1) {
        const v = value(c, d);
        if (v !== null && (best === null || v < best[0])) best = [v, c, d];
      }
    }
    return best === null ? [0, 0] : [best[1], best[2]];
  };

  const fromPointer = (event) => {
    const box = heat.getBoundingClientRect();
    const scale = heat.viewBox.baseVal.width / box.width;
    const j = Math.floor(((event.clientX - box.left) * scale - layout.left) / layout.across);
    const i = Math.floor(((event.clientY - box.top) * scale - layout.top) / layout.down);
    if (i >= 0 && j >= 0 && i < K && j < K) select(order[i], order[j]);
  };
  heat.addEventListener("pointermove", fromPointer);
  heat.addEventListener("pointerdown", fromPointer);
  const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  heat.addEventListener("keydown", (event) => {
    if (event.key === "Home") select(...worstPair());
    else if (STEPS[event.key]) {
      const [i, j] = at === null ? [0, 0] : [order.indexOf(at[0]), order.indexOf(at[1])];
      const [down, right] = STEPS[event.key];
      select(order[Math.max(0, Math.min(K - 1, i + down))], order[Math.max(0, Math.min(K - 1, j + right))]);
    } else return;
    event.preventDefault();
    document.getElementById("cursor").scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  heat.addEventListener("focus", () => { if (at === null) select(...worstPair()); });

  const showModel = () => {
    const model = chosen("model") ?? "0";
    for (const part of document.querySelectorAll("[data-pairs-of]")) part.hidden = part.dataset.pairsOf !== model;
  };
  for (const input of document.querySelectorAll("#heat-controls input")) {
    input.addEventListener("change", () => { showModel(); draw(); });
  }
  let room = 0;
  new ResizeObserver(() => {
    if (heat.parentElement.clientWidth !== room && !matchMedia("print").matches) draw();
    room = heat.parentElement.clientWidth;
  }).observe(heat.parentElement);
  showModel();
  draw();
})();
