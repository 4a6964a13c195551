// How far is the training? Asked every second while it runs; when it has ended, the page is shown as it is then.

import { say } from "./page.js";

const PAUSE = 1000;
const main = document.getElementById("main");
const card = () => main.querySelector("[data-job]");
const runs = (state) => state === "running" || state === "waiting";

function tell(job) {
  const bar = card().querySelector("progress");
  if (job.of) {
    bar.max = job.of;
    bar.value = job.done;
  } else bar.removeAttribute("value");
  const far = job.of ? `: ${job.done.toLocaleString("en")} of ${job.of.toLocaleString("en")}` : "";
  card().querySelector("[data-stage]").textContent = job.stage + far;
  card().querySelector("[data-seconds]").textContent = Math.round(job.seconds);
}

async function showResult() {
  const answer = await fetch(location.href);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  main.replaceChildren(...page.getElementById("main").childNodes);
  const told = card()?.querySelector(".sentence, .notice") ?? card()?.querySelector("h2");
  if (told) say(told.textContent);
  watch();
}

async function look() {
  try {
    const answer = await fetch("/api/jobs");
    const { jobs } = await answer.json();
    const job = jobs.find((each) => each.id === card().dataset.job);
    if (!job || !runs(job.state) || job.state !== card().dataset.state) return await showResult();
    tell(job);
  } catch {
    // The server is away or busy: ask again.
  }
  setTimeout(look, PAUSE);
}

function watch() {
  if (!card() || !runs(card().dataset.state)) return;
  card().querySelector("[data-refresh]").hidden = true;
  setTimeout(look, PAUSE);
}

watch();
