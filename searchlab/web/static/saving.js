// Judgments on their way to the server: sent in the order in which they were made, and shown until they are saved.
//
// A lost connection or a busy server loses nothing: what could not be sent is sent again, and the page says so.

const RETRY_MILLISECONDS = [500, 1000, 2000, 4000];
const BUSY = 503;
const waiting = []; // functions that send, each with the functions that settle its promise
let isSending = false;

const count = () => `${waiting.length} judgment${waiting.length === 1 ? "" : "s"}`;

function show(words, isLost = false) {
  const status = document.getElementById("saving");
  status.textContent = words;
  status.classList.toggle("lost", isLost);
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function sendOne({ send, resolve, reject }) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return resolve(await send());
    } catch (error) {
      const isLost = error instanceof TypeError; // fetch fails so if there is no connection
      if (!isLost && error.status !== BUSY) return reject(error);
      show(`${isLost ? "Connection lost" : "The server is busy"}, trying again: ${count()} not saved yet`, true);
      await pause(RETRY_MILLISECONDS[Math.min(attempt, RETRY_MILLISECONDS.length - 1)]);
    }
  }
}

async function sendAll() {
  if (isSending) return;
  isSending = true;
  while (waiting.length) {
    show(`Saving ${count()} …`);
    await sendOne(waiting[0]);
    waiting.shift();
  }
  isSending = false;
  show("");
}

// Send something after all that was added before it; the promise has what `send` returns.
export function save(send) {
  const saved = new Promise((resolve, reject) => waiting.push({ send, resolve, reject }));
  sendAll();
  return saved;
}

export const isSaving = () => waiting.length > 0;

addEventListener("beforeunload", (event) => {
  if (isSaving()) event.preventDefault();
});
