// Judgments on their way to the server: sent in the order in which they were made, and shown until they are saved.
//
// A lost connection or a busy server loses nothing: what could not be sent is sent again, and the page says so.

import { ConnectionLost } from "./connection.js";

const RETRY_MILLISECONDS = [500, 1000, 2000, 4000];
const BUSY = 503;
const waiting = []; // functions that send, each with the functions that settle its promise
let isSending = false;
let trouble = ""; // why what is sent has to be sent again

const count = () => `${waiting.length} judgment${waiting.length === 1 ? "" : "s"}`;

// How many judgments are not saved yet, and why; nothing if all are.
function show() {
  const status = document.getElementById("saving");
  const words = trouble ? `${trouble}, trying again: ${count()} not saved yet` : `Saving ${count()} …`;
  status.textContent = waiting.length ? words : "";
  status.classList.toggle("lost", waiting.length > 0 && trouble !== "");
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function sendOne({ send, isRepeatable, resolve, reject }) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const sent = await send();
      trouble = "";
      return resolve(sent);
    } catch (error) {
      const isLost = error instanceof ConnectionLost;
      if (isLost ? !isRepeatable : error.status !== BUSY) {
        trouble = "";
        return reject(isLost ? new Error("the connection was lost; look whether it was done, and try again") : error);
      }
      trouble = isLost ? "Connection lost" : "The server is busy";
      show();
      await pause(RETRY_MILLISECONDS[Math.min(attempt, RETRY_MILLISECONDS.length - 1)]);
    }
  }
}

async function sendAll() {
  if (isSending) return;
  isSending = true;
  while (waiting.length) {
    show();
    await sendOne(waiting[0]);
    waiting.shift();
  }
  isSending = false;
  show();
}

// Send something after all that was added before it; the promise has what `send` returns. What must not be done twice,
// as an undo, is not sent again when the connection is lost: the server may have done it already.
export function save(send, isRepeatable = true) {
  const saved = new Promise((resolve, reject) => waiting.push({ send, isRepeatable, resolve, reject }));
  show();
  sendAll();
  return saved;
}

export const isSaving = () => waiting.length > 0;

addEventListener("beforeunload", (event) => {
  if (isSaving()) event.preventDefault();
});
