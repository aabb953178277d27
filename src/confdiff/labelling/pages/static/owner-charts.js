// Charts of the owner's page, built as SVG elements. Colours come from classes of owner.css.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

/** Return an SVG element with attributes and children; numbers are rounded. */
function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, typeof value === "number" ? String(Math.round(value * 100) / 100) : value);
  }
  element.append(...children);
  return element;
}

/** Return a picture with a text for screen readers. */
function picture(width, height, label, className, ...children) {
  const attributes = { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label, class: className };
  return svg("svg", attributes, ...children);
}

/** Return bars for the number of answers per point of the scale; the middle one is a tie. */
function gradeBars(counts, label, words) {
  const width = 108;
  const height = 34;
  const largest = Math.max(1, ...counts);
  const step = width / counts.length;
  const middle = (counts.length - 1) / 2;
  const bars = counts.map((count, i) => {
    const tall = (count / largest) * (height - 4);
    const side = i < middle ? "before" : i > middle ? "after" : "tie";
    const bar = svg("rect", { x: i * step + 1, y: height - 1 - tall, width: step - 2, height: tall, rx: 1.5, class: side });
    bar.append(svg("title", {}, `${words[i] ?? i + 1}: ${count}`));
    return bar;
  });
  const line = svg("line", { x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5, class: "axis" });
  return picture(width, height, label, "chart bars", line, ...bars);
}

/** Return a value with its interval on a line from low to high, with a mark at a reference. */
function intervalBar(value, low, high, range, label, { reference = null, width = 180, className = "" } = {}) {
  const height = 18;
  const at = (x) => 5 + ((Math.min(range[1], Math.max(range[0], x)) - range[0]) / (range[1] - range[0] || 1)) * (width - 10);
  const parts = [svg("line", { x1: 5, x2: width - 5, y1: 9, y2: 9, class: "axis" })];
  if (reference !== null) {
    parts.push(svg("line", { x1: at(reference), x2: at(reference), y1: 2, y2: 16, class: "reference" }));
  }
  parts.push(svg("line", { x1: at(low), x2: at(high), y1: 9, y2: 9, class: "interval" }));
  parts.push(svg("circle", { cx: at(value), cy: 9, r: 4, class: "value" }));
  return picture(width, height, label, `chart ${className}`, ...parts);
}

/** Return about `count` round numbers from low to high. */
function ticks(low, high, count) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const first = Math.ceil(low / step - 1e-9) * step;
  return Array.from({ length: Math.floor((high - first) / step + 1e-9) + 1 }, (_, i) => first + i * step);
}

/** Return a line chart of measured points with intervals, and a dashed projection. */
function lineChart({ points, projection = [], label, xTitle, yTitle, format }) {
  const [width, height] = [560, 260];
  const [left, right, top, bottom] = [74, 12, 12, 42];
  const all = [...points, ...projection];
  const xs = [0, Math.max(...all.map((p) => p.x)) * 1.02];
  const lows = all.map((p) => p.low);
  const highs = all.map((p) => p.high);
  const room = (Math.max(...highs) - Math.min(...lows)) * 0.06 || 0.02;
  const ys = [Math.max(0, Math.min(...lows) - room), Math.min(1, Math.max(...highs) + room)];
  const x = (value) => left + ((value - xs[0]) / (xs[1] - xs[0])) * (width - left - right);
  const y = (value) => height - bottom - ((value - ys[0]) / (ys[1] - ys[0])) * (height - top - bottom);
  const path = (series) => series.map((p, i) => `${i ? "L" : "M"}${x(p.x).toFixed(1)} ${y(p.y).toFixed(1)}`).join("");
  const parts = [];
  for (const tick of ticks(ys[0], ys[1], 4)) {
    parts.push(svg("line", { x1: left, x2: width - right, y1: y(tick), y2: y(tick), class: "grid" }));
    parts.push(svg("text", { x: left - 8, y: y(tick) + 4, class: "label end" }, format(tick)));
  }
  for (const tick of ticks(xs[0], xs[1], 5)) {
    parts.push(svg("text", { x: x(tick), y: height - bottom + 18, class: "label middle" }, tick.toLocaleString("en")));
  }
  parts.push(svg("text", { x: (left + width - right) / 2, y: height - 4, class: "label middle" }, xTitle));
  parts.push(svg("text", { x: 12, y: (top + height - bottom) / 2, class: "label middle", transform: `rotate(-90 12 ${(top + height - bottom) / 2})` }, yTitle));
  const band = (series, className) => {
    const upper = series.map((p, i) => `${i ? "L" : "M"}${x(p.x).toFixed(1)} ${y(p.high).toFixed(1)}`).join("");
    const lower = [...series].reverse().map((p) => `L${x(p.x).toFixed(1)} ${y(p.low).toFixed(1)}`).join("");
    return svg("path", { d: `${upper}${lower}Z`, class: className });
  };
  parts.push(band(points, "band"));
  if (projection.length) {
    parts.push(band([points[points.length - 1], ...projection], "band ahead"));
    parts.push(svg("path", { d: path([points[points.length - 1], ...projection]), class: "projection" }));
  }
  parts.push(svg("path", { d: path(points), class: "curve" }));
  for (const p of points) {
    parts.push(svg("circle", { cx: x(p.x), cy: y(p.y), r: 3.5, class: "value" }));
  }
  return picture(width, height, label, "chart wide", ...parts);
}
