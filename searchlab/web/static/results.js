// Selecting results: how many are ticked, and would be exported.

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
