// Suggestions for the query being typed: past queries and words of the index, as an ARIA combobox with a listbox.

const TYPING_PAUSE_MILLISECONDS = 120;

function attach(box) {
  const attributes = { id: `${box.id}-options`, className: "options", hidden: true };
  const list = Object.assign(document.createElement("ul"), attributes);
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  box.parentElement.append(list);
  const states = { role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": "false" };
  for (const [name, value] of Object.entries(states)) box.setAttribute(name, value);

  let typed = box.value;
  let chosen = -1;
  let timer;
  let controller;

  function close() {
    clearTimeout(timer);
    controller?.abort();
    list.hidden = true;
    chosen = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  }

  function show(suggestions) {
    list.replaceChildren(...suggestions.map(({ text, kind }, position) => {
      const option = Object.assign(document.createElement("li"), { id: `${list.id}-${position}`, className: "option" });
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.dataset.text = text;
      const words = Object.assign(document.createElement("bdi"), { textContent: text });
      const label = Object.assign(document.createElement("span"), {
        className: "kind",
        textContent: kind === "past" ? "past query" : "word",
      });
      option.append(words, label);
      return option;
    }));
    chosen = -1;
    list.hidden = suggestions.length === 0;
    box.setAttribute("aria-expanded", String(!list.hidden));
    box.removeAttribute("aria-activedescendant");
  }

  async function request() {
    controller?.abort();
    controller = new AbortController();
    const { signal } = controller;
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

  function choose(position) {
    const options = [...list.children];
    const n = options.length;
    chosen = (position + n + 2) % (n + 1) - 1; // -1, beyond either end, is the text as typed
    options.forEach((option, index) => option.setAttribute("aria-selected", String(index === chosen)));
    box.value = chosen < 0 ? typed : options[chosen].dataset.text;
    if (chosen < 0) return box.removeAttribute("aria-activedescendant");
    box.setAttribute("aria-activedescendant", options[chosen].id);
    options[chosen].scrollIntoView({ block: "nearest" });
  }

  box.addEventListener("input", () => {
    typed = box.value;
    clearTimeout(timer);
    if (typed.trim()) timer = setTimeout(request, TYPING_PAUSE_MILLISECONDS);
    else close();
  });
  box.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && list.hidden && step > 0 && box.value.trim()) {
      event.preventDefault();
      typed = box.value;
      request();
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
