// Judging without leaving the page, announcements, and menus.

import { request, requestPage } from "./connection.js";
import { mistakeIn } from "./mistakes.js";
import { isSaving, save } from "./saving.js";

const { index, judge } = document.body.dataset;
const WORDS = { 2: "definitely relevant", 1: "possibly relevant", 0: "not relevant" };

const ANNOUNCEMENT_MILLISECONDS = 4000;
let announcementTimer;
// What the page itself shows is only read out.
export function announce(words, isShown = false) {
  const toast = document.getElementById("announcement");
  toast.classList.toggle("visually-hidden", isShown);
  toast.textContent = words;
  clearTimeout(announcementTimer);
  announcementTimer = setTimeout(() => { toast.textContent = ""; }, ANNOUNCEMENT_MILLISECONDS);
}

// The strip shows how far judging has come: as a page that was just made has it.
export function showStrip(page) {
  const fresh = page.querySelector(".strip");
  if (fresh) document.querySelector(".strip")?.replaceWith(fresh);
}

export async function refreshStrip() {
  try {
    const { page } = await requestPage(location.href);
    showStrip(page);
    showTopic(page);
    showLiveParts(page);
  } catch {
    // Without a connection the page stays as it is.
  }
}

const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
};

// What the API answers; an error has the status, and the field that it is about.
export async function requestJson(path, options, seconds) {
  const answer = await request(path, options, seconds);
  const values = parsed(answer.text);
  if (!answer.ok) {
    const mistake = mistakeIn(values.field, values.error ?? `the server answered ${answer.status}`);
    throw Object.assign(mistake, { status: answer.status });
  }
  return values;
}

export const send = (path, body, seconds) => requestJson(path, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
}, seconds);

const gradeOf = (form) => {
  const pressed = form.querySelector('[aria-pressed="true"]');
  return pressed ? Number(pressed.dataset.grade) : null;
};

// The button of the present grade sends no grade, which removes it: as in browsers without scripts.
function showGrade(form, grade) {
  for (const button of form.querySelectorAll(".grade")) {
    const chosen = Number(button.dataset.grade) === grade;
    button.setAttribute("aria-pressed", chosen);
    button.value = chosen ? "" : button.dataset.grade;
  }
}

// The forms of a document, which may be shown twice.
const formsOf = (docno) => [...document.querySelectorAll("form.grades[data-docno]")].filter((form) => form.dataset.docno === docno);

// Beside the results: how many documents are judged for their topic, those on other pages included, and which is next.
let nJudgedElsewhere;
function showJudged(total) {
  const line = document.querySelector("[data-judged]");
  if (!line) return;
  const results = [...document.querySelectorAll(".result")].filter((result) => result.querySelector("form.grades"));
  const unjudged = results.filter((result) => gradeOf(result.querySelector("form.grades")) === null);
  const nHere = results.length - unjudged.length;
  nJudgedElsewhere = total === undefined ? nJudgedElsewhere ?? Number(line.dataset.judged) - nHere : total - nHere;
  const n = nHere + nJudgedElsewhere;
  line.querySelector("[data-n]").textContent = n.toLocaleString("en");
  const next = line.querySelector("[data-next]");
  next.hidden = !unjudged.length;
  line.querySelector("[data-all]").hidden = unjudged.length > 0;
  if (!unjudged.length) return;
  next.hash = unjudged[0].id;
  line.querySelector("[data-rank]").textContent = unjudged[0].value;
}
showJudged();

// What is judged for the query, as a page that was just made has it; it is there once something was judged.
function showTopic(page) {
  if (isSaving()) return;
  for (const line of document.querySelectorAll(".judged-so-far")) {
    line.hidden &&= page.querySelector(".judged-so-far")?.hidden ?? true;
  }
  showJudged(Number(page.querySelector("[data-judged]")?.dataset.judged ?? 0));
}

// A judgment belongs to a name: a judge who has logged in without one is asked for it.
export function hasName() {
  const field = document.getElementById("judge-name");
  if (judge || !field) return true;
  field.closest("details").open = true;
  field.focus();
  announce("Give your name first: it is stored with your judgments");
  return false;
}

// Whether a grade can change what the strip counts: topics with a relevant document.
const isDecisive = (before, after) => (before ?? 0) > 0 !== (after ?? 0) > 0;

export async function grade(form, chosen) {
  if (!hasName()) return;
  const before = gradeOf(form);
  const after = chosen === before ? null : chosen;
  const { docno, query } = form.dataset;
  for (const each of formsOf(docno)) showGrade(each, after);
  try {
    const { n_judged } = await save(() => send("/api/judgments", { index, judge, docno, query, grade: after }));
    const words = after === null ? "Judgment removed" : `Judged ${WORDS[after]}`;
    const isNew = document.querySelector(".judged-so-far[hidden]"); // the query is a topic now, which can be edited
    for (const line of document.querySelectorAll(".judged-so-far")) line.hidden = false;
    showJudged(n_judged);
    if (isNew || isDecisive(before, after)) refreshStrip();
    announce(`${words}; ${n_judged} judged for this query`);
  } catch (error) {
    for (const each of formsOf(docno)) showGrade(each, before);
    announce(`Not judged: ${error.message}`);
  }
}

// Undo or redo the last judgment for the query of this page: never one of another query.
async function takeBack(path, name, verb, words) {
  const query = document.querySelector("form.grades")?.dataset.query;
  if (!query) return;
  try {
    const changed = (await save(() => send(path, { index, judge, query }), false))[name];
    if (!changed) return announce(`Nothing to ${verb} for this query`);
    for (const [docno, present] of Object.entries(changed.present_grades)) {
      for (const form of formsOf(docno)) showGrade(form, present);
    }
    showJudged();
    refreshStrip();
    announce(`${words}: ${changed.what}`);
  } catch (error) {
    announce(`Not possible: ${error.message}`);
  }
}
export const undo = () => takeBack("/api/judgments/undo", "undone", "undo", "Undone");
export const redo = () => takeBack("/api/judgments/redo", "redone", "redo", "Done again");

// Parts of a page that are as the server says they are, by name; each as it was sent.
const livePart = (page, name) => page.querySelector(`[data-live="${name}"]`);
const sent = new WeakMap([...document.querySelectorAll("[data-live]")].map((part) => [part, part.outerHTML]));

const isOtherChoice = (select) => select.selectedIndex !== Math.max([...select.options].findIndex((option) => option.defaultSelected), 0);
const isChanged = (field) => field.matches("select") ? isOtherChoice(field)
  : field.matches("[type=checkbox]") ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
const isInUse = (part) => [...part.querySelectorAll("input, select, textarea")].some((field) => field === document.activeElement || isChanged(field));

function showLiveParts(page) {
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = livePart(page, part.dataset.live);
    if (!fresh || fresh.outerHTML === (sent.get(part) ?? part.outerHTML) || isInUse(part)) continue;
    sent.set(fresh, fresh.outerHTML);
    const { href } = part.contains(document.activeElement) ? document.activeElement : {};
    part.replaceWith(fresh);
    [...fresh.querySelectorAll("a")].find((link) => link.href === href)?.focus({ preventScroll: true });
  }
}

// Another tab or judge may have changed something: a page that is looked at again shows what is true now.
let isRefreshing = false;
async function refresh() {
  // A pool is refreshed by `judge.js`.
  const isLive = document.querySelector(".strip") && !document.querySelector("[data-pool]");
  if (document.visibilityState !== "visible" || !isLive || isSaving() || isRefreshing) return;
  isRefreshing = true;
  try {
    const answer = await requestPage(location.href);
    const { page } = answer;
    if (!answer.ok) announce(page.querySelector(".mistake")?.textContent ?? ""); // such as a set that is gone
    if (!answer.ok || isSaving()) return;
    for (const form of page.querySelectorAll("form.grades[data-docno]")) {
      for (const each of formsOf(form.dataset.docno)) showGrade(each, gradeOf(form));
    }
    showTopic(page);
    showLiveParts(page);
    showStrip(page);
  } catch {
    // Without a connection the page stays as it is.
  } finally {
    isRefreshing = false;
  }
}
document.addEventListener("visibilitychange", refresh);
addEventListener("focus", refresh);

document.addEventListener("submit", (event) => {
  const button = event.submitter;
  const direction = event.target.dataset.takeBack;
  if (direction) {
    event.preventDefault();
    (direction === "undo" ? undo : redo)();
  }
  if (!button?.matches("form.grades[data-query] .grade")) return;
  event.preventDefault();
  grade(button.form, Number(button.dataset.grade));
});

// After going back, the page may show outdated grades.
addEventListener("pageshow", (event) => {
  if (event.persisted && document.querySelector("form.grades")) location.reload();
});

// The URL without the parameter that reports an action just completed: reloading must not report it again.
export function withoutAction(href) {
  const url = new URL(href);
  for (const name of ["did", "about", "together", "saved", "deleted"]) {
    if (url.searchParams.has(name)) url.searchParams.delete(name);
  }
  return url.href;
}
history.replaceState(history.state, "", withoutAction(location.href));

// Speech input and unsteady hands press keys by mistake (WCAG 2.1.4): single keys can be switched off, in this browser.
const SINGLE_KEYS = "searchlab.single-keys";
const singleKeys = document.getElementById("single-keys");
export const keysAct = () => localStorage.getItem(SINGLE_KEYS) !== "off";
if (singleKeys) {
  singleKeys.checked = keysAct();
  singleKeys.addEventListener("change", () => {
    if (singleKeys.checked) localStorage.removeItem(SINGLE_KEYS);
    else localStorage.setItem(SINGLE_KEYS, "off");
  });
}

export const showKeys = () => document.getElementById("keys").showModal();
for (const button of document.querySelectorAll("[data-keys]")) {
  button.hidden = false;
  button.addEventListener("click", showKeys);
}

// Enter in a checkbox would press the first button of its form.
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches?.(".topics [type=checkbox]")) event.preventDefault();
});

// A menu closes when the user clicks or moves the focus elsewhere.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("focusin", (event) => {
  for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector(".menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

// In a comparison, the same document is highlighted on both sides.
for (const type of ["pointerover", "focusin"]) {
  document.querySelector(".sides")?.addEventListener(type, (event) => {
    const docno = event.target.closest("[data-same]")?.dataset.same;
    for (const element of document.querySelectorAll("[data-same]")) {
      element.classList.toggle("lit", element.dataset.same === docno);
    }
  });
}
document.querySelector(".sides")?.addEventListener("pointerleave", () => {
  for (const element of document.querySelectorAll(".lit")) element.classList.remove("lit");
});
