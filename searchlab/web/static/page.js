// What do pages do beyond links and forms? They judge without leaving the page, and say what was done.

const { index, judge } = document.body.dataset;
const WORDS = { 2: "definitely relevant", 1: "possibly relevant", 0: "not relevant" };

let silence;
export function say(words) {
  const place = document.getElementById("said");
  place.textContent = words;
  clearTimeout(silence);
  silence = setTimeout(() => { place.textContent = ""; }, 4000);
}

export async function send(path, body) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(told.error ?? `the server answered ${answer.status}`);
  return told;
}

const gradeOf = (form) => {
  const pressed = form.querySelector('[aria-pressed="true"]');
  return pressed ? Number(pressed.dataset.grade) : null;
};

// The button of the chosen grade sends nothing, which takes it back: also where no script runs.
function showGrade(form, grade) {
  for (const button of form.querySelectorAll(".grade")) {
    const chosen = Number(button.dataset.grade) === grade;
    button.setAttribute("aria-pressed", chosen);
    button.value = chosen ? "" : button.dataset.grade;
  }
}

const done = [];

export async function grade(form, chosen) {
  const before = gradeOf(form);
  const after = chosen === before ? null : chosen;
  showGrade(form, after);
  try {
    const { id, query } = form.dataset;
    await send("/api/judgments", { index, judge, id, query, grade: after });
    done.push({ form, before });
    say(after === null ? "Judgment taken back" : `Judged ${WORDS[after]}`);
  } catch (error) {
    showGrade(form, before);
    say(`Not judged: ${error.message}`);
  }
}

export async function undo() {
  try {
    const { undone } = await send("/api/judgments/undo", { index, judge });
    const last = done.pop();
    if (!undone) say("Nothing to undo");
    else if (last?.form.dataset.id === undone.id) {
      showGrade(last.form, last.before);
      say(`Undone: ${undone.id}`);
    } else location.reload(); // it was judged elsewhere: the server knows what holds now
  } catch (error) {
    say(`Not undone: ${error.message}`);
  }
}

document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!button?.matches("form.grades[data-query] .grade")) return;
  event.preventDefault();
  grade(button.form, Number(button.dataset.grade));
});

// Whoever comes back may have judged on the page between.
addEventListener("pageshow", (event) => {
  if (event.persisted && document.querySelector("form.grades")) location.reload();
});

// What was just done is not told again when the page is loaded again.
export function lasting(address) {
  const place = new URL(address);
  if (place.searchParams.has("did")) place.searchParams.delete("did");
  return place.href;
}
history.replaceState(history.state, "", lasting(location.href));

// A menu closes when something else is chosen.
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

// In a comparison, a document lights up wherever it stands.
for (const type of ["pointerover", "focusin"]) {
  document.querySelector(".sides")?.addEventListener(type, (event) => {
    const chosen = event.target.closest("[data-same]")?.dataset.same;
    for (const place of document.querySelectorAll("[data-same]")) {
      place.classList.toggle("lit", place.dataset.same === chosen);
    }
  });
}
document.querySelector(".sides")?.addEventListener("pointerleave", () => {
  for (const place of document.querySelectorAll(".lit")) place.classList.remove("lit");
});
