// Tables whose order is in the address: ?sort=KEY, and &turn=1 for the other way round.
//
// A column: { key, head, isText, value(row), title }. Texts are sorted from A on, numbers from the largest on; isRising:
// from the least on. What is not known (undefined) comes last either way.

import { h } from "./dom.js";
import { placeOf } from "./narrow.js";

function sortColumn(columns, params) {
  return columns.find(({ key }) => key === params.get("sort")) || columns[0];
}

function compare(a, b, { isText, isRising }) {
  if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
  return isText ? a.localeCompare(b) : isRising ? a - b : b - a;
}

// ties: the order of rows that are alike, as compare functions have it.
export function sorted(rows, columns, params, ties) {
  const column = sortColumn(columns, params), sign = params.get("turn") ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)], isKnown = x !== undefined && y !== undefined;
    return (isKnown ? sign : 1) * compare(x, y, column) || ties(a, b);
  });
}

// A head is a button that sorts by it, and turns the order where it is sorted by it already.
export function sortHead(place, column, columns, params) {
  const isSorted = column === sortColumn(columns, params), isTurned = Boolean(params.get("turn"));
  const isUp = Boolean(column.isText || column.isRising) !== isTurned;
  const sort = () => { location.hash = placeOf(place, { ...Object.fromEntries(params), sort: column.key, turn: isSorted && !isTurned ? "1" : "" }); };
  return h("th", { scope: "col", class: column.class, "aria-sort": isSorted && (isUp ? "ascending" : "descending") },
    h("button", { type: "button", class: "plain", onclick: sort }, column.head, isSorted ? (isUp ? " ▲" : " ▼") : ""));
}
