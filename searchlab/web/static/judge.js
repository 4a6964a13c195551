// Judging a pool without leaving the page.
//
// The pool of the page that the server sends next replaces the present one: pages are made in one way, with or without
// scripts. The pages of the next documents are loaded ahead, so that a judgment shows the next document at once, while it
// is on its way to the server (`saving.js`). A key always judges the document that is shown, never one still to come.

import { request } from "./connection.js";
import { announce, hasName, keysAct, refreshStrip, send, showKeys, showStrip, withoutAction } from "./page.js";
import { isSaving, save } from "./saving.js";

const N_AHEAD = 3;
const main = document.getElementById("main");
const pool = () => main.querySelector("[data-pool]");
// Notes not yet saved, by docno: they outlast the page, in its tab.
const drafts = {
  key: (docno) => {
    const { topic_set, qid } = document.getElementById("judging").elements;
    const { index, judge } = document.body.dataset;
    return JSON.stringify(["note", index, judge, topic_set.value, qid.value, docno]);
  },
  get: (docno) => sessionStorage.getItem(drafts.key(docno)),
  set: (docno, note) => sessionStorage.setItem(drafts.key(docno), note),
};
const grades = new Map(); // grades given on this page, by docno: pages that were loaded ahead do not have them
const ahead = new Map(); // the pages loaded ahead, by URL
let busy = false;
let sent = pool()?.outerHTML; // the pool as the server sent it last

const docnoOf = (href) => new URL(href, location.href).searchParams.get("docno");
const dots = () => [...main.querySelectorAll(".dot")];
const current = () => document.getElementById("judging")?.dataset.docno;

function load(href) {
  if (!ahead.has(href)) {
    const page = request(href);
    page.catch(() => ahead.delete(href));
    ahead.set(href, page);
  }
  return ahead.get(href);
}

// The unjudged documents after the present one, in a circle.
function unjudged() {
  const all = dots();
  const here = all.findIndex((dot) => dot.hasAttribute("aria-current"));
  return [...all.slice(here + 1), ...all.slice(0, here)].filter((dot) => !dot.dataset.grade).map((dot) => dot.href);
}

// Show the grades that the server may not have yet.
function showGrades() {
  for (const dot of dots()) {
    const grade = grades.get(docnoOf(dot.href));
    if (grade === undefined) continue;
    dot.dataset.grade = grade;
    dot.textContent = grade;
  }
  const n = dots().filter((dot) => dot.dataset.grade).length;
  const bar = main.querySelector(".pool-head progress");
  if (!bar || !dots().length) return;
  bar.value = n;
  main.querySelector(".pool-head .progress span").textContent = `${n} of ${dots().length} judged`;
  document.title = document.title.replace(/^\d+ of/, `${n} of`);
  const grade = grades.get(current());
  for (const button of main.querySelectorAll(".verdict")) {
    if (grade !== undefined) button.setAttribute("aria-pressed", String(Number(button.dataset.grade) === grade));
  }
}

// A judgment that the server refused is not shown as made.
function removeGrade(docno) {
  for (const dot of dots().filter((each) => docnoOf(each.href) === docno)) {
    delete dot.dataset.grade;
    dot.textContent = "·";
  }
  sent = null;
  showGrades();
}

// What could not be judged is said above the pool, until a later judgment is saved.
function showFailure(words) {
  main.querySelector("[data-failed]")?.remove();
  if (!words) return;
  const notice = Object.assign(document.createElement("p"), { className: "notice bad", role: "alert", textContent: words });
  notice.dataset.failed = "";
  pool().before(notice);
}

// Show the pool of a page. Its notices are announced to screen readers. A page that was loaded ahead has an old strip.
function show(html, href, words, isAhead = false) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const fresh = page.querySelector("[data-pool]");
  if (!fresh) throw new Error(page.querySelector("main")?.textContent.trim().replace(/\s+/g, " ") || "no answer");
  const before = current();
  sent = fresh.outerHTML;
  pool().replaceWith(fresh);
  if (!isAhead) showStrip(page);
  document.title = page.title;
  const url = withoutAction(href);
  if (url !== location.href) history.pushState(null, "", url);
  prepare();
  const heading = document.getElementById("paper-title");
  heading?.focus({ preventScroll: true });
  const top = main.querySelector(".paper")?.getBoundingClientRect().top ?? 0;
  if (top < 0 && current() !== before) main.querySelector(".paper").scrollIntoView();
  const notice = fresh.querySelector("[data-announce]")?.textContent.trim().replace(/\s+/g, " ");
  if (words === null) return;
  if (notice) announce(notice, true);
  else announce([words, fresh.querySelector(".progress span").textContent].filter(Boolean).join("; "));
}

async function whileBusy(work) {
  if (busy) return announce("Not done: the next document is not shown yet");
  busy = true;
  pool().setAttribute("aria-busy", "true");
  try {
    await work();
  } catch (error) {
    announce(`Not done: ${error.message}`);
  } finally {
    busy = false;
    pool().removeAttribute("aria-busy");
  }
}

const go = (href, words) => whileBusy(async () => {
  const { text, url } = await load(href);
  ahead.delete(href);
  show(text, url, words, true);
});

// Send a form after all judgments before it; the page that it leads to is the present truth.
const submit = (form, submitter) => whileBusy(async () => {
  const body = new URLSearchParams(new FormData(form, submitter));
  const { text, url } = await save(() => request(form.action, { method: "POST", body }), form.id === "judging");
  grades.clear();
  ahead.clear();
  if (form.elements.note) sessionStorage.removeItem(drafts.key(form.elements.docno.value));
  show(text, url, "");
});

async function judge(form, button) {
  if (!hasName()) return;
  const docno = form.dataset.docno;
  const grade = Number(button.dataset.grade);
  const { topic_set, qid, note } = form.elements;
  const { index, judge } = document.body.dataset;
  const body = { index, judge, topic_set: topic_set.value, qid: qid.value, docno, grade, note: note.value };
  const draft = drafts.key(docno);
  const saved = save(async () => {
    await send("/api/judgments", body);
    sessionStorage.removeItem(draft);
  }).then(() => showFailure(""), (error) => {
    grades.delete(docno);
    ahead.clear();
    removeGrade(docno);
    showFailure(`Not judged: ${docno}: ${error.message}`);
    throw error;
  });
  // The strip counts topics with a relevant document.
  const isDecisive = grade > 0 && !dots().some((dot) => Number(dot.dataset.grade) > 0);
  grades.set(docno, grade);
  showGrades();
  const [next] = unjudged();
  if (next) {
    saved.then(() => { if (isDecisive) refreshStrip(); }, () => {});
    return go(next, button.firstChild.textContent.trim());
  }
  await whileBusy(async () => {
    await saved;
    show((await request(location.href)).text, location.href, button.firstChild.textContent.trim());
  });
}

// Another tab may have judged: a page that is looked at again shows what is true now.
async function refresh() {
  const isTyping = () => document.activeElement?.id === "note";
  if (document.visibilityState !== "visible" || busy || isSaving() || isTyping()) return;
  ahead.clear();
  try {
    const { text: html } = await request(location.href);
    if (busy || isSaving() || isTyping()) return;
    const page = new DOMParser().parseFromString(html, "text/html");
    if (!grades.size && page.querySelector("[data-pool]")?.outerHTML === sent) return showStrip(page);
    grades.clear();
    show(html, location.href, null);
  } catch {
    // Without a connection the page stays as it is.
  }
}

function prepare() {
  const note = document.getElementById("note");
  const form = document.getElementById("judging");
  if (note) note.value = drafts.get(form.dataset.docno) ?? note.value;
  note?.addEventListener("input", () => drafts.set(form.dataset.docno, note.value));
  for (const help of main.querySelectorAll(".by-key")) help.hidden = false;
  showGrades();
  for (const href of unjudged().slice(0, N_AHEAD)) load(href);
}

const press = (selector) => main.querySelector(selector)?.click();

const KEYS = {
  0: () => press('.verdict[data-grade="0"]'),
  1: () => press('.verdict[data-grade="1"]'),
  2: () => press('.verdict[data-grade="2"]'),
  j: () => press('.steps [rel="next"]'),
  k: () => press('.steps [rel="prev"]'),
  u: () => press('.steps [form="undoing"]'),
  r: () => press('.steps [form="redoing"]'),
  n: () => document.getElementById("note")?.focus(),
  "?": showKeys,
};

function handleKeysAndForms() {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target.id === "note") document.getElementById("paper-title").focus();
    if (!keysAct()) return;
    const typing = event.target.closest?.("input, select, textarea, [contenteditable], dialog");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    const act = Object.hasOwn(KEYS, event.key) && KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  main.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter?.matches(".verdict")) {
      if (busy) announce("Not judged: the next document is not shown yet");
      else judge(event.target, event.submitter);
    } else submit(event.target, event.submitter);
  });
  main.addEventListener("click", (event) => {
    const link = event.target.closest(".steps a[href], .dot");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    go(link.href);
  });
  addEventListener("popstate", () => (busy ? location.reload() : go(location.href)));
  document.addEventListener("visibilitychange", refresh);
  addEventListener("focus", refresh);
  prepare();
}

if (pool()) handleKeysAndForms();
