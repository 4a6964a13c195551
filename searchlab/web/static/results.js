// On the page of results: how many are ticked, and would be exported; sliders for the years.

const words = document.querySelector("[data-selected]");
const otherwise = words?.textContent;

function showSelection() {
  const n = document.querySelectorAll('.results input[name="docno"]:checked').length;
  words.textContent = n ? (n === 1 ? "the result that is ticked" : `the ${n} results that are ticked`) : otherwise;
}

if (words) {
  document.querySelector(".results").addEventListener("change", showSelection);
  addEventListener("pageshow", showSelection); // after going back, boxes are still ticked
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
  const { form } = from;
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
    if (chosen() !== shown) form.requestSubmit();
  });
  sliders.addEventListener("keydown", (event) => {
    if (event.key === "Enter") form.requestSubmit();
  });
  for (const box of [fromBox, toBox]) box.addEventListener("input", followBoxes);
  addEventListener("pageshow", followBoxes); // after going back, boxes have what was entered
  sliders.hidden = false;
  followBoxes();
}
