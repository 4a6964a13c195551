// Keyboard shortcuts: / search, j k move, o open, 0 1 2 judge, u undo, r redo, ? help.

import { announce, grade, keysAct, redo, showKeys, undo } from "./page.js";

const results = () => [...document.querySelectorAll(".result")];
const focused = () => document.activeElement?.closest(".result");

function move(step) {
  const all = results();
  const current = all.indexOf(focused());
  const next = all[current < 0 ? (step > 0 ? 0 : all.length - 1) : current + step];
  if (!next) return;
  next.querySelector(".open").focus({ preventScroll: true, focusVisible: true });
  next.scrollIntoView({ block: "nearest" });
}

function judge(chosen) {
  const form = (focused() ?? document.querySelector(".document"))?.querySelector("form.grades");
  if (form) grade(form, chosen);
  else if (document.querySelector(".result form.grades")) announce("Which result? Press j or k to choose one");
}

function focusSearchBox() {
  const box = document.getElementById("q");
  box?.focus();
  box?.select();
}

const KEYS = {
  "/": focusSearchBox,
  j: () => move(1),
  k: () => move(-1),
  o: () => focused()?.querySelector(".open").click(),
  0: () => judge(0),
  1: () => judge(1),
  2: () => judge(2),
  u: undo,
  r: redo,
  "?": showKeys,
};

document.addEventListener("keydown", (event) => {
  if (!keysAct()) return;
  const typing = event.isComposing || event.target.closest?.("input, select, textarea, [contenteditable], dialog");
  const modified = event.ctrlKey || event.metaKey || event.altKey;
  const held = event.repeat && !"jk".includes(event.key);
  if (typing || modified || held || !Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
});
