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
  const shown = (value, digits) => (value === null ? "–" : value.toFixed(digits));
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
      document.querySelector(`.roc g[data-model="${box.value}"]`).toggleAttribute("hidden", !box.checked);
    });
  }

  // The heat map of pairs.
  const heat = document.getElementById("heat");
  const readout = document.getElementById("readout");
  if (!heat) return;
  const classes = report.heat_map.classes;
  const floor = report.heat_map.floor;
  const labels = classes.map((k) => report.labels[k]);
  const counts = classes.map((k) => report.counts[k]);
  const K = classes.length;
  const cell = Math.max(9, Math.min(64, Math.floor(720 / K)));
  const fontSize = Math.max(7, Math.min(14, cell * 0.8));
  const longest = Math.min(18, Math.max(...labels.map((label) => [...label].length)));
  const margin = Math.ceil(longest * fontSize * 0.62) + 10;
  const short = (label) => ([...label].length > 18 ? [...label].slice(0, 17).join("") + "…" : label);
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

  const draw = () => {
    order = ORDERS[chosen("order") ?? "labels"]();
    const side = K * cell;
    const parts = [];
    const paths = Array.from({ length: BINS + 1 }, () => []);
    order.forEach((row, i) => {
      order.forEach((column, j) => {
        const v = value(row, column);
        const bucket = v === null ? BINS : bin(v);
        const gap = cell >= 14 ? 1 : 0;
        paths[bucket].push(`M${margin + j * cell},${margin + i * cell}h${cell - gap}v${cell - gap}h${gap - cell}z`);
        if (K <= 12 && v !== null) {
          const place = { x: margin + (j + 0.5) * cell, y: margin + (i + 0.5) * cell + 4.5, "text-anchor": "middle", "font-size": 13 };
          parts.push(element("text", { ...place, class: `number ${bucket < 4 ? "dark" : "light"}` }, v.toFixed(3).replace(/^0/, "")));
        }
      });
      const across = { x: margin - 5, y: margin + (i + 0.5) * cell + fontSize * 0.36, "text-anchor": "end" };
      parts.push(element("text", { ...across, "font-size": fontSize, "data-row": i }, short(labels[row])));
      const turn = `translate(${margin + (i + 0.5) * cell + fontSize * 0.36} ${margin - 5}) rotate(-90)`;
      parts.push(element("text", { transform: turn, "font-size": fontSize, "data-column": i }, short(labels[row])));
    });
    const shapes = paths.map((d, k) => element("path", { d: d.join(""), class: k === BINS ? "nothing" : `h${k}`, "shape-rendering": "crispEdges" }));
    const crosses = [element("rect", { class: "cross", id: "cross-row" }), element("rect", { class: "cross", id: "cross-column" })];
    const cursor = element("rect", { class: "cursor", id: "cursor", width: cell, height: cell });
    heat.replaceChildren(...shapes, ...crosses, ...parts, cursor);
    heat.setAttribute("viewBox", `0 0 ${margin + side + 4} ${margin + side + 4}`);
    heat.setAttribute("width", margin + side + 4);
    heat.setAttribute("height", margin + side + 4);
    mark();
  };

  const mark = () => {
    const cursor = document.getElementById("cursor");
    for (const old of heat.querySelectorAll(".chosen")) old.classList.remove("chosen");
    for (const rect of heat.querySelectorAll(".cross, .cursor")) rect.toggleAttribute("hidden", at === null);
    if (at === null) return;
    const [i, j] = [order.indexOf(at[0]), order.indexOf(at[1])];
    const set = (rect, values) => Object.entries(values).forEach(([key, v]) => rect.setAttribute(key, v));
    set(cursor, { x: margin + j * cell, y: margin + i * cell });
    set(document.getElementById("cross-row"), { x: margin, y: margin + i * cell, width: K * cell, height: cell });
    set(document.getElementById("cross-column"), { x: margin + j * cell, y: margin, width: cell, height: K * cell });
    heat.querySelector(`[data-row="${i}"]`).classList.add("chosen");
    heat.querySelector(`[data-column="${j}"]`).classList.add("chosen");
    readout.textContent = sentence(at[0], at[1]);
  };

  const sentence = (row, column) => {
    if (row === column) return `${labels[row]}: ${counts[row].toLocaleString("en")} rows`;
    const numbers = table();
    const found = numbers.value[row][column];
    const pair = directed() ? `${labels[row]} told from ${labels[column]} by the score for ${labels[row]}` : `${labels[row]} and ${labels[column]}`;
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
    const j = Math.floor(((event.clientX - box.left) * scale - margin) / cell);
    const i = Math.floor(((event.clientY - box.top) * scale - margin) / cell);
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
  showModel();
  draw();
})();
