// Progress of a training or an experiment: requested every second while it runs; when it has ended, the page is updated.

import { request, requestPage } from "./connection.js";
import { announce, showStrip } from "./page.js";

const POLL_MILLISECONDS = 1000;
const main = document.getElementById("main");
const jobCard = () => main.querySelector("[data-job]");
const isActive = (state) => state === "running" || state === "waiting";

function showProgress(job) {
  const bar = jobCard().querySelector("progress");
  if (job.total) {
    bar.max = job.total;
    bar.value = job.done;
  } else bar.removeAttribute("value");
  const progress = job.total ? `: ${job.done.toLocaleString("en")} of ${job.total.toLocaleString("en")}` : "";
  jobCard().querySelector("[data-stage]").textContent = job.stage + progress;
  jobCard().querySelector("[data-seconds]").textContent = Math.round(job.seconds);
}

// Forms that begin a job stay as they are: what is being entered there is not lost.
function keepForms(page) {
  const focused = document.activeElement;
  for (const form of main.querySelectorAll("form[data-kept]")) {
    page.querySelector(`form[data-kept][action="${form.getAttribute("action")}"]`)?.replaceWith(form);
  }
  return () => { if (focused?.isConnected && focused.closest("[data-kept]")) focused.focus({ preventScroll: true }); };
}

async function showResult() {
  const { ok, status, page } = await requestPage(location.href);
  if (!ok) throw new Error(`the server answered ${status}`);
  showStrip(page);
  const focusAgain = keepForms(page);
  main.replaceChildren(...page.getElementById("main").childNodes);
  focusAgain();
  const outcome = jobCard()?.querySelector(".sentence, .notice") ?? jobCard()?.querySelector("h2");
  if (outcome) announce(outcome.textContent);
  watch();
}

async function poll() {
  try {
    const { jobs } = JSON.parse((await request(jobCard().dataset.jobs)).text);
    const job = jobs.find((job) => job.id === jobCard().dataset.job);
    if (!job || !isActive(job.state) || job.state !== jobCard().dataset.state) return await showResult();
    showProgress(job);
    jobCard().querySelector("[data-lost]").hidden = true;
  } catch {
    // The server is unreachable, busy or does not answer.
    jobCard().querySelector("[data-lost]").hidden = false;
  }
  setTimeout(poll, POLL_MILLISECONDS);
}

function watch() {
  if (!jobCard() || !isActive(jobCard().dataset.state)) return;
  jobCard().querySelector("[data-refresh]").hidden = true;
  setTimeout(poll, POLL_MILLISECONDS);
}

// Another tab may have begun or ended a job.
async function refresh() {
  if (document.visibilityState !== "visible" || isActive(jobCard()?.dataset.state)) return;
  try {
    const { page } = await requestPage(location.href);
    const stateOf = (card) => card && `${card.dataset.job} ${card.dataset.state}`;
    if (stateOf(page.querySelector("[data-job]")) !== stateOf(jobCard())) await showResult();
  } catch {
    // Without a connection the page stays as it is.
  }
}
document.addEventListener("visibilitychange", refresh);
addEventListener("focus", refresh);

watch();
