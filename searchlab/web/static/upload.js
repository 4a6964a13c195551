// Uploading documents: files are sent one after the other, then the server indexes them and says what it read.

import { ConnectionLost, requestPage } from "./connection.js";
import { mistakeIn, showMistake } from "./mistakes.js";
import { announce, requestJson, send } from "./page.js";

const POLL_MILLISECONDS = 700;
const RETRY_MILLISECONDS = 1000;
const MEGABYTE = 2 ** 20;

const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const hidden = (path) => path.split("/").some((part) => part.startsWith("."));

// The files below a dropped folder, with their paths.
async function filesOf(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ file, path: entry.fullPath.replace(/^\//, "") }];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) { // a reader gives some entries at a time
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!entries.length) return found;
    for (const each of entries) found.push(...(await filesOf(each)));
  }
}

// A name for the index: that of the only folder or file, in letters that a name may have.
function nameFor(files) {
  const [first, ...others] = new Set(files.map(({ path }) => path.split("/")[0]));
  if (!first || others.length) return "";
  const stem = files[0].path.includes("/") ? first : first.replace(/\.[^.]*$/, "");
  const plain = stem.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.replace(/[^a-z0-9_]+/g, "-").replace(/^[-_]+/, "").slice(0, 40).replace(/-+$/, "");
}

const pause = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

// A lost connection loses nothing: what could not be sent or asked is tried again, and the page says so. `field` is
// that of the error if it was done the first time; null if that has none.
async function persist(work, lost, field = "") {
  for (let isAgain = false; ; isAgain = true) {
    try {
      return await work();
    } catch (error) {
      // What was stored while the answer was lost is there already.
      if (isAgain && error.status === 409 && error.field === field) return null;
      if (!(error instanceof ConnectionLost)) throw error;
      lost();
      await pause(RETRY_MILLISECONDS);
    }
  }
}

// The list of all uploads, as the server has it now; it is left alone while nothing in it has changed.
let shownUploads;
async function refreshUploads() {
  const { page } = await requestPage(location.href);
  const fresh = page.querySelector("[data-uploads]");
  if (!fresh || fresh.outerHTML === shownUploads) return;
  shownUploads = fresh.outerHTML;
  document.querySelector("[data-uploads]").replaceWith(fresh);
}

const beingIndexed = () => [...document.querySelectorAll('[data-upload-name][data-state="indexing"]')];

// Uploads that are being indexed, since before the page was opened or by another tab: the list is asked for until they
// are done.
async function watchUploads() {
  for (let waiting = beingIndexed(); waiting.length; waiting = beingIndexed()) {
    await pause(POLL_MILLISECONDS);
    const lost = document.querySelector("[data-list-lost]");
    try {
      await refreshUploads();
      if (lost) lost.hidden = true;
    } catch {
      if (lost) lost.hidden = false;
    }
    for (const { dataset: { uploadName: name } } of waiting) {
      const now = document.querySelector(`[data-upload-name="${name}"]`)?.dataset.state;
      if (now === "done" || now === "failed") announce(now === "done" ? `${name} is indexed` : `Indexing ${name} has failed`);
    }
  }
}

function prepare(form) {
  const find = (what) => form.querySelector(what);
  const problem = find("[data-problem]");
  const outcome = document.querySelector("[data-outcome]");
  const { maxFiles, maxMegabytes, maxFileMegabytes } = form.dataset;
  let chosen = [];
  let suggested = "";
  form.hidden = false;

  function choose(files) {
    chosen = files.filter(({ path }) => !hidden(path));
    const { name } = form.elements;
    if (name.value === suggested) name.value = suggested = nameFor(chosen);
    const size = chosen.reduce((sum, { file }) => sum + file.size, 0) / MEGABYTE;
    const shownSize = size < 0.1 ? `${Math.ceil(size * 1024)} kB` : `${size.toFixed(1)} MB`;
    find("[data-chosen]").textContent = `${count(chosen.length, "file")}, ${shownSize}`;
    const large = chosen.find(({ file }) => file.size > maxFileMegabytes * MEGABYTE);
    const wrong = chosen.length > maxFiles ? `${count(chosen.length, "file")}, expected at most ${maxFiles}`
      : size > maxMegabytes ? `${size.toFixed(0)} MB, expected at most ${maxMegabytes}`
        : large ? `${large.path} is larger than ${maxFileMegabytes} MB` : "";
    report(wrong ? mistakeIn("files", wrong) : null);
  }

  const report = (error) => showMistake(form, problem, error, "Not uploaded: ");

  function stage(words, done, total) {
    find("[data-progress]").hidden = false;
    find("[data-stage]").textContent = words;
    if (total) find("progress").value = done / total;
    else find("progress").removeAttribute("value");
  }

  const lost = () => stage("Connection lost, trying again …");

  const picked = (input) => [...input.files].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
  for (const input of [form.elements.files, form.elements.folder]) {
    input.addEventListener("change", () => choose([...picked(form.elements.files), ...picked(form.elements.folder)]));
  }
  const zone = find("[data-drop]");
  zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", async (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    choose((await Promise.all(entries.map(filesOf))).flat());
  });

  function show(name, upload) {
    outcome.hidden = false;
    outcome.querySelector("[data-account]").textContent = upload.account;
    const link = outcome.querySelector("[data-search]");
    link.href = `/?${new URLSearchParams({ index: name })}`;
    link.hidden = upload.state !== "done";
    const events = outcome.querySelector("[data-events]");
    events.hidden = !upload.events.length;
    events.querySelector("ul").replaceChildren(...upload.events.map(({ kind, location, message }) => {
      const item = document.createElement("li");
      item.textContent = [kind, location, message].filter(Boolean).join(" · ");
      return item;
    }));
    find("[data-progress]").hidden = true;
    announce(upload.state === "done" ? `${name} is indexed` : "Indexing has failed");
    outcome.querySelector("h2").scrollIntoView({ block: "nearest" });
  }

  async function upload(name) {
    await persist(() => send("/api/uploads", { name }), lost, "name");
    for (const [at, { file, path }] of chosen.entries()) {
      stage(`Sending ${at + 1} of ${chosen.length}`, at, chosen.length);
      const url = `/api/uploads/file?${new URLSearchParams({ name, path })}`;
      const options = { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file };
      await persist(() => requestJson(url, options), lost, "path");
    }
    stage("Reading and indexing");
    let answer = (await persist(() => send("/api/uploads/index", { name }), lost, null)) ?? { state: "indexing" };
    while (answer.state === "indexing") {
      await pause(POLL_MILLISECONDS);
      answer = await persist(() => requestJson(`/api/uploads?${new URLSearchParams({ name })}`), lost);
      stage("Reading and indexing");
    }
    show(name, answer);
    await refreshUploads();
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!chosen.length) { report(mistakeIn("files", "choose files or a folder first")); return; }
    const button = find("button");
    button.disabled = true;
    report(null);
    try {
      await upload(form.elements.name.value.trim());
    } catch (error) {
      report(error);
      find("[data-progress]").hidden = true;
      await refreshUploads().catch(() => {}); // what was sent can be indexed or deleted there
    } finally {
      button.disabled = false;
    }
  });
}

for (const form of document.querySelectorAll("[data-upload]")) prepare(form);
watchUploads();
