// How is a pool judged without leaving the page? And how are files imported?
//
// What the server would show next is put into the place of what is shown: there is one way to make a page, with or
// without a script. While something is on its way keys do nothing, as nobody can judge what is not yet to be seen.

import { lasting, say, send } from "./page.js";

const main = document.getElementById("main");
const pool = () => main.querySelector("[data-pool]");
const drafts = new Map(); // notes that were begun for documents without a grade
let busy = false;

// Show the page that an answer holds. Notices of it are read aloud.
function show(text, address, words) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const fresh = page.querySelector("[data-pool]");
  if (!fresh) throw new Error(page.querySelector("main")?.textContent.trim().replace(/\s+/g, " ") || "no answer");
  pool().replaceWith(fresh);
  document.title = page.title;
  const place = lasting(address);
  if (place !== location.href) history.pushState(null, "", place);
  prepare();
  const heading = document.getElementById("paper-title");
  heading?.focus({ preventScroll: true });
  const top = main.querySelector(".paper")?.getBoundingClientRect().top ?? 0;
  if (top < 0) main.querySelector(".paper").scrollIntoView();
  const told = fresh.querySelector("[data-said]")?.textContent.trim().replace(/\s+/g, " ");
  say(told ?? [words, fresh.querySelector(".progress span").textContent].filter(Boolean).join("; "));
}

async function go(address, options, words) {
  if (busy) return;
  busy = true;
  pool().setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address, options);
    show(await answer.text(), answer.url, words);
  } catch (error) {
    say(`Not done: ${error.message}`);
  } finally {
    busy = false;
    pool().removeAttribute("aria-busy");
  }
}

function prepare() {
  const note = document.getElementById("note");
  const form = document.getElementById("judging");
  if (note && drafts.has(form.dataset.id)) note.value = drafts.get(form.dataset.id);
  note?.addEventListener("input", () => drafts.set(form.dataset.id, note.value));
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

function judgeByKeysAndForms() {
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
    if (!busy) drafts.delete(form.dataset.id);
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

function importByForm(form) {
  const problem = form.querySelector("[data-problem]");
  const text = async (field) => (field.files[0] ? field.files[0].text() : undefined);
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { set, topics, qrels, judge } = form.elements;
    const button = form.querySelector("button");
    button.disabled = true;
    problem.hidden = true;
    try {
      if (!topics.files.length && !qrels.files.length) throw new Error("choose a file of topics, of judgments, or both");
      const { index } = document.body.dataset;
      const sent = { index, set: set.value.trim(), judge: judge.value.trim(), topics: await text(topics), qrels: await text(qrels) };
      await send("/api/import", sent);
      const place = new URL("/judge", location.href);
      place.search = new URLSearchParams({ index, set: sent.set });
      location.assign(place);
    } catch (error) {
      problem.textContent = `Not imported: ${error.message}`;
      problem.hidden = false;
    } finally {
      button.disabled = false;
    }
  });
}

if (pool()) judgeByKeysAndForms();
for (const form of document.querySelectorAll("[data-import]")) importByForm(form);
