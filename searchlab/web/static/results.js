// On the page of results: which are ticked, on all pages of the search, and would be exported; sliders for the years.

const form = document.getElementById("export");
const words = form?.querySelector("[data-selected]");
const otherwise = words?.textContent;
const MAX_URL_LENGTH = 15000; // of what the server takes
const boxes = () => [...document.querySelectorAll('.results input[name="docno"]')];

// The ticks of a search outlast its pages, in this tab: the same words, filters and order, whatever page.
const ticks = {
  get key() {
    const asked = [...new FormData(form)].filter(([name]) => name !== "docno");
    return JSON.stringify(["ticked", document.body.dataset.index, asked.map(([name, value]) => `${name}=${value}`).sort()]);
  },
  get: () => new Set(JSON.parse(sessionStorage.getItem(ticks.key) ?? "[]")),
  set: (docnos) => sessionStorage.setItem(ticks.key, JSON.stringify([...docnos])),
};

// Those of other pages are sent by hidden fields.
function showSelection() {
  const ticked = ticks.get();
  for (const box of boxes()) box.checked = ticked.has(box.value);
  const here = new Set(boxes().map((box) => box.value));
  for (const field of form.querySelectorAll("[data-elsewhere]")) field.remove();
  for (const value of [...ticked].filter((docno) => !here.has(docno))) {
    const field = Object.assign(document.createElement("input"), { type: "hidden", name: "docno", value });
    field.dataset.elsewhere = "";
    form.append(field);
  }
  const n = ticked.size;
  words.textContent = n ? (n === 1 ? "the result that is ticked" : `the ${n.toLocaleString("en")} results that are ticked`) : otherwise;
  form.querySelector("[data-untick]").hidden = n === 0;
  const all = document.getElementById("tick-page");
  const nHere = boxes().filter((box) => box.checked).length;
  all.checked = nHere > 0 && nHere === boxes().length;
  all.indeterminate = nHere > 0 && !all.checked;
  const tooMany = new URLSearchParams(new FormData(form)).toString().length > MAX_URL_LENGTH;
  for (const button of form.querySelectorAll("button[name=format]")) button.disabled = tooMany;
  if (tooMany) words.textContent += " (too many for one file: export them in parts)";
}

function tick(docnos, isTicked) {
  const ticked = ticks.get();
  for (const docno of docnos) {
    if (isTicked) ticked.add(docno);
    else ticked.delete(docno);
  }
  ticks.set(ticked);
  showSelection();
}

if (words) {
  document.querySelector(".results").addEventListener("change", ({ target }) => {
    if (target.name === "docno") tick([target.value], target.checked);
  });
  document.getElementById("tick-page").addEventListener("change", ({ target }) => tick(boxes().map((box) => box.value), target.checked));
  form.querySelector("[data-untick]").addEventListener("click", () => {
    ticks.set([]);
    showSelection();
  });
  document.querySelector("[data-tick-page]").hidden = false;
  addEventListener("pageshow", showSelection); // after going back, too
}

// Two sliders under the histogram of years, in step with the boxes beside it; an end that is not restricted is empty there.
// Letting go of a slider shows the results of its years; keys move it in steps, and Enter shows them.
const sliders = document.querySelector("[data-years]");

function showYears(from, to) {
  const [first, last] = [Number(from.min), Number(from.max)];
  const at = (slider) => (100 * (slider.value - first)) / (last - first);
  const bar = sliders.querySelector(".chosen");
  bar.setAttribute("x", at(from));
  bar.setAttribute("width", Math.max(at(to) - at(from), 0)); // while a year is typed, the ends may be exchanged
  from.classList.toggle("above", at(from) > 50); // so that it can be reached where both are at the end
}

if (sliders) {
  const [from, to] = sliders.querySelectorAll("input");
  const [fromBox, toBox] = ["year-from", "year-to"].map((id) => document.getElementById(id));
  const years = from.form;
  const chosen = () => `${fromBox.value} ${toBox.value}`;
  const shown = chosen();
  const followBoxes = () => {
    from.value = fromBox.value || from.min;
    to.value = toBox.value || to.max;
    showYears(from, to);
  };
  sliders.addEventListener("input", ({ target }) => {
    if (Number(from.value) > Number(to.value)) (target === from ? to : from).value = target.value;
    fromBox.value = from.value === from.min ? "" : from.value;
    toBox.value = to.value === to.max ? "" : to.value;
    showYears(from, to);
  });
  sliders.addEventListener("pointerup", () => {
    if (chosen() !== shown) years.requestSubmit();
  });
  sliders.addEventListener("keydown", (event) => {
    if (event.key === "Enter") years.requestSubmit();
  });
  for (const box of [fromBox, toBox]) box.addEventListener("input", followBoxes);
  addEventListener("pageshow", followBoxes); // after going back, boxes have what was entered
  sliders.hidden = false;
  followBoxes();
}
