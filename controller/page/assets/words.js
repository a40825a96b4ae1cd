// How counts, amounts, times and money are written.

export const NO_JOBS = "No Job waits or runs. A Job is queued when it has the label sluice.dev/queue-name and spec.suspend: true.";

// "4 pods, 16 cpu, 64Gi memory"
export function asks({ pods, requests = {} }) {
  return [pods > 1 && `${pods} pods`, ...Object.entries(requests).map(([name, n]) => `${n} ${name}`)].filter(Boolean).join(", ");
}

export function count(n, one, many = `${one}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

// "3h20m": what span_short() of base/span.h writes.
export function span(seconds) {
  const s = Math.max(0, Math.floor(seconds)), told = s < 600 ? 1 : s < 86400 ? 60 : s < 864000 ? 3600 : 86400;
  let left = s - s % told, text = "";
  for (const [unit, name] of [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]]) {
    if (left >= unit) text += Math.floor(left / unit) + name;
    left %= unit;
  }
  return text || "0s";
}

const OF_MOMENT = { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };
const clock = new Intl.DateTimeFormat("en-GB", OF_MOMENT), far = new Intl.DateTimeFormat("en-GB", { ...OF_MOMENT, year: "numeric" });
const days = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short" });

// A moment as the reader's clock shows it, "Sat 28 Nov 21:00"; with its year where that is another.
export function moment(at) {
  const then = new Date(at);
  return (then.getFullYear() === new Date().getFullYear() ? clock : far).format(then).replaceAll(",", "");
}

// What is quoted; an instant of RFC 3339; a Calendar's time, in UTC or so many hours from it (zone_text() of zone.h).
const TIMES = /"[^"]*"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)|[SMTWF][a-z]{2} (\d{4}-\d\d-\d\d) (\d\d:\d\d(?::\d\d)?) (?:UTC|GMT|([+-]\d\d)(\d\d)?)(?![\w/])/g;

// A sentence of the server, whose times stand beside others by the reader's clock. A Calendar's time with letters for
// its zone (CET) stays: a browser does not know them. So does what is quoted: somebody's words, or what to write.
export function onOwnClock(sentence) {
  return sentence.replace(TIMES, (text, date, time, hours = "+00", minutes = "00") => {
    if (text.startsWith('"')) return text;
    const at = new Date(date ? `${date}T${time}${hours}:${minutes}` : text);
    return isNaN(at) ? text : moment(at);
  });
}

export function day(at) {
  return days.format(new Date(at)).replace(",", "");
}

// A day by the clocks of a zone: a month begins at its midnight. Of a zone that the browser does not know, by the reader's.
export function dayIn(zone, at) {
  try {
    return new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", timeZone: zone }).format(new Date(at)).replace(",", "");
  } catch {
    return day(at);
  }
}

export function ledgerDown(since) {
  return `Postgres ${since ? `has not answered since ${moment(since)}` : "does not answer"}: running Jobs continue, but no Job starts until it is back.`;
}

// A moment as an element; its title is the moment as the server wrote it.
export function time(text, words = text && moment(text)) {
  if (!text) return "";
  const element = document.createElement("time");
  element.dateTime = element.title = text;
  element.textContent = words;
  return element;
}

// "after 5m"; nothing where that is not known.
export function spanIfKnown(seconds, before = "") {
  return seconds === undefined || seconds === null ? "" : `${before}${span(seconds)}`;
}

export function since(text) {
  return span((Date.now() - new Date(text)) / 1000);
}

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];

function bytes(n) {
  let unit = 0;
  for (; n >= 1024 && unit < BINARY.length - 1; unit++) n /= 1024;
  return `${+n.toFixed(n < 10 ? 1 : 0)}${BINARY[unit]}`;
}

// Of the server's units: thousandths of a CPU, bytes, whole devices.
export function amount(resource, units) {
  if (resource === "cpu") return String(+(units / 1000).toFixed(units < 10000 ? 1 : 0));
  if (resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-")) return bytes(units);
  return String(+units.toFixed(1));
}

const FACTORS = { m: 1 / 1000, "": 1, ...Object.fromEntries(["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((name, i) => [name, 1024 ** (i + 1)])) };

// The server's units of a quantity as a status has it: "1500m" of cpu, "64Gi" of memory.
export function units(resource, quantity) {
  const [, n, suffix] = quantity.match(/^(-?\d+)([A-Za-z]*)$/);
  return Number(n) * FACTORS[suffix] * (resource === "cpu" ? 1000 : 1);
}

// "0.17" of "0.166414": two digits, as people read money; what is not nothing is not written as 0.00. The digits are
// rounded, for a double of 1.005 is less than that: as money_short() of queue/price/money.c does.
export function cents(text) {
  const [, sign, units, part = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (units === undefined) return text;
  const digits = part.padEnd(3, "0"), n = Number(units + digits.slice(0, 2)) + (digits[2] >= "5" ? 1 : 0);
  if (n === 0 && Number(text) !== 0) return sign ? ">-0.01" : "<0.01";
  return `${n ? sign : ""}${Math.floor(n / 100)}.${String(n % 100).padStart(2, "0")}`;
}

export function money(text, currency) {
  return text === undefined || text === null ? "" : `${cents(text)} ${currency || ""}`.trim();
}

// The sum of decimal numbers, to a millionth, as a text.
export function sum(texts) {
  const millionths = texts.reduce((all, text) => all + Math.round(Number(text) * 1e6), 0);
  return (millionths / 1e6).toFixed(millionths % 10000 ? 6 : 2);
}
