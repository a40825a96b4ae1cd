"""The comments of the C code beside what the house does not write: openings that only a reader of the line before can
follow ("It", "The same", "Of one that"), Jobs that are called "who", and sentences of over 35 words.

    words.py ROOT [PATH ...]    shows each, with its line, and fails on any"""

import re
import sys
from pathlib import Path

PRODUCT = "agent base cli controller forecast include node overcommit queue record".split()
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
    root, within = Path(sys.argv[1]), sys.argv[2:] or [""]
    places = [place for place in found(root) if any(place[0].startswith(w) for w in within)]
    for path, rule, line, shown in places:
        print(f"{path}:{line}: {rule}: {shown}")
    if places:
        print("Say it so that it can be read alone: CONTRIBUTING.md, What is held to.")
    return bool(places)


sys.exit(main())
