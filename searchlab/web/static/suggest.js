// What could the query be? Past queries and words of the index, as an ARIA combobox with a listbox.

const WAIT = 120; // milliseconds after the last letter

function attach(box) {
  const own = { id: `${box.id}-options`, className: "options", hidden: true };
  const list = Object.assign(document.createElement("ul"), own);
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  box.parentElement.append(list);
  const states = { role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": "false" };
  for (const [name, value] of Object.entries(states)) box.setAttribute(name, value);

  let typed = box.value;
  let chosen = -1;
  let waiting;
  let asking;

  function close() {
    clearTimeout(waiting);
    asking?.abort();
    list.hidden = true;
    chosen = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  }

  function show(suggestions) {
    list.replaceChildren(...suggestions.map(({ text, kind }, place) => {
      const option = Object.assign(document.createElement("li"), { id: `${list.id}-${place}`, className: "option" });
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.dataset.text = text;
      const words = Object.assign(document.createElement("bdi"), { textContent: text });
      const told = Object.assign(document.createElement("span"), {
        className: "kind",
        textContent: kind === "past" ? "asked before" : "word",
      });
      option.append(words, told);
      return option;
    }));
    chosen = -1;
    list.hidden = suggestions.length === 0;
    box.setAttribute("aria-expanded", String(!list.hidden));
    box.removeAttribute("aria-activedescendant");
  }

  async function ask() {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    const params = new URLSearchParams({ q: typed, index: document.body.dataset.index });
    try {
      const answer = await fetch(`/api/suggest?${params}`, { signal });
      if (!answer.ok) return close();
      const { suggestions } = await answer.json();
      if (!signal.aborted && document.activeElement === box) show(suggestions);
    } catch {
      if (!signal.aborted) close();
    }
  }

  function choose(place) {
    const options = [...list.children];
    const n = options.length;
    chosen = (place + n + 2) % (n + 1) - 1; // past either end lies what was typed
    options.forEach((option, at) => option.setAttribute("aria-selected", String(at === chosen)));
    box.value = chosen < 0 ? typed : options[chosen].dataset.text;
    if (chosen < 0) return box.removeAttribute("aria-activedescendant");
    box.setAttribute("aria-activedescendant", options[chosen].id);
    options[chosen].scrollIntoView({ block: "nearest" });
  }

  box.addEventListener("input", () => {
    typed = box.value;
    clearTimeout(waiting);
    if (typed.trim()) waiting = setTimeout(ask, WAIT);
    else close();
  });
  box.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && list.hidden && step > 0 && box.value.trim()) {
      event.preventDefault();
      typed = box.value;
      ask();
    } else if (step && !list.hidden) {
      event.preventDefault();
      choose(chosen + step);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      box.value = typed;
      close();
    } else if (event.key === "Enter" || event.key === "Tab") close();
  });
  box.addEventListener("blur", close);
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // the box keeps the focus
  list.addEventListener("click", (event) => {
    const option = event.target.closest(".option");
    if (!option) return;
    box.value = option.dataset.text;
    close();
    box.form.requestSubmit();
  });
}

document.querySelectorAll("[data-suggest]").forEach(attach);
