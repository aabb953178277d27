// The owner's page: it asks for the report every few seconds, and changes only what differs.
"use strict";

const { own, words, image_column } = JSON.parse(document.getElementById("texts").textContent);
const SECONDS = 3;
const find = (id) => document.getElementById(id);
const rows = new Map();
let timer = 0;
let failures = 0;

/** Return an HTML element with attributes and children; texts are never parsed as HTML. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") made.addEventListener("click", value);
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** Return a text with its names in braces filled in. */
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
const whole = (number) => number.toLocaleString("en");
const percent = (fraction, digits = 0) => `${(100 * fraction).toFixed(digits)} %`;
const signed = (number) => `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(2)}`;

/** Return a time span in words. */
function span(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 1) return own.none_left;
  if (seconds < 90) return fill(own.seconds, { count: Math.round(seconds) });
  if (seconds < 5400) return fill(own.minutes, { count: Math.round(seconds / 60) });
  return fill(own.hours, { count: (seconds / 3600).toFixed(1) });
}

async function call(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(`owner/api/${path}`, { ...options, cache: "no-store" });
  const content = await response.json();
  if (!response.ok) throw new Error(content.message ?? response.statusText);
  return content;
}

/** Do something that the owner asked for, and report how it ended. */
async function act(work, done) {
  try {
    const content = await work();
    showStanding(content);
    find("status").textContent = done;
    showProblem("");
    return content;
  } catch (error) {
    showProblem(error.message);
    return null;
  }
}

function showProblem(message) {
  const banner = find("problem");
  banner.hidden = !message;
  if (banner.textContent !== message) banner.textContent = message;
}

function ask(title, text, yes) {
  const dialog = find("confirm");
  find("confirm-title").textContent = title;
  find("confirm-text").textContent = text;
  find("confirm-yes").textContent = yes;
  dialog.showModal();
  find("confirm-no").focus();
  return new Promise((resolve) => {
    const end = (answer) => () => { dialog.close(); resolve(answer); };
    find("confirm-yes").onclick = end(true);
    find("confirm-no").onclick = end(false);
    dialog.oncancel = () => resolve(false);
  });
}

// State and annotators

function showStanding(content) {
  showState(content.state);
  showAnnotators(content.annotators);
}

function showState(state) {
  const pill = find("state");
  pill.textContent = own.states[state];
  pill.className = `pill ${state}`;
  find("pause").hidden = state !== "open";
  find("resume").hidden = state === "open";
  find("close").hidden = state === "closed";
}

function showAnnotators(annotators) {
  const names = new Set(annotators.map((annotator) => annotator.name));
  for (const [name, row] of rows) {
    if (!names.has(name)) {
      row.element.remove();
      rows.delete(name);
    }
  }
  for (const annotator of annotators) {
    if (!rows.has(annotator.name)) rows.set(annotator.name, newRow(annotator));
    rows.get(annotator.name).show(annotator);
  }
  find("no-annotators").hidden = annotators.length > 0;
  find("annotator-scroller").hidden = annotators.length === 0;
}

function newRow(annotator) {
  const cells = own.columns.map((column) => element("td", { "data-label": column.name }));
  const head = element("th", { scope: "row" });
  cells[0].replaceWith(head);
  const line = element("tr", {}, head, ...cells.slice(1));
  find("annotator-rows").append(line);
  cells[cells.length - 1].append(manageMenu(annotator.name));
  const show = (current) => {
    head.replaceChildren(
      element("span", { class: "name" }, current.name),
      ...(current.kind === "person" ? [] : [element("span", { class: "tag" }, own.kinds[current.kind] ?? current.kind)]),
      ...(current.revoked ? [element("span", { class: "tag off" }, own.revoked)] : []),
    );
    line.classList.toggle("revoked", current.revoked);
    const text = fill(own.of, { answered: whole(current.answered), quota: whole(current.quota) });
    const share = current.quota ? Math.min(1, current.answered / current.quota) : 0;
    cells[1].replaceChildren(element("progress", { max: 1, value: share, "aria-label": text }), element("span", { class: "small" }, text));
  };
  return { element: line, cells, show };
}

function manageMenu(name) {
  const quota = element("input", { type: "number", min: 0, max: 1000000, required: true, "aria-label": fill(own.quota_of, { name }) });
  const form = element("form", { class: "row" }, quota, element("button", { type: "submit" }, own.set_quota));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    act(() => call("quota", { name, quota: Number(quota.value) }), fill(own.quota_done, { name }));
  });
  const link = element("button", { type: "button", onclick: () => renew(name) }, own.new_link);
  const revoke = element("button", { type: "button", class: "danger", onclick: () => withdraw(name) }, own.revoke);
  const summary = element("summary", { "aria-label": fill(own.manage_of, { name }) }, own.manage);
  return element("details", { class: "manage" }, summary, element("div", { class: "menu" }, form, element("span", { class: "row" }, link, revoke)));
}

async function renew(name) {
  if (await ask(own.new_link, fill(own.new_link_ask, { name }), own.new_link)) invite(name, null);
}

async function withdraw(name) {
  if (await ask(own.revoke, fill(own.revoke_ask, { name }), own.revoke)) {
    act(() => call("revoke", { name }), fill(own.revoke_done, { name }));
  }
}

async function invite(name, quota) {
  const content = await act(() => call("invite", quota === null ? { name } : { name, quota }), fill(own.invited, { name }));
  if (!content) return;
  find("link").hidden = false;
  find("link-label").textContent = fill(own.link_of, { name: content.name });
  find("link-address").value = new URL(content.link, location.href).href;
  find("link-address").focus();
  find("link-address").select();
}

find("invite").addEventListener("submit", (event) => {
  event.preventDefault();
  const quota = find("invite-quota").value;
  invite(find("invite-name").value.trim(), quota === "" ? null : Number(quota));
  event.target.reset();
});
find("link-copy").addEventListener("click", async () => {
  find("link-address").select();
  try {
    await navigator.clipboard.writeText(find("link-address").value);
    find("status").textContent = own.copied;
    find("link-copy").textContent = own.copied;
  } catch {
    find("status").textContent = own.copy_by_key;
  }
});
for (const change of ["pause", "resume"]) {
  find(change).addEventListener("click", () => act(() => call(change, {}), own.states_done[change]));
}
find("close").addEventListener("click", async () => {
  if (await ask(own.close, own.close_ask, own.close)) act(() => call("close", {}), own.states_done.close);
});

// Report

function showReport(report) {
  showFigures(report);
  for (const row of report.annotators) {
    if (rows.has(row.name)) showMeasures(rows.get(row.name).cells, row);
  }
  showFindings(report);
  showCurve(report.learning_curve);
  showQuality(report.quality);
  showRanking(report.ranking);
}

function figure(name, value, detail, ...more) {
  return element("div", {}, element("dt", {}, name), element("dd", { class: "large" }, value), element("dd", { class: "soft small" }, detail), ...more);
}

function showFigures(report) {
  const share = report.quota ? Math.min(1, report.answers / report.quota) : 0;
  const parts = [
    figure(own.answers, whole(report.answers), fill(own.answers_detail, { quota: whole(report.quota), cannot_say: whole(report.cannot_say) }),
      element("dd", {}, element("progress", { max: 1, value: share, "aria-label": own.answers }))),
    figure(own.time_left, span(report.seconds_left), own.time_left_detail),
  ];
  const agreement = report.quality.agreement;
  parts.push(figure(own.accuracy, agreement ? percent(agreement.pairwise_accuracy) : "–",
    agreement ? fill(own.accuracy_detail, { low: percent(agreement.interval[0]), high: percent(agreement.interval[1]), answers: whole(agreement.pairs) }) : own.quality_later));
  const correlations = report.annotators.filter((row) => row.assessed && row.correlation !== null).map((row) => row.correlation).sort((a, b) => a - b);
  const middle = correlations.length ? (correlations[Math.floor((correlations.length - 1) / 2)] + correlations[Math.ceil((correlations.length - 1) / 2)]) / 2 : null;
  parts.push(figure(own.agreement, middle === null ? "–" : middle.toFixed(2), own.agreement_detail));
  const repeated = report.annotators.reduce((sum, row) => sum + row.repeats.pairs, 0);
  const opposite = report.annotators.reduce((sum, row) => sum + row.repeats.contradictions, 0);
  parts.push(figure(own.contradictions, repeated ? percent(opposite / repeated) : "–", fill(own.contradictions_detail, { opposite: whole(opposite), repeated: whole(repeated) })));
  const bias = report.side_bias;
  const biasLabel = bias ? fill(own.side_bias_label, { value: signed(bias.value), low: signed(bias.low), high: signed(bias.high) }) : "";
  const reach = bias ? Math.max(0.25, Math.abs(bias.low), Math.abs(bias.high)) : 1;
  parts.push(figure(own.side_bias, bias ? signed(bias.value) : "–", own.side_bias_detail,
    ...(bias ? [element("dd", {}, intervalBar(bias.value, bias.low, bias.high, [-reach, reach], biasLabel, { reference: 0, width: 140 }))] : [])));
  const components = report.components;
  const items = { compared: whole(report.items - (components?.items_in_no_pair ?? report.items)), items: whole(report.items) };
  parts.push(figure(own.components, components ? whole(components.count) : "–", fill(own.components_detail, items)));
  find("figures").replaceChildren(...parts);
}

function showMeasures(cells, row) {
  const pace = row.seconds_per_answer === null ? "–" : fill(own.pace, { seconds: row.seconds_per_answer.toFixed(1) });
  cells[2].replaceChildren(element("span", {}, row.revoked ? "–" : span(row.seconds_left)), element("span", { class: "soft small" }, pace));
  const total = row.grades.reduce((sum, count) => sum + count, 0);
  const label = total ? row.grades.map((count, i) => `${words[i] ?? i + 1}: ${count}`).join(", ") : own.no_grades;
  const cannot = row.cannot_say ? element("span", { class: "soft small" }, fill(own.cannot_say, { count: row.cannot_say })) : null;
  cells[3].replaceChildren(...[total ? gradeBars(row.grades, label, words) : "–", cannot].filter((part) => part !== null));
  const few = element("span", { class: "soft small" }, own.too_few);
  cells[4].replaceChildren(row.assessed && row.correlation !== null ? row.correlation.toFixed(2) : few);
  cells[5].replaceChildren(row.assessed && row.slope !== null ? `${row.slope.toFixed(2)} ± ${(1.96 * row.slope_error).toFixed(2)}` : "–");
  cells[6].replaceChildren(row.assessed && row.bias !== null ? `${signed(row.bias)} ± ${(1.96 * row.bias_error).toFixed(2)}` : "–");
  cells[7].replaceChildren(row.repeats.pairs ? fill(own.of, { answered: row.repeats.contradictions, quota: row.repeats.pairs }) : "–");
  cells[4].closest("tr").classList.toggle("odd", (row.deviations ?? []).length > 0);
}

function showFindings(report) {
  const entries = report.findings.map((finding) =>
    element("li", { class: `is-${finding.severity}` }, element("span", { class: "tag" }, own.severities[finding.severity]), " ", element("span", {}, finding.text)));
  entries.push(...report.notes.map((note) => element("li", { class: "is-warning" }, element("span", { class: "tag" }, own.severities.warning), " ", note)));
  find("findings-section").hidden = entries.length === 0;
  find("findings").replaceChildren(...entries);
}

function showCurve(curve) {
  if (!curve) return;
  find("curve-text").textContent = curve.text;
  const place = (point) => ({ x: point.answers, y: point.accuracy, low: point.low, high: point.high });
  const points = curve.points.map(place);
  const projection = curve.projection.map(place);
  if (!points.length) return;
  find("curve").replaceChildren(lineChart({ points, projection, label: own.curve_label, xTitle: own.curve_x, yTitle: own.curve_y, format: percent }));
}

function showQuality(quality) {
  const measured = quality.agreement;
  if (!measured) return;
  find("quality-text").textContent = fill(own.quality_text, { answers: whole(measured.pairs) });
  const [low, high] = measured.interval;
  const label = fill(own.accuracy_label, { value: percent(measured.pairwise_accuracy), low: percent(low), high: percent(high) });
  const line = (name, value) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value));
  find("quality").replaceChildren(
    intervalBar(measured.pairwise_accuracy, low, high, [0.5, 1], label, { width: 320, className: "tall" }),
    element("p", { class: "limits small soft" }, element("span", {}, own.guessing), element("span", {}, "100 %")),
    element("table", { class: "plain" }, element("tbody", {},
      line(own.accuracy, `${percent(measured.pairwise_accuracy, 1)} (${percent(low)} – ${percent(high)})`),
      line(own.correlation, measured.correlation === null ? "–" : measured.correlation.toFixed(2)),
      line(own.rmse, measured.rmse.toFixed(2)))));
}

function itemLabel(item) {
  const name = element("span", { class: "item-id" }, String(item.id));
  if (image_column !== null) return [element("img", { src: `media/${item.number}/${image_column}`, alt: "", loading: "lazy", width: 36, height: 36 }), name];
  return item.text && item.text !== String(item.id) ? [element("span", {}, item.text), " ", element("span", { class: "soft small" }, String(item.id))] : [name];
}

function showRanking(ranking) {
  if (!ranking) return;
  find("ranking-scroller").hidden = false;
  find("ranking-text").textContent = fill(ranking.items.length < ranking.count ? own.ranking_part : own.ranking_text, {
    items: whole(ranking.count), pairs: whole(ranking.pairs), shown: whole(ranking.items.length), reliability: ranking.reliability.toFixed(2), level: percent(ranking.level) });
  const range = [Math.min(...ranking.items.map((item) => item.low)), Math.max(...ranking.items.map((item) => item.high))];
  let last = 0;
  const lines = [];
  for (const [i, item] of ranking.items.entries()) {
    if (i === ranking.items.length / 2 && ranking.items.length < ranking.count) {
      lines.push(element("tr", { class: "gap" }, element("td", { colspan: own.ranking_columns.length }, fill(own.gap, { count: whole(ranking.count - ranking.items.length) }))));
    }
    const label = fill(own.score_label, { value: signed(item.score), low: signed(item.low), high: signed(item.high) });
    lines.push(element("tr", { class: item.component !== last && last ? "first" : null },
      element("td", { class: "number" }, whole(item.rank), element("span", { class: "soft small" }, ` ${item.rank_low}–${item.rank_high}`)),
      element("th", { scope: "row" }, ...itemLabel(item)),
      element("td", {}, intervalBar(item.score, item.low, item.high, range, label, { reference: 0, width: 300 })),
      element("td", { class: "number" }, signed(item.score)),
      element("td", { class: "number" }, whole(item.comparisons))));
    last = item.component;
  }
  find("ranking-rows").replaceChildren(...lines);
}

// Time

async function refresh() {
  clearTimeout(timer);
  let wait = SECONDS;
  try {
    const content = await call("report");
    failures = 0;
    showProblem(content.problem ? fill(own.report_problem, { message: content.problem }) : "");
    showStanding(content);
    if (content.report) {
      showReport(content.report);
      const time = new Date(1000 * content.report.made_at).toLocaleTimeString("en", { hour12: false });
      find("updated").textContent = fill(own.updated, { time });
    } else {
      wait = 0.7;
    }
  } catch (error) {
    failures += 1;
    wait = Math.min(60, SECONDS * 2 ** failures);
    showProblem(fill(own.offline, { message: error.message }));
  }
  if (!document.hidden) timer = setTimeout(refresh, 1000 * wait);
}

document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
window.addEventListener("online", refresh);
refresh();
