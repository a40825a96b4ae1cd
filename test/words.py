"""The comments of the C code beside what the house does not write: openings that only a reader of the line before can
follow ("It", "The same", "Of one that"), Jobs that are called "who", and sentences of over 40 words.

    words.py ROOT            fails on what words.txt does not list, and on a count there that is too high
    words.py ROOT --write    writes words.txt, which may only shrink
    words.py ROOT PATH ...   shows each of these places, with its line

words.txt has what is left from before: a file, a rule, a count."""

import collections
import re
import sys
from pathlib import Path

PRODUCT = "base cli controller forecast include overcommit queue record".split()
LIST = "test/words.txt"
LONGEST = 35

OPENINGS = re.compile(
    r"(It|Its|They|Their|Them|Those|These|This one|That|Theirs|He|She|One that|Ones that|The same|Same|Ditto|Of (one|those|these|that|it|them|which|whom|the same)"
    r"|(What|Whatever) (it|they|he|those|these)|Whoever|Who|Whose|Whom|Somebody|Nobody|Not (it|they|those|these)|In it|For (it|them|those|these)|To (it|them)"
    r"|By (it|them)|With (it|them)|From (it|them)|And|But|Or|So|Then|Else|Also|Nor|Neither)\b(?! =)")
PEOPLE = re.compile(r"\b(jobs?|runs?|pods?|workloads?|requests?|one|ones)\b[^.;:,()]{0,20}\b(who|whom)\b|\bwhosever\b", re.I)

BLOCK = re.compile(r"/\*(.*?)\*/|//([^\n]*)", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')


def comments(text):
    """(line, words) of each comment; strings are blanked first, since // stands in addresses."""
    bare = STRING.sub(lambda m: m[0][0] + "x" * (len(m[0]) - 2) + m[0][0], text)
    pieces = [(m.start(), m) for m in BLOCK.finditer(bare)]
    for at, m in pieces:
        inner = text[m.start(1):m.end(1)] if m[1] is not None else text[m.start(2):m.end(2)]
        words = " ".join(line.strip().lstrip("*").strip() for line in inner.splitlines())
        if not words.lstrip().startswith("--"):  # a heading
            yield text.count("\n", 0, at) + 1, words


def faults(words):
    if OPENINGS.match(words):
        yield "opening", words[:90]
    for sentence in re.split(r"(?<=[.:;!?])\s+", words):
        if len(sentence.split()) > LONGEST:
            yield "long", sentence[:90]
    for m in PEOPLE.finditer(words):
        yield "who", words[max(0, m.start() - 30):m.start() + 60]


def files(root):
    for folder in PRODUCT:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".def"):
                yield path


def found(root):
    for path in files(root):
        for line, words in comments(path.read_text()):
            for rule, shown in faults(words):
                yield str(path.relative_to(root)), rule, line, shown


def main():
    root, rest = Path(sys.argv[1]), sys.argv[2:]
    places = list(found(root))
    counts = collections.Counter((path, rule) for path, rule, _, _ in places)
    if rest == ["--write"]:
        (root / LIST).write_text("".join(f"{path} {rule} {n}\n" for (path, rule), n in sorted(counts.items())))
        return 0
    if rest:
        for path, rule, line, shown in places:
            if any(path.startswith(p) for p in rest):
                print(f"{path}:{line}: {rule}: {shown}")
        return 0
    listed = {}
    for row in (root / LIST).read_text().splitlines():
        path, rule, n = row.split()
        listed[path, rule] = int(n)
    bad = False
    for key in sorted(counts.keys() | listed.keys()):
        n, may = counts[key], listed.get(key, 0)
        if n == may:
            continue
        bad = True
        path, rule = key
        if n < may:
            print(f"{path}: {n} of rule {rule}, {LIST} says {may}: write {n} there (words.py . --write)")
        for p, r, line, shown in places if n > may else ():
            if (p, r) == key:
                print(f"{path}:{line}: {rule}: {shown}")
    if bad:
        print("Say it so that it can be read alone: CONTRIBUTING.md, Comments.")
    return bad


sys.exit(main())
