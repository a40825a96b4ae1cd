"""Links in pages, and citations of pages, lead to something.

    links.py ROOT    fails on a link or a citation that does not hold

A link is relative, in a Markdown file: its file or folder must be in the repository, and its #anchor a heading there (or
an id, <a id="...">). A citation is the path of a page below docs/, with or without #anchor, in any file: code, help texts, YAML, scripts.
Links to other hosts are not looked at."""

import os
import re
import sys
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

NOT_OURS = {".git", "build", "corpus", "__pycache__", ".pytest_cache"}
NO_TEXT = {".png", ".gz", ".jsonl", ".ico", ".sum"}
# Its link, `[words](target "title")`, or its definition, `[words]: target`; or HTML.
LINK = re.compile(r"""\]\(\s*<?([^)\s>]*)>?(?:\s+"[^"]*")?\s*\)|^ {0,3}\[[^\]]+\]:\s+(\S+)|\b(?:href|src)="([^"]*)\"""", re.M)
CITATION = re.compile(r"(?<![\w.-])docs/(?:[\w-]+/)*[\w.-]+\.md(?:#[\w-]*)?")
BLOCK = re.compile(r"^ *(```+|~~~+).*?(?:^ *\1[`~]* *$|\Z)", re.M | re.S)
SPAN = re.compile(r"(?<!`)(`+)(?!`)((?!\n[ ]*\n).)+?(?<!`)\1(?!`)", re.S)


def files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - NOT_OURS)
        for name in sorted(names):
            if Path(name).suffix not in NO_TEXT:
                yield Path(folder, name)


def blank(code):
    """Keeps the lines where they are."""
    return re.sub(r"[^\n]", " ", code[0])


def slug(heading):
    """The anchor of a heading, as GitHub makes it."""
    words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().rstrip("#").strip())
    words = re.sub(r"<[^>]*>", "", words)
    return re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")


@lru_cache(None)
def anchors(page):
    text, seen = BLOCK.sub(blank, page.read_text()), {}
    found = set(re.findall(r'\bid="([^"]+)"', text))
    for heading in re.findall(r"^#{1,6}[ \t]+(.+)$", text, re.M):
        name = slug(heading)
        found.add(f"{name}-{seen[name]}" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return found


def fault(root, target, anchor):
    """What is wrong with a link to that file; None: nothing is."""
    inside = os.path.relpath(target, root)
    if inside.startswith(("..", "build/")) or not target.exists():
        return f"there is no {inside}"
    if anchor and target.suffix == ".md" and anchor not in anchors(target):
        return f"{inside} has no heading #{anchor}"
    if anchor and target.suffix != ".md" and not re.fullmatch(r"L\d+(-L\d+)?", anchor):
        return f"{inside} has no headings"
    return None


def links(text):
    """(place in the text, target) of each relative link; what looks like one in code is none."""
    for link in LINK.finditer(SPAN.sub(blank, BLOCK.sub(blank, text))):
        target = next(group for group in link.groups() if group is not None)
        if not re.match(r"[a-z][a-z+.-]*:|//", target):
            yield link.start(), target


def faults(root):
    for file in files(root):
        try:
            text = file.read_text()
        except UnicodeDecodeError:
            continue
        found = [(at, target, root / target.partition("#")[0]) for at, target in ((c.start(), c[0]) for c in CITATION.finditer(text))]
        if file.suffix == ".md":
            found = [f for f in found if text[:f[0]][-1:] not in ("(", "/")]  # those are links, or parts of one
            found += [(at, target, file.parent / unquote(target.partition("#")[0]) if target[:1] != "#" else file)
                      for at, target in links(text)]
        for at, target, path in sorted(found):
            why = fault(root, Path(os.path.normpath(path)), unquote(target.partition("#")[2]))
            if why:
                yield f"{file.relative_to(root)}:{text.count(chr(10), 0, at) + 1}: {target}: {why}"


def main(root):
    found = list(faults(Path(root).resolve()))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
