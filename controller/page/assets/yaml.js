// An object as YAML, as `kubectl get -o yaml` writes it.

// What YAML would read as something else than a text.
const ODD = /^$|^[^a-z]|\s$|: |:$| #|^(true|false|null|yes|no|on|off|y|n)$|[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]/i;
const UNSEEN = /[\x7f-\x9f\u2028\u2029\ufeff]/g; // JSON leaves them as they are

function quoted(text) {
  return JSON.stringify(text).replace(UNSEEN, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function scalar(value) {
  return typeof value === "string" && ODD.test(value) ? quoted(value) : String(value);
}

function isEmpty(value) {
  return typeof value !== "object" || value === null || Object.keys(value).length === 0;
}

function plain(value) {
  if (typeof value !== "object" || value === null) return scalar(value);
  return Array.isArray(value) ? "[]" : "{}";
}

function member(key, value, indent) {
  if (isEmpty(value)) return `${indent}${scalar(key)}: ${plain(value)}\n`;
  return `${indent}${scalar(key)}:\n${yaml(value, Array.isArray(value) ? indent : `${indent}  `)}`;
}

function item(value, indent) {
  return isEmpty(value) ? `${indent}- ${plain(value)}\n` : `${indent}- ${yaml(value, `${indent}  `).slice(indent.length + 2)}`;
}

export function yaml(value, indent = "") {
  if (Array.isArray(value)) return value.map((one) => item(one, indent)).join("");
  return Object.entries(value).filter(([, one]) => one !== undefined).map(([key, one]) => member(key, one, indent)).join("");
}
