// Judging a pool without leaving the page.
//
// The pool of the page that the server sends next replaces the present one: pages are made in one way, with or without
// scripts. While a request is under way keys do nothing: one cannot judge a document that is not yet shown.

import { announce, withoutAction } from "./page.js";

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

if (pool()) handleKeysAndForms();
