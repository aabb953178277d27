/* The annotator's page. Values of items reach the document as text nodes or as elements of a short list, never as HTML. */
"use strict";

(() => {
  const byId = (id) => document.getElementById(id);
  const texts = JSON.parse(byId("texts").textContent);
  const words = texts.judge;
  const REST = 250; // milliseconds that a pair is on the screen before it can be answered
  const RETRY = [1000, 2000, 4000, 8000, 15000, 30000];
  const POLL = 15000;

  /** Fill the names in braces of a text. */
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  /** Make an element with text or with children. */
  function element(tag, { text, children = [], ...properties } = {}) {
    const made = Object.assign(document.createElement(tag), properties);
    if (text !== undefined) made.textContent = text;
    made.append(...children);
    return made;
  }

  const show = (node, visible = true) => node && (node.hidden = !visible);
  const isStacked = () => window.matchMedia("(max-width: 719px)").matches;

  /* ------------------------------------------------------------------ unsent answers */

  /** Answers that the server has not confirmed, kept in the browser until it has. */
  const queue = {
    memory: [],
    isKept: true, // whether the browser kept what was written last
    read() {
      if (!this.isKept) return this.memory;
      try {
        const kept = JSON.parse(localStorage.getItem(texts.queue) || "[]");
        return Array.isArray(kept) ? kept : [];
      } catch {
        return this.memory;
      }
    },
    write(entries) {
      this.memory = entries;
      try {
        localStorage.setItem(texts.queue, JSON.stringify(entries));
        this.isKept = true;
      } catch {
        this.isKept = false; // storage is full or forbidden: the answers live as long as the page
      }
    },
    add(entry) {
      this.write([...this.read(), entry]);
    },
    remove(clientId) {
      this.write(this.read().filter((entry) => entry.client_id !== clientId));
    },
  };

  /** A random UUID; crypto.randomUUID exists on pages with TLS only. */
  function newUuid() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  }

  /* ------------------------------------------------------------------ the server */

  async function ask(path, body) {
    const options = { credentials: "same-origin", cache: "no-store", signal: AbortSignal.timeout(20000) };
    if (body !== undefined) {
      options.method = "POST";
      options.headers = { "Content-Type": "application/json" };
      options.body = JSON.stringify(body);
    }
    const response = await fetch(path, options);
    const reply = await response.json().catch(() => null);
    // The server always replies in JSON: a page of a proxy or of a network's login is not its reply.
    if (reply === null && !isTransient(response.status)) throw new Error("not a reply of the server");
    return { status: response.status, wait: Number(response.headers.get("Retry-After")) * 1000, reply };
  }

  const isTransient = (status) => status === 429 || status >= 500;

  /* ------------------------------------------------------------------ the state of the page */

  const page = {
    current: null, // the question on the screen: {view, shownAt, hiddenFor}
    isReady: false, // whether the question is on the screen and has no answer
    rest: 0, // the timer after which it can be answered
    isSending: false,
    isUndoing: false,
    wantsUndo: false, // asked for while an answer was on its way
    isOnline: true,
    progress: null,
    training: null, // {examples, index}
    unheard: new Set(),
    attempts: 0,
    timer: 0,
    usesSingleKeys: true,
  };

  const sections = ["loading", "welcome", "judging", "message"];

  function showSection(name) {
    for (const id of sections) show(byId(id), id === name);
    show(byId("progress"), name !== "loading" && page.progress !== null && name !== "welcome");
  }

  let aloud = 0;

  /** Say a text to screen readers; the same text twice is said twice. */
  function announce(text) {
    aloud += 1;
    byId("status").textContent = text + (aloud % 2 ? "" : "\u00a0");
  }

  let toast = 0;

  function complain(text) {
    const box = byId("alert");
    box.textContent = text;
    show(box);
    clearTimeout(toast);
    toast = setTimeout(() => show(box, false), 8000);
  }

  function setOnline(isOnline, text = words.offline) {
    const banner = byId("connection");
    if (!isOnline) banner.textContent = text;
    if (isOnline !== page.isOnline) announce(isOnline ? words.online : text);
    page.isOnline = isOnline;
    show(banner, !isOnline);
  }

  function showProgress(progress) {
    page.progress = progress;
    const { answered, quota, seconds_per_answer: pace } = progress;
    const bar = byId("progress-bar");
    bar.max = Math.max(1, quota);
    bar.value = Math.min(answered, quota);
    const parts = [fill(words.count, { answered, quota })];
    const left = quota - answered;
    if (pace && left > 0) {
      const minutes = Math.round((pace * left) / 60);
      parts.push(minutes ? fill(words.time_left, { minutes }) : words.almost);
    }
    byId("progress-text").textContent = parts.join(" · ");
  }

  /* ------------------------------------------------------------------ items */

  const ALLOWED = new Set(
    "P EM STRONG S CODE PRE BLOCKQUOTE UL OL LI H3 H4 H5 H6 HR BR TABLE THEAD TBODY TR TH TD SPAN".split(" "),
  );

  /** Copy the allowed elements of a parsed document, without attributes except those of inert links. */
  function copied(node) {
    if (node.nodeType === Node.TEXT_NODE) return [document.createTextNode(node.nodeValue)];
    if (node.nodeType !== Node.ELEMENT_NODE) return [];
    const children = Array.from(node.childNodes).flatMap(copied);
    if (!ALLOWED.has(node.tagName)) return children;
    const copy = element(node.tagName.toLowerCase(), { children });
    if (node.tagName === "SPAN") {
      copy.className = node.className === "link" ? "link" : "picture";
      copy.title = node.title;
    }
    if (node.tagName === "OL" && node.start > 1) copy.start = node.start;
    return [copy];
  }

  /** Return the elements of the server's rendering of Markdown. The parsed document itself loads and runs nothing. */
  function prose(html) {
    const parsed = new DOMParser().parseFromString(html, "text/html");
    return element("div", { className: "prose", children: Array.from(parsed.body.childNodes).flatMap(copied) });
  }

  /** Return the words of a label that are on the screen: it may have others where items are stacked. */
  function shownText(label) {
    const part = label.querySelector(isStacked() ? ".narrow" : ".wide");
    return (part || label).textContent;
  }

  const sideName = (side) => shownText(byId(`${side}-side`));

  function image(cell, side) {
    const name = fill(words.image, { side: sideName(side) });
    const picture = element("img", { src: cell.src, alt: `${name}: ${cell.column}`, decoding: "async", draggable: false });
    const button = element("button", { type: "button", className: "picture-button", children: [picture] });
    button.setAttribute("aria-label", fill(words.enlarge, { side: `${name}, ${cell.column}` }));
    button.addEventListener("click", () => enlarge(picture, button));
    picture.addEventListener("error", () => button.replaceWith(element("p", { className: "soft", text: words.broken_image })));
    return button;
  }

  function recording(cell, side) {
    const player = element("audio", { src: cell.src, controls: true, preload: "auto" });
    player.setAttribute("aria-label", fill(words.recording, { side: `${sideName(side)}, ${cell.column}` }));
    page.unheard.add(player);
    const heard = () => {
      page.unheard.delete(player);
      unlock();
    };
    player.addEventListener("ended", heard);
    player.addEventListener("timeupdate", () => player.currentTime >= 0.95 * player.duration && heard());
    player.addEventListener("play", () => {
      for (const other of byId("pair").querySelectorAll("audio")) if (other !== player) other.pause();
    });
    player.addEventListener("error", () => {
      player.replaceWith(element("p", { className: "soft", text: words.broken_audio }));
      heard();
    });
    return player;
  }

  function value(cell, side) {
    if (cell.kind === "image") return image(cell, side);
    if (cell.kind === "audio") return recording(cell, side);
    if (cell.kind === "markdown") return prose(cell.html);
    if (!cell.text) return element("span", { className: "soft", text: words.empty });
    return element("span", { className: cell.kind === "number" ? "number" : "text", text: cell.text });
  }

  const LONG = 60;
  const isMedia = (cell) => cell.kind === "image" || cell.kind === "audio";
  const isLong = (cell) => cell.kind === "markdown" || isMedia(cell) || (cell.text || "").length > LONG;

  function row(cell, side, { differs = false, long = isLong(cell) } = {}) {
    const content = element("dd", { children: [value(cell, side)] });
    if (differs) content.append(element("span", { className: "unseen", text: ` (${words.differs})` }));
    const classes = ["row", long ? "long" : "short", differs ? "differs" : ""];
    return element("div", { className: classes.join(" ").trim(), children: [element("dt", { text: cell.column }), content] });
  }

  /** Show the cells of an item: one value fills the card, several are rows with the names of their columns. */
  function showItem(side, cells, others) {
    const article = byId(side);
    const box = article.querySelector(".cells");
    if (cells.length === 1) {
      box.replaceChildren(element("div", { className: `only ${cells[0].kind}`, children: [value(cells[0], side)] }));
    } else {
      const rows = cells.map((cell, k) => {
        const differs = texts.highlight && !isMedia(cell) && cell.text !== others[k].text;
        return row(cell, side, { differs, long: isLong(cell) || isLong(others[k]) });
      });
      box.replaceChildren(element("dl", { className: "rows", children: rows }));
    }
    article.style.setProperty("--rows", String(cells.length));
  }

  /** Split off long texts that both items have, such as the prompt of two answers: they are shown once. */
  function split(view) {
    const left = view.left.cells;
    const right = view.right.cells;
    const isShared = left.map((cell, k) => !isMedia(cell) && isLong(cell) && cell.text === right[k].text);
    if (isShared.every(Boolean)) isShared[isShared.length - 1] = false;
    const own = (cells) => cells.filter((_, k) => !isShared[k]);
    return { shared: left.filter((_, k) => isShared[k]), left: own(left), right: own(right) };
  }

  function showItems(view) {
    page.unheard.clear();
    const { shared, left, right } = split(view);
    const rows = shared.map((cell) => row(cell, "left"));
    byId("shared").replaceChildren(element("dl", { className: "rows", children: rows }));
    show(byId("shared"), shared.length > 0);
    showItem("left", left, right);
    showItem("right", right, left);
  }

  /** Wait until the images are decoded, so that both appear together, but not for long. */
  function imagesReady() {
    const pictures = Array.from(byId("pair").querySelectorAll("img"), (picture) => picture.decode().catch(() => {}));
    const pause = new Promise((resolve) => setTimeout(resolve, 400));
    return pictures.length ? Promise.race([Promise.all(pictures), pause]) : Promise.resolve();
  }

  function enlarge(picture, opener) {
    byId("zoom-image").src = picture.src;
    byId("zoom-image").alt = picture.alt;
    byId("zoom").showModal();
    byId("zoom").addEventListener("close", () => opener.focus({ preventScroll: true }), { once: true });
  }

  /* ------------------------------------------------------------------ the question on the screen */

  const isSame = () => page.current.view.question === "same";
  const isFine = () => !isSame() && texts.points === 0;
  const choices = () => byId(isSame() ? "choices-same" : "choices-difference");
  const radios = () => (isFine() ? [] : Array.from(choices().querySelectorAll("input")));
  const chosenRadio = () => radios().find((radio) => radio.checked);

  async function showQuestion(view, { focuses = true, banner = "" } = {}) {
    page.current = { view, shownAt: 0, hiddenFor: 0, hiddenAt: null };
    setReady(false);
    showSection("judging");
    showItems(view);
    byId("question").textContent = isSame() ? texts.same_question : texts.question;
    resetForm();
    show(byId("feedback"), false);
    show(byId("form"));
    byId("note-on-question").textContent = banner;
    show(byId("note-on-question"), Boolean(banner));
    showBadge();
    if (focuses) {
      window.scrollTo(0, 0);
      byId("question").focus({ preventScroll: true });
    }
    const shown = page.current;
    await imagesReady();
    if (page.current !== shown) return;
    byId("judging").classList.remove("leaving");
    shown.shownAt = performance.now();
    setReady(true);
    unlock();
  }

  function resetForm() {
    show(byId("choices-difference"), !isSame() && !isFine());
    show(byId("choices-same"), isSame());
    show(byId("fine"), isFine());
    for (const label of document.querySelectorAll(".choice")) label.classList.remove("chosen");
    for (const radio of byId("form").querySelectorAll("input")) radio.checked = false;
    for (const set of byId("form").querySelectorAll("fieldset")) set.disabled = false;
    show(byId("save"), false);
    closeNote();
    placeMark(null);
  }

  function showBadge() {
    const badge = byId("training-badge");
    show(badge, page.training !== null);
    if (page.training === null) return;
    const { index, examples } = page.training;
    badge.textContent = fill(texts.training.badge, { number: index + 1, count: examples.length });
  }

  /** Lock the answers until all recordings were heard. */
  function unlock() {
    const isLocked = page.unheard.size > 0;
    if (page.current === null) return;
    const wasLocked = !byId("locked").hidden;
    show(byId("locked"), isLocked);
    for (const set of byId("form").querySelectorAll("fieldset")) set.disabled = isLocked;
    byId("form").classList.toggle("is-locked", isLocked);
    if (wasLocked && !isLocked && page.isReady) announce(words.unlocked);
  }

  function secondsShown() {
    const { shownAt, hiddenFor } = page.current;
    return Math.round(Math.max(0, performance.now() - shownAt - hiddenFor)) / 1000;
  }

  document.addEventListener("visibilitychange", () => {
    const current = page.current;
    if (current === null) return;
    if (document.hidden) {
      current.hiddenAt = performance.now();
    } else if (current.hiddenAt !== null) {
      current.hiddenFor += performance.now() - Math.max(current.hiddenAt, current.shownAt);
      current.hiddenAt = null;
    }
  });

  /* ------------------------------------------------------------------ answering */

  const canAnswer = () => page.isReady && !page.isUndoing && "answerable" in byId("judging").dataset;

  /** Let the question on the screen be answered after a rest, or lock it at once; the document says which. */
  function setReady(isReady) {
    page.isReady = isReady;
    clearTimeout(page.rest);
    delete byId("judging").dataset.answerable;
    if (isReady) page.rest = setTimeout(() => (byId("judging").dataset.answerable = ""), REST);
  }

  /** Answer the question on the screen: with a value of its scale, or null for "cannot say". */
  function answer(value) {
    if (page.current === null || !canAnswer()) return;
    if (value !== null && page.unheard.size > 0) {
      announce(words.listen);
      return;
    }
    setReady(false);
    mark(value);
    if (page.training !== null) {
      giveFeedback(value);
      return;
    }
    const note = byId("note-text").value.trim();
    const entry = {
      assignment: page.current.view.id,
      client_id: newUuid(),
      grade: isSame() ? null : value,
      same: isSame() ? value : null,
      reason: value === null ? "cannot say" : null,
      note: note || null,
      seconds: secondsShown(),
    };
    queue.add(entry);
    byId("judging").classList.add("leaving");
    send();
  }

  function mark(value) {
    for (const radio of radios()) {
      radio.checked = value !== null && Number(radio.value) === value;
      radio.closest(".choice").classList.toggle("chosen", radio.checked);
    }
    if (document.activeElement && document.activeElement.closest("#form")) document.activeElement.blur();
  }

  /** Send the answers of the queue, one after the other, and show what the server asks next. */
  async function send() {
    if (page.isSending) return;
    page.isSending = true;
    clearTimeout(page.timer);
    const slow = setTimeout(() => announce(words.saving), 1000);
    try {
      for (let entries = queue.read(); entries.length; entries = queue.read()) {
        const isDone = await sendOne(entries[0], entries.length === 1);
        if (!isDone) return;
      }
    } finally {
      clearTimeout(slow);
      page.isSending = false;
      if (page.wantsUndo) undo();
    }
  }

  async function sendOne(entry, isLast) {
    let result;
    try {
      result = await ask("api/answers", entry);
    } catch {
      return retryLater(0);
    }
    if (isTransient(result.status)) return retryLater(result.wait);
    if (result.status === 401) {
      showMessage("revoked");
      return false;
    }
    page.attempts = 0;
    setOnline(true);
    queue.remove(entry.client_id);
    if (result.status >= 400) {
      complain(fill(words.not_stored, { message: result.reply.message || result.status }));
      if (isLast) await refresh();
    } else if (isLast) {
      follow(result.reply, { isSaved: true });
    }
    return true;
  }

  function retryLater(wait, text = words.offline) {
    setOnline(false, text);
    const pause = wait || RETRY[Math.min(page.attempts, RETRY.length - 1)];
    page.attempts += 1;
    page.timer = setTimeout(resume, pause);
    return false;
  }

  /** Continue after a break of the connection. */
  function resume() {
    if (queue.read().length) send();
    else refresh();
  }

  /** Show what a reply of the server says: the next question, or why there is none. */
  function follow(reply, { isSaved = false, focuses = true, banner = "" } = {}) {
    showProgress(reply.progress);
    if (reply.next) {
      const { answered, quota } = reply.progress;
      const number = fill(words.question_number, { number: answered + 1, quota });
      announce(isSaved ? `${words.saved} ${number}` : banner || number);
      showQuestion(reply.next, { focuses, banner });
      return;
    }
    page.current = null;
    setReady(false);
    if (reply.state !== "open") showMessage(reply.state);
    else showMessage(reply.progress.answered >= reply.progress.quota ? "done" : "waiting");
  }

  function showMessage(name) {
    const { title, text } = texts.messages[name];
    const isNew = byId("message-title").textContent !== title || byId("message").hidden;
    byId("message-title").textContent = title;
    byId("message-text").textContent = text;
    show(byId("message-undo"), name === "done" || name === "waiting");
    page.current = null;
    showSection("message");
    if (name === "revoked") show(byId("progress"), false);
    if (isNew) byId("message-title").focus({ preventScroll: true });
    clearTimeout(page.timer);
    if (name !== "revoked" && name !== "done") page.timer = setTimeout(refresh, POLL);
  }

  /** Load the state from the server; answers that were not sent go first. */
  async function refresh({ focuses = true } = {}) {
    if (queue.read().length && !page.isSending) {
      send();
      return;
    }
    let result;
    try {
      result = await ask("api/state");
    } catch {
      result = { status: 503, wait: 0 };
    }
    if (isTransient(result.status)) {
      retryLater(result.wait, words.offline_start);
      return;
    }
    if (result.status === 401) {
      showMessage("revoked");
      return;
    }
    page.attempts = 0;
    setOnline(true);
    const { training, state } = result.reply;
    if (state === "open" && !training.done) welcome(result.reply);
    else follow(result.reply, { focuses });
  }

  /* ------------------------------------------------------------------ undo */

  async function undo() {
    if (page.isUndoing) return;
    if (page.training !== null) {
      if (page.training.index > 0 || byId("form").hidden) showExample(page.training.index - (byId("form").hidden ? 0 : 1));
      return;
    }
    page.wantsUndo = page.isSending;
    if (page.isSending) return;
    if (queue.read().length) {
      // An answer whose sending failed may have arrived all the same: it is taken back on the server.
      complain(words.undo_failed);
      return;
    }
    if (page.current === null && byId("message").hidden) return;
    page.isUndoing = true;
    try {
      const { status, reply } = await ask("api/undo", {});
      if (status === 401) showMessage("revoked");
      else if (status >= 400) complain(words.undo_failed);
      else if (reply.next) follow(reply, { banner: words.taken_back });
      else if (reply.state !== "open") follow(reply);
      else announce(words.nothing_to_undo);
    } catch {
      // The answer may have been taken back although the reply was lost: the state of the server decides.
      complain(words.undo_failed);
      retryLater(0, words.offline_start);
    } finally {
      page.isUndoing = false;
    }
  }

  /* ------------------------------------------------------------------ welcome and practice */

  function welcome(reply) {
    const { quota } = reply.progress;
    const { examples } = reply.training;
    showProgress(reply.progress);
    byId("welcome-amount").textContent = fill(texts.welcome.amount, { quota });
    show(byId("welcome-amount"), quota > 0);
    if (examples.length) {
      const form = texts.welcome.examples[examples.length === 1 ? "one" : "many"];
      byId("start").textContent = fill(texts.welcome.practise, { count: fill(form, { count: examples.length }) });
    }
    showSection("welcome");
    byId("start").onclick = () => {
      if (examples.length) startTraining(examples);
      else finishTraining();
    };
  }

  function startTraining(examples) {
    page.training = { examples, index: 0 };
    showExample(0);
  }

  function showExample(index) {
    page.training.index = index;
    showQuestion({ id: null, ...page.training.examples[index] });
    show(byId("progress"), false);
    announce(byId("training-badge").textContent);
  }

  /** Return the word of a grade; on a fine scale, its place from -100 to 100. */
  function wordOf(grade) {
    const radio = radios().find((each) => Math.abs(Number(each.value) - grade) < 1e-6) || nearest(grade);
    if (!radio) return percentage(grade);
    return shownText(radio.closest(".choice").querySelector(".word"));
  }

  function nearest(grade) {
    const distance = (radio) => Math.abs(Number(radio.value) - grade);
    return radios().sort((a, b) => distance(a) - distance(b))[0];
  }

  function giveFeedback(grade) {
    const { examples, index } = page.training;
    const expected = examples[index].expected;
    const step = texts.points ? 2 / (texts.points - 1) : 0.25;
    const distance = grade === null ? Infinity : Math.abs(grade - expected);
    const values = { expected: wordOf(expected), chosen: grade === null ? "" : wordOf(grade) };
    const isNear = distance <= step + 1e-6 && Math.sign(grade) === Math.sign(expected);
    let form = texts.training.differ;
    if (grade === null) form = texts.training.cannot;
    else if (values.expected === values.chosen) form = texts.training.agree;
    else if (isNear) form = texts.training.close;
    byId("feedback-text").textContent = fill(form, values);
    byId("feedback").classList.toggle("agrees", grade !== null && (isNear || values.expected === values.chosen));
    const isLast = index + 1 === examples.length;
    byId("feedback-next").textContent = isLast ? texts.training.start : texts.training.next;
    show(byId("form"), false);
    show(byId("feedback"));
    byId("feedback-text").focus();
    byId("feedback").scrollIntoView({ block: "nearest" });
  }

  function nextExample() {
    if (byId("feedback").hidden) return;
    const next = page.training.index + 1;
    if (next < page.training.examples.length) showExample(next);
    else finishTraining();
  }

  async function finishTraining() {
    try {
      const { status, reply, wait } = await ask("api/training", { done: true });
      if (status === 401) showMessage("revoked");
      else if (status >= 400) throw new Error(String(wait));
      else {
        page.training = null;
        setOnline(true);
        follow(reply);
      }
    } catch {
      setOnline(false, words.offline_start);
      clearTimeout(page.timer);
      page.timer = setTimeout(finishTraining, 3000);
    }
  }

  /* ------------------------------------------------------------------ the fine scale */

  const percentage = (grade) => `${grade > 0 ? "+" : ""}${Math.round(100 * grade)}`;
  let fineGrade = null;

  function placeMark(grade) {
    fineGrade = grade === null ? null : Math.round(Math.min(1, Math.max(-1, grade)) * 100) / 100;
    const line = byId("line");
    if (line === null) return;
    show(byId("mark"), fineGrade !== null);
    line.classList.toggle("has-mark", fineGrade !== null);
    if (fineGrade !== null) byId("mark").style.left = `${50 * (fineGrade + 1)}%`;
    line.setAttribute("aria-valuenow", String(Math.round(100 * (fineGrade ?? 0))));
    line.setAttribute("aria-valuetext", fineGrade === null ? words.fine_empty : percentage(fineGrade));
    if (isCurrentFine()) {
      byId("save").textContent = words.save_mark;
      show(byId("save"), fineGrade !== null);
    }
  }

  const isCurrentFine = () => page.current !== null && isFine();

  function gradeAt(event) {
    const box = byId("line").getBoundingClientRect();
    return (2 * (event.clientX - box.left)) / box.width - 1;
  }

  function setUpLine() {
    const line = byId("line");
    if (line === null) return;
    const isLocked = () => !page.isReady || page.unheard.size > 0;
    line.addEventListener("pointerdown", (event) => {
      if (isLocked()) return;
      line.setPointerCapture(event.pointerId);
      placeMark(gradeAt(event));
    });
    line.addEventListener("pointermove", (event) => {
      if (line.hasPointerCapture(event.pointerId)) placeMark(gradeAt(event));
    });
  }

  /** Move the mark by a key; the first arrow key places it next to the middle. */
  function moveMark(key) {
    const steps = { ArrowLeft: -0.02, ArrowDown: -0.02, ArrowRight: 0.02, ArrowUp: 0.02, PageDown: -0.2, PageUp: 0.2 };
    if (page.unheard.size > 0) return announce(words.listen);
    if (key === "Home") placeMark(-1);
    else if (key === "End") placeMark(1);
    else placeMark((fineGrade ?? 0) + steps[key]);
    return undefined;
  }

  /* ------------------------------------------------------------------ notes */

  function openNote() {
    const box = byId("note");
    const opens = box.hidden;
    show(box, opens);
    byId("note-open").setAttribute("aria-expanded", String(opens));
    if (opens) byId("note-text").focus();
  }

  function closeNote() {
    byId("note-text").value = "";
    show(byId("note"), false);
    byId("note-open").setAttribute("aria-expanded", "false");
  }

  /* ------------------------------------------------------------------ keys */

  /** Return the digit of a key, also where digits need the shift key. */
  function digitOf(event) {
    if (/^[0-9]$/.test(event.key)) return Number(event.key);
    const match = event.shiftKey ? null : /^(?:Digit|Numpad)([0-9])$/.exec(event.code);
    return match ? Number(match[1]) : null;
  }

  function pressDigit(digit) {
    if (digit === 0) return answer(null);
    if (isFine()) {
      if (page.unheard.size > 0) announce(words.listen);
      else if (page.isReady) placeMark((digit - 5) / 4);
      return undefined;
    }
    const radio = radios()[digit - 1];
    return radio && answer(Number(radio.value));
  }

  function chooseByArrow(key) {
    const all = radios();
    const middle = (all.length - 1) / 2;
    const first = key === "ArrowLeft" ? Math.ceil(middle) - 1 : Math.floor(middle) + 1;
    all[first].focus();
    all[first].checked = true;
    offerToSave();
  }

  function play(side) {
    const player = byId(side).querySelector("audio");
    if (!player) return false;
    if (player.paused) player.play().catch(() => {});
    else player.pause();
    return true;
  }

  const ARROWS = new Set(["ArrowLeft", "ArrowRight"]);
  const MOVES = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"]);

  /** Handle a key; return whether it had a meaning. */
  function press(event) {
    const { target, key } = event;
    const isOnLine = target === byId("line");
    if (isCurrentFine() && page.isReady && MOVES.has(key) && (isOnLine || ARROWS.has(key)) && !isPlayer(target)) {
      moveMark(key);
      return true;
    }
    if (isOnLine && key === "Enter") return byId("form").requestSubmit(), true;
    if (event.repeat) return false;
    if (key === "Enter" && !byId("feedback").hidden && target.tagName !== "BUTTON") return nextExample(), true;
    if (key === "Enter" && (target === byId("question") || target === document.body) && !byId("save").hidden) return byId("form").requestSubmit(), true;
    if (!page.usesSingleKeys) return false;
    return pressSingle(event);
  }

  const isPlayer = (target) => target.tagName === "AUDIO";

  function pressSingle(event) {
    const key = event.key.toLowerCase();
    if (key === "z" || key === "backspace") return undo(), true;
    if (key === "?") return openHelp(), true;
    if (page.current === null || byId("form").hidden) return false;
    const digit = digitOf(event);
    if (digit !== null) return pressDigit(digit), true;
    if (isSame() && (key === "s" || key === "d")) return answer(key === "s" ? 1 : 0), true;
    if (key === "n") return openNote(), true;
    if (key === "l") return play("left");
    if (key === "r") return play("right");
    const isFree = !isFine() && page.isReady && page.unheard.size === 0 && event.target.type !== "radio";
    if (ARROWS.has(event.key) && isFree && !isPlayer(event.target)) return chooseByArrow(event.key), true;
    return false;
  }

  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.tagName === "TEXTAREA" || document.querySelector("dialog[open]");
    if (event.key === "Escape" && event.target.id === "note-text") byId("note-open").focus();
    const isUndo = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "z";
    if (isTyping || event.altKey || ((event.ctrlKey || event.metaKey) && !isUndo)) return;
    if (press(event)) event.preventDefault();
    else if (event.repeat && digitOf(event) !== null) event.preventDefault();
  });

  /* ------------------------------------------------------------------ buttons */

  function offerToSave() {
    const radio = chosenRadio();
    show(byId("save"), Boolean(radio));
    if (radio) byId("save").textContent = fill(words.save, { word: wordOf(Number(radio.value)) });
  }

  for (const label of document.querySelectorAll(".choice")) {
    const radio = label.querySelector("input");
    label.addEventListener("click", (event) => {
      if (event.target === radio) return; // chosen by arrow keys or by a screen reader, which then save
      event.preventDefault();
      if (event.detail <= 1 && !radio.disabled && !radio.closest("fieldset").disabled) answer(Number(radio.value));
    });
    radio.addEventListener("change", offerToSave);
  }

  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (page.current === null) return;
    const radio = chosenRadio();
    const grade = isFine() ? fineGrade : radio && Number(radio.value);
    if (grade === null || grade === undefined) announce(isFine() ? words.mark_first : words.choose_first);
    else answer(grade);
  });

  /** Call a function on a click, but not on the second one of a double click. */
  const onClick = (id, action) => byId(id).addEventListener("click", (event) => event.detail <= 1 && action());

  onClick("cannot-say", () => answer(null));
  onClick("undo", undo);
  onClick("message-undo", undo);
  onClick("note-open", openNote);
  onClick("feedback-next", nextExample);

  function openHelp() {
    byId("help").showModal();
  }

  onClick("help-open", openHelp);
  onClick("help-close", () => byId("help").close());
  onClick("zoom-close", () => byId("zoom").close());
  byId("zoom").addEventListener("click", () => byId("zoom").close());
  byId("help").addEventListener("click", (event) => event.target === byId("help") && byId("help").close());

  const SINGLE_KEYS = `${texts.queue}-single-keys`;

  function setUpSingleKeys() {
    try {
      page.usesSingleKeys = localStorage.getItem(SINGLE_KEYS) !== "no";
    } catch {
      page.usesSingleKeys = true;
    }
    const box = byId("single-keys");
    box.checked = page.usesSingleKeys;
    document.body.classList.toggle("without-keys", !page.usesSingleKeys);
    box.addEventListener("change", () => {
      page.usesSingleKeys = box.checked;
      document.body.classList.toggle("without-keys", !box.checked);
      try {
        localStorage.setItem(SINGLE_KEYS, box.checked ? "yes" : "no");
      } catch {
        // The choice lasts as long as the page.
      }
    });
  }

  window.addEventListener("online", () => {
    clearTimeout(page.timer);
    if (!page.isOnline) resume();
  });

  setUpSingleKeys();
  setUpLine();
  refresh({ focuses: false });
})();
