#!/usr/bin/env python3
"""Writes api/crds/KIND.yaml and docs/reference.md, from what is said of each field once.

include/sluice/fields/*.def has a row a field (what a row means: fields/members.h beside them). api/parts/KIND.yaml has
the rest of a CRD by hand: its names and columns, the status, structures that no row can say, and CEL rules that are no
bounds. Both are merged key by key; where both say something, the part wins. The reference is made of the merged schema,
so it has what was written by hand as well.

    api/generate.py           writes what has changed
    api/generate.py --check   writes nothing, and fails where something would change (the test `fields`)
"""
import re
import sys
import textwrap
from pathlib import Path

from rows import STRING, calls, said

ROOT = Path(__file__).resolve().parent.parent
FIELDS = ROOT / "include/sluice/fields"
# Each kind, in the order of the reference, and the rows of its spec. None: no row is of it, and its CRD is written by hand.
KINDS = {"clusterqueue": ["groups", "clusterqueue"], "localqueue": ["localqueue"], "cohort": ["groups", "cohort"],
         "resourceflavor": None, "workloadpriorityclass": None, "calendar": None, "runpolicy": ["runpolicy"], "priceplan": None,
         "budget": ["budget"], "advancereservation": ["advance_reservation"], "nodeovercommit": None}
MARK = "# Made by api/generate.py of include/sluice/fields/ and api/parts/{}.yaml: edit those.\n"

# ---- A schema as text: {key: (what stands behind the colon, members or lines)} ----------------------------------------


def parse(lines):
    """The mapping that these lines are; lists and folded texts stay lines."""
    tree, i = {}, 0
    while i < len(lines):
        key, rest = re.match(r"""("[^"]*"|'[^']*'|[^\s:]+):(?: (.*))?$""", lines[i]).groups()
        i, first = i + 1, i + 1
        while i < len(lines) and (lines[i][:1] in ("", " ") or lines[i].startswith("- ")):
            i += 1
        body = lines[first:i]
        if body and not rest and not body[0].startswith("- ") and not body[0].lstrip().startswith("- "):
            tree[key] = ("", parse([line[2:] for line in body]))
        else:
            tree[key] = (rest or "", body)
    return tree


def emit(tree, indent=0):
    out = []
    for key, (rest, body) in tree.items():
        out.append(" " * indent + key + ":" + (" " + rest if rest else ""))
        out += emit(body, indent + 2) if isinstance(body, dict) else [" " * indent + line for line in body]
    return out


def merge(ours, part):
    """What stands in both is the part's, but for members of objects that both have."""
    tree = dict(ours)
    for key, (rest, body) in part.items():
        both = isinstance(body, dict) and isinstance(tree.get(key, ("", None))[1], dict)
        tree[key] = (rest, merge(tree[key][1], body) if both else body)
    return tree


# ---- Rows --------------------------------------------------------------------------------------------------------------

def constants():
    found = {}
    for header in ROOT.glob("include/sluice/**/*.h"):
        for name, value in re.findall(r"^#define ([A-Z][A-Z0-9_]*)[ \t]+([^\s/].*?)[ \t]*(?:/\*.*)?$", header.read_text(), re.M):
            found[name] = value
    return found


CONSTANTS = constants()


def number(expression):
    while names := re.findall(r"\b[A-Z][A-Z0-9_]{2,}\b(?!\()", re.sub(r"INT\d+_C", "", expression)):
        for name in names:
            value = {"INT32_MIN": "-2147483648", "INT32_MAX": "2147483647"}.get(name) or CONSTANTS[name]
            expression = re.sub(rf"\b{name}\b", f"({value})", expression)
    return eval(re.sub(r"INT\d+_C", "", expression))


def absent(argument):
    """(is it needed, what the API server writes where it is absent, or None)."""
    written = re.match(r"WRITTEN\((.*)\)$", argument)
    return argument == "NEEDED", number(written.group(1)) if written else None


def span(ms, days=False):
    for unit, size in (("h", 3600000), ("m", 60000), ("s", 1000)):
        if ms % size == 0 and ms > 0:
            more = f" ({ms // 86400000} days)" if days and unit == "h" and ms % 86400000 == 0 and ms > 86400000 else ""
            return f"{ms // size}{unit}{more}"
    return "0s"


# ---- What becomes of a row ---------------------------------------------------------------------------------------------


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def rule(cel, message):
    return ("", [f"- rule: {quoted(cel)}", f"  message: {quoted(message)}"])


def folded(text):
    return (">-", ["  " + line for line in textwrap.wrap(text, 150, break_long_words=False, break_on_hyphens=False)])


def name(m, wire, kind, needed, text):
    return said(wire), said(needed) is not None, text, {
        "type": ("string", []), "minLength": ("1", []), "maxLength": ("253", []),
        "x-kubernetes-validations": rule(
            "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",
            f"must be the name of a {said(kind)}: lower-case letters, digits, '-' and '.', starting and ending with a letter or digit")}


def string(m, wire, low, high, needed, text):
    schema = {"type": ("string", []), "minLength": (str(number(low)), []), "maxLength": (str(number(high)), [])}
    return said(wire), said(needed) is not None, text, schema


def globs(m, n, wire, namespaced, text):
    one, what = "[-a-z0-9.*?]+", "the name of a ClusterQueue, or a pattern of such names with * and ?, such as batch or sim-*"
    if namespaced == "true":
        one, what = one + "/" + one, "namespace/name of a LocalQueue, or a pattern of such with * and ?, such as team-a/batch or team-a/*"
    items = {"type": ("string", []), "minLength": ("1", []), "maxLength": ("317" if namespaced == "true" else "253", []),
             "x-kubernetes-validations": rule(f"self.matches('^{one}$')", f"must be {what}")}
    return said(wire), False, text, {"type": ("array", []), "maxItems": (str(number("POLICY_LIST_MAX")), []), "x-kubernetes-list-type": ("set", []), "items": ("", items)}


def flag(m, wire, text):
    return said(wire), False, text, {"type": ("boolean", [])}


def a_number(m, wire, low, high, default, why, text):
    needed, written = absent(default)
    schema = {"type": ("integer", []), "format": ("int32", [])}
    for key, bound, none in (("minimum", number(low), -2**31), ("maximum", number(high), 2**31 - 1)):
        schema |= {key: (str(bound), [])} if bound != none else {}
    return said(wire), needed, text, schema | ({"default": (str(written), [])} if written is not None else {})


def maybe_number(has, m, wire, low, high, why, text):
    return a_number(m, wire, low, high, "UNWRITTEN(0)", why, text)


def a_span(m, wire, low, high, default, why, text):
    low, high, key = number(low), number(high), said(wire).split(".")[-1]
    needed, written = absent(default)
    bounds = f"duration(self) >= duration('{span(low)}') && " if low > 0 else ""
    cel = f"self != '' && self.matches('^([0-9]{{1,4}}h)?([0-9]{{1,6}}m)?([0-9]{{1,8}}s)?$') && {bounds}duration(self) <= duration('{span(high)}')"
    what = f"from {span(low)} to {span(high, True)}" if low > 0 else f"of at most {span(high, True)}"
    such = "30m, 1h30m or 36h" if high >= 36 * 3600000 else "30s, 5m or 1h30m"
    schema = {"type": ("string", []), "maxLength": ("32", []), "x-kubernetes-validations": rule(
        cel, f"{key} must be a duration {what} with its units: hours, minutes, seconds, such as {such}")}
    return said(wire), needed, text, schema | ({"default": (span(written), [])} if written is not None else {})


def choice(m, tag, wire, default, names, text):
    needed, written = absent(default)
    names = [said(one) for one in re.findall(STRING, names)]
    schema = {"type": ("string", []), "enum": ("[" + ", ".join(names) + "]", [])}
    return said(wire), needed, text, schema | ({"default": (names[written], [])} if written is not None else {})


def either(m, wire, default, names, text):
    return choice(m, None, wire, default, names, text)


def quantity(m, wire, of, default, text):
    amount = f"{said(wire)} must be an amount from 0 to 9E, written as Kubernetes writes quantities: 40, 500m, 1.5, 256Gi"
    return said(wire), absent(default)[0], text, {
        "x-kubernetes-int-or-string": ("true", []), "maxLength": ("20", []), "x-kubernetes-validations": rule(
            "type(self) == int ? self >= 0 : !self.matches('[eE].?[0-9]{3}') && isQuantity(self) && sign(quantity(self)) >= 0 && "
            "!quantity(self).isGreaterThan(quantity('9E'))", amount)}


def maybe_quantity(has, m, wire, of, text):
    return quantity(m, wire, of, "UNWRITTEN(0)", text)


def texts(m, n, wire, most, must_be, text):
    schema = {"type": ("array", []), "maxItems": (most, []), "items": ("", {"type": ("string", []), "minLength": ("1", [])})}
    return said(wire), False, text, schema


def objects(m, n, tag, wire, most, text):
    return said(wire), False, text, {"type": ("array", []), "maxItems": (str(number(most)), []), "items": ("", schema_of([tag.removesuffix("_spec")]))}


ROWS = {"NAME": name, "STRING": string, "GLOBS": globs, "FLAG": flag, "NUMBER": a_number, "MAYBE_NUMBER": maybe_number,
        "SPAN": a_span, "QUANTITY": quantity, "MAYBE_QUANTITY": maybe_quantity, "CHOICE": choice, "EITHER": either,
        "TEXTS_OF": texts, "OBJECTS": objects}
BY_HAND = {"OWN", "ENUM_OF", "SELECTOR", "WEIGHT", "METADATA"}


def put(schema, path, needed, field):
    """Hangs the field into an object, and makes the objects on the way."""
    key, _, rest = path.partition(".")
    properties = schema.setdefault("properties", ("", {}))[1]
    if rest:
        put(properties.setdefault(key, ("", {"type": ("object", [])}))[1], rest, needed, field)
        return
    properties[key] = ("", field)
    if needed:
        old = schema.get("required", ("[]", []))[0][1:-1]
        schema["required"] = (f"[{old}{', ' if old else ''}{key}]", [])


def rows_of(files):
    for file in files:
        for kind, args in calls((FIELDS / f"{file}.def").read_text()):
            if kind == "SAME_OBJECT":
                yield from rows_of([args[1].removesuffix("_spec")])
            else:
                yield kind, args


def schema_of(files):
    """The object whose fields are the rows of those files."""
    schema = {"type": ("object", [])}
    for kind, args in rows_of(files):
        if kind == "OBJECT":
            put(schema, said(args[2]), False, schema_of([args[1].removesuffix("_spec")]))
        elif kind not in BY_HAND:
            path, needed, text, field = ROWS[kind](*args)
            put(schema, path, needed, {"description": folded(said(text))} | field)
    return schema


def crd_of(kind):
    """(the text of the CRD, its schema)."""
    rows = KINDS[kind]
    head, _, rest = (ROOT / "api" / ("parts" if rows else "crds") / f"{kind}.yaml").read_text().partition("openAPIV3Schema:\n")
    part = parse([line[8:] for line in rest.splitlines()])
    if not rows:
        return head + "openAPIV3Schema:\n" + rest, part
    schema = in_order(merge({"properties": ("", {"spec": ("", schema_of(rows))})}, part))
    return MARK.format(kind) + head + "openAPIV3Schema:\n" + "\n".join(emit(schema, 8)) + "\n", schema


FIRST = ["description", "type", "required"]


def in_order(node):
    """What says most of a field first, and what it holds last."""
    def place(key):
        return FIRST.index(key) if key in FIRST else 9 if key in ("properties", "items", "additionalProperties") else 5
    if not isinstance(node, dict):
        return node
    keys = sorted(node, key=place)
    return {key: (node[key][0], {k: (r, in_order(b)) for k, (r, b) in node[key][1].items()} if key == "properties" and
                  isinstance(node[key][1], dict) else in_order(node[key][1])) for key in keys}


# ---- The reference -----------------------------------------------------------------------------------------------------


def plain(value):
    rest, body = value
    text = " ".join(line.strip() for line in body) if rest == ">-" else rest
    return text[1:-1].replace('\\"', '"') if text[:1] in ('"', "'") else text


def worth(schema):
    """Type, bounds and default in a few words."""
    get = {key: plain(value) for key, value in schema.items() if not isinstance(value[1], dict)}
    words = get.get("enum", "").strip("[]") or ("quantity" if "x-kubernetes-int-or-string" in schema else get.get("type", "object"))
    words = get.get("format", words) if get.get("format") == "date-time" else words
    low, high = get.get("minimum"), get.get("maximum")
    words += f", {low} to {high}" if low and high else f", {low} or more" if low else f", at most {high}" if high else ""
    if bounds := re.search(r"must be a duration (from .*?|of .*?) with its units", " ".join(schema.get("x-kubernetes-validations", ("", []))[1])):
        words = "duration " + bounds.group(1)
    words += f", at most {get['maxItems']}" if "maxItems" in get else ""
    return words + (f". Default: {get['default']}" if get.get("default", "{}") != "{}" else "")


def lines_of(schema, path, out):
    """A line of the table for each field below."""
    required = plain(schema.get("required", ("", [])))[1:-1].split(", ")
    for key, (_, body) in schema.get("properties", ("", {}))[1].items():
        at = f"{path}.{key}" if path else key
        text = plain(body.get("description", ("", []))).replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")
        out.append(f"| `{at}` | {worth(body)}{'. Required' if key in required else ''} | {text} |")
        lines_of(body, at, out)
        if "items" in body:
            lines_of(body["items"][1], at + "[]", out)


def reference(schemas):
    out = ["<!-- Made by api/generate.py: edit include/sluice/fields/ and api/parts/. -->", "# Reference: every field of every kind", "",
           "All kinds are of the API group `sluice.dev`, version `v1alpha1`. An example of each stands in `api/crds/`. What is wrong",
           "with an object is refused by the API server, in a sentence. `kubectl explain KIND.spec` says the same as this page."]
    for head, schema in schemas:
        out += ["", f"## {re.search(r'^    kind: (.*)$', head, re.M).group(1)}", "", plain(schema["description"]), "", "| field | value | meaning |", "|---|---|---|"]
        for key, (rest, body) in schema["properties"][1].items():
            if key not in ("apiVersion", "kind", "metadata"):
                lines_of({"properties": ("", {key: (rest, body)}), "required": schema.get("required", ("", []))}, "", out)
    return "\n".join(out) + "\n"


def main():
    made, schemas = {}, []
    for kind in KINDS:
        text, schema = crd_of(kind)
        made[ROOT / f"api/crds/{kind}.yaml"] = text
        schemas.append((text, schema))
    made[ROOT / "docs/reference.md"] = reference(schemas)
    stale = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not what its rows say; run api/generate.py")
        return bool(stale)
    for path in stale:
        path.write_text(made[path])
        print(path.relative_to(ROOT))
    return False


if __name__ == "__main__":
    sys.exit(main())
