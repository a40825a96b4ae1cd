// What the page asks, and with which rights: those of the token that was pasted. It is kept in this tab alone.

const ROOT = "/apis/visibility.sluice.dev/v1alpha1";

export const who = {
  get token() { return sessionStorage.getItem("token") || ""; },
  get namespace() { return sessionStorage.getItem("namespace") || ""; },
  signIn(token, namespace) {
    sessionStorage.setItem("token", token);
    sessionStorage.setItem("namespace", namespace);
  },
  signOut() { sessionStorage.clear(); },
};

// What went wrong, in the server's own sentence.
export class Refusal extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

function headers() {
  return who.token ? { Authorization: `Bearer ${who.token}` } : {};
}

async function refusal(answer) {
  let said = {};
  try {
    said = await answer.json();
  } catch { /* not ours: a proxy's */ }
  return new Refusal(answer.status, said.message || said.error || `the server answered ${answer.status}`);
}

export async function get(path, signal) {
  const answer = await fetch(path, { headers: headers(), signal, cache: "no-store" });
  if (!answer.ok) throw await refusal(answer);
  return answer.json();
}

function query(words) {
  const given = Object.entries(words).filter(([, value]) => value !== undefined && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

function scoped(resource, namespace) {
  return namespace ? `${ROOT}/namespaces/${encodeURIComponent(namespace)}/${resource}` : `${ROOT}/${resource}`;
}

export const queues = (signal) => get("/api/v1/queues", signal);
export const nodes = (signal) => get("/api/v1/overcommit", signal);
export const job = (namespace, name, signal) => get(`${scoped("queuedjobs", namespace)}/${encodeURIComponent(name)}`, signal);
export const past = (resource, words, signal, namespace = who.namespace) => get(scoped(resource, namespace) + query(words), signal);

// A page of the line: {items, next}; next is "" where there is no more.
export async function jobs(words, token, signal) {
  const list = await get(scoped("queuedjobs", who.namespace) + query({ ...words, limit: 500, continue: token }), signal);
  return { items: list.items, next: list.metadata.continue || "", version: list.metadata.resourceVersion };
}

// Calls back with each change until the signal ends it; begins anew where the server has ended it.
export async function follow(words, version, signal, onChange) {
  while (!signal.aborted) {
    const path = scoped("queuedjobs", who.namespace) + query({ ...words, watch: "1", resourceVersion: version });
    const answer = await fetch(path, { headers: headers(), signal, cache: "no-store" });
    if (!answer.ok) throw await refusal(answer);
    for await (const line of lines(answer.body)) {
      const event = JSON.parse(line);
      if (event.type === "ERROR") throw new Refusal(event.object.code, event.object.message);
      version = event.object.metadata.resourceVersion;
      onChange(event);
    }
  }
}

async function* lines(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    yield* parts.filter(Boolean);
  }
}
