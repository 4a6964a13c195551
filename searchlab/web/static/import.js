// Importing topics and judgments: first what is understood of a file is shown, then it is added.

import { mistakeIn, showMistake } from "./mistakes.js";
import { announce, refreshStrip, send } from "./page.js";

const MAX_LISTED = 200;
// A large file takes its time; and what is imported twice would be there twice.
const IMPORT_SECONDS = 120;

const element = (tag, properties, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};
const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const isolated = (text) => element("bdi", { textContent: text });

// The content of a file as base64: a workbook is not text.
function encoded(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.split(",", 2)[1] ?? "");
    reader.onerror = () => reject(new Error("the file cannot be read"));
    reader.readAsDataURL(file);
  });
}

function unreadLines(answer) {
  if (!answer.n_unread) return [];
  const items = answer.unread.slice(0, MAX_LISTED).map(({ line, text, problem }) =>
    element("li", {}, `line ${line}: `, isolated(text), ` – ${problem}`));
  const more = answer.n_unread - items.length;
  if (more > 0) items.push(element("li", { textContent: `and ${count(more, "more line")}` }));
  const summary = element("summary", { textContent: `${count(answer.n_unread, "line")} not understood` });
  return [element("details", { className: "more", open: true }, summary, element("ul", { className: "unread", tabIndex: 0, ariaLabel: "Lines not understood" }, ...items))];
}

const remarks = (answer) => answer.remarks.map((remark) => element("p", { className: "note", textContent: remark }));

function preview(answer, add) {
  const found = `${count(answer.n_topics, "new topic")}, ${count(answer.n_judgments, "judgment")} (${answer.kind})`;
  const topics = answer.topics.map((topic) =>
    element("li", {}, isolated(topic.text), ` (${count(topic.n_judgments, "judgment")}${topic.is_new ? "" : ", known"})`));
  const button = element("button", { className: "button primary", type: "button", textContent: "Add them" });
  button.addEventListener("click", add);
  const usable = answer.n_topics + answer.n_judgments > 0;
  return [
    element("p", { textContent: `${found}:` }), element("ul", {}, ...topics), ...remarks(answer), ...unreadLines(answer),
    ...(usable ? [button] : []),
  ];
}

function prepare(form) {
  const problem = form.querySelector("[data-problem]");
  const understood = form.querySelector("[data-understood]");
  const { topic_set, file, text, judge } = form.elements;
  const { index } = document.body.dataset;
  const unchoose = form.querySelector("[data-unchoose]");
  form.hidden = false;

  const showChosen = () => { unchoose.hidden = !file.files.length; };

  async function run(work) {
    showMistake(form, problem, null);
    for (const button of form.querySelectorAll("button")) button.disabled = true;
    try {
      await work();
    } catch (error) {
      showMistake(form, problem, error, "Not imported: ");
    } finally {
      for (const button of form.querySelectorAll("button")) button.disabled = false;
    }
  }

  async function body() {
    if (!file.files.length && !text.value.trim()) throw mistakeIn("file", "choose a file, or write some lines");
    if (file.files.length && text.value.trim()) throw mistakeIn("text", `${file.files[0].name} is chosen, too: one of the two at a time`);
    const what = file.files.length ? { content: await encoded(file.files[0]) } : { text: text.value };
    return { index, topic_set: topic_set.value.trim(), ...what };
  }

  const add = () => run(async () => {
    const answer = await send("/api/import/table", { ...(await body()), judge: judge.value.trim() }, IMPORT_SECONDS);
    const link = new URL("/judge", location.href);
    // The page of the set shows the import, with a button that undoes it.
    const change = answer.change === null ? {} : { change: answer.change };
    link.search = new URLSearchParams({ index, topic_set: answer.topic_set, ...change });
    understood.replaceChildren(
      element("p", { className: "notice good", textContent: `${answer.sentence}.` }),
      ...unreadLines(answer),
      element("a", { href: link.href, className: "button primary", textContent: "Show the topics" }),
    );
    // The form is ready for the next file.
    file.value = "";
    text.value = "";
    showChosen();
    announce(answer.sentence);
    await refreshStrip(); // and the topics that the page lists
  });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run(async () => understood.replaceChildren(...preview(await send("/api/import/preview", await body(), IMPORT_SECONDS), add)));
  });
  const forget = () => {
    showChosen();
    understood.replaceChildren();
  };
  for (const type of ["change", "input"]) form.addEventListener(type, forget);
  unchoose.addEventListener("click", () => {
    file.value = "";
    forget();
    file.focus();
  });
  addEventListener("pageshow", showChosen); // after going back, the file is still chosen
}

for (const form of document.querySelectorAll("[data-import]")) prepare(form);
