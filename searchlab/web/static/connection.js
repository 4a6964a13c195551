// Requests to the server, each with a time limit: a server that hangs, or a network that drops packets, is a lost
// connection, too, and must not leave the page waiting without a word.

const ANSWER_SECONDS = 8; // data-answer-seconds of the body replaces it
// What is sent may take longer: the server accepts no slower sender (`middleware/request_body.py`).
const MIN_BYTES_PER_SECOND = 100_000;

export class ConnectionLost extends Error {
  constructor() {
    super("the connection is lost");
  }
}

const sizeOf = (body) => body?.size ?? body?.length ?? 0;

// The whole answer: `ok`, `status`, `url` and `text`. `seconds` is how long the server may work on it.
export async function request(path, options = {}, seconds = Number(document.body.dataset.answerSeconds ?? ANSWER_SECONDS)) {
  const limit = 1000 * (seconds + sizeOf(options.body) / MIN_BYTES_PER_SECOND);
  try {
    const answer = await fetch(path, { ...options, signal: AbortSignal.timeout(limit) });
    return { ok: answer.ok, status: answer.status, url: answer.url, text: await answer.text() };
  } catch {
    throw new ConnectionLost(); // fetch fails in no other way
  }
}

// A page of this server, as a document.
export async function requestPage(path) {
  const answer = await request(path);
  return { ...answer, page: new DOMParser().parseFromString(answer.text, "text/html") };
}
