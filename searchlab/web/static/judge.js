// Judging a pool without leaving the page, and importing files.
//
// The pool of the page that the server sends next replaces the present one: pages are made in one way, with or without
// scripts. While a request is under way keys do nothing: one cannot judge a document that is not yet shown.

import { announce, send, withoutAction } from "./page.js";

const main = document.getElementById("main");
const pool = () => main.querySelector("[data-pool]");
const drafts = new Map(); // notes not yet saved, by docno
let busy = false;

// Show the pool of a page. Its notices are announced to screen readers.
function show(html, href, words) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const fresh = page.querySelector("[data-pool]");
  if (!fresh) throw new Error(page.querySelector("main")?.textContent.trim().replace(/\s+/g, " ") || "no answer");
  pool().replaceWith(fresh);
  document.title = page.title;
  const url = withoutAction(href);
  if (url !== location.href) history.pushState(null, "", url);
  prepare();
  const heading = document.getElementById("paper-title");
  heading?.focus({ preventScroll: true });
  const top = main.querySelector(".paper")?.getBoundingClientRect().top ?? 0;
  if (top < 0) main.querySelector(".paper").scrollIntoView();
  const notice = fresh.querySelector("[data-announce]")?.textContent.trim().replace(/\s+/g, " ");
  announce(notice ?? [words, fresh.querySelector(".progress span").textContent].filter(Boolean).join("; "));
}

async function go(href, options, words) {
  if (busy) return;
  busy = true;
  pool().setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(href, options);
    show(await answer.text(), answer.url, words);
  } catch (error) {
    announce(`Not done: ${error.message}`);
  } finally {
    busy = false;
    pool().removeAttribute("aria-busy");
  }
}

function prepare() {
  const note = document.getElementById("note");
  const form = document.getElementById("judging");
  if (note && drafts.has(form.dataset.docno)) note.value = drafts.get(form.dataset.docno);
  note?.addEventListener("input", () => drafts.set(form.dataset.docno, note.value));
  for (const help of main.querySelectorAll(".by-key")) help.hidden = false;
}

const press = (selector) => main.querySelector(selector)?.click();

const KEYS = {
  0: () => press('.verdict[data-grade="0"]'),
  1: () => press('.verdict[data-grade="1"]'),
  2: () => press('.verdict[data-grade="2"]'),
  j: () => press('.steps [rel="next"]'),
  k: () => press('.steps [rel="prev"]'),
  u: () => press('.steps [form="undoing"]'),
  n: () => document.getElementById("note")?.focus(),
};

function handleKeysAndForms() {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target.id === "note") document.getElementById("paper-title").focus();
    const typing = event.target.closest?.("input, select, textarea, [contenteditable], dialog");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    const act = Object.hasOwn(KEYS, event.key) && KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  main.addEventListener("submit", (event) => {
    event.preventDefault();
    const form = event.target;
    const words = event.submitter?.matches(".verdict") ? event.submitter.firstChild.textContent.trim() : "";
    if (!busy) drafts.delete(form.dataset.docno);
    go(form.action, { method: "POST", body: new URLSearchParams(new FormData(form, event.submitter)) }, words);
  });
  main.addEventListener("click", (event) => {
    const link = event.target.closest(".steps a[href], .dot");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    go(link.href);
  });
  addEventListener("popstate", () => (busy ? location.reload() : go(location.href)));
  prepare();
}

function handleImport(form) {
  const problem = form.querySelector("[data-problem]");
  const text = async (field) => (field.files[0] ? field.files[0].text() : undefined);
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { topic_set, topics, qrels, judge } = form.elements;
    const button = form.querySelector("button");
    button.disabled = true;
    problem.hidden = true;
    try {
      if (!topics.files.length && !qrels.files.length) throw new Error("choose a file of topics, of judgments, or both");
      const { index } = document.body.dataset;
      const body = { index, topic_set: topic_set.value.trim(), judge: judge.value.trim(), topics: await text(topics), qrels: await text(qrels) };
      await send("/api/import", body);
      const url = new URL("/judge", location.href);
      url.search = new URLSearchParams({ index, topic_set: body.topic_set });
      location.assign(url);
    } catch (error) {
      problem.textContent = `Not imported: ${error.message}`;
      problem.hidden = false;
    } finally {
      button.disabled = false;
    }
  });
}

if (pool()) handleKeysAndForms();
for (const form of document.querySelectorAll("[data-import]")) handleImport(form);
