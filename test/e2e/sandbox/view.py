"""A terminal view that redraws itself in place, and tables for after it.

A line is a list of pieces, each a str or a (style, str); so it can be cut to
the terminal's width by what is seen, and drawn without colour when there is
none to be had (not a terminal, NO_COLOR) or in ASCII when UTF-8 is not."""

import os
import shutil
import sys

STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34",
          "magenta": "35", "cyan": "36", "title": "1;36"}
EIGHTHS = " ▏▎▍▌▋▊▉█"


class Screen:
    """`live` draws frames on the alternate screen; leave() brings back the old one."""

    def __init__(self, out=sys.stdout):
        self.out = out
        self.live = out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.colour = self.live and not os.environ.get("NO_COLOR")
        self.unicode = (out.encoding or "").lower().replace("-", "") == "utf8"
        self._entered = False

    @property
    def size(self):
        size = shutil.get_terminal_size((100, 40))
        return size.columns, size.lines

    def pick(self, unicode, ascii):
        return unicode if self.unicode else ascii

    def bar(self, share, width, style="cyan"):
        """Pieces of a bar `width` wide, filled to `share` of it, in eighths."""
        share = min(1.0, max(0.0, share))
        if not self.unicode:
            full = round(share * width)
            return [(style, "#" * full), ("dim", "." * (width - full))]
        eighths = round(share * width * 8)
        full, part = divmod(eighths, 8)
        head = "█" * full + (EIGHTHS[part] if part else "")
        return [(style, head), ("dim", "·" * (width - len(head)))]

    def text(self, line, width=None):
        """A line as a string, cut to `width` columns."""
        done, room = [], width if width is not None else 1 << 30
        for piece in [line] if isinstance(line, str) else line:
            style, text = ("", piece) if isinstance(piece, str) else piece
            if len(text) > room:
                text = text[:max(0, room - 1)] + self.pick("…", "~")[:room]
            room -= len(text)
            done.append(f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colour and style in STYLES and text else text)
        return "".join(done)

    def draw(self, lines):
        """One frame, in one write: no flicker, and no torn frame on a slow line."""
        width, height = self.size
        if not self._entered:
            self.out.write("\x1b[?1049h\x1b[?25l\x1b[2J")
            self._entered = True
        body = "\x1b[K\r\n".join(self.text(line, width) for line in lines[:height - 1])
        self.out.write(f"\x1b[?2026h\x1b[H{body}\x1b[K\x1b[J\x1b[?2026l")
        self.out.flush()

    def leave(self):
        if self._entered:
            self.out.write("\x1b[?25h\x1b[?1049l")
            self.out.flush()
            self._entered = False

    def print(self, *line):
        self.out.write(self.text(list(line)) + "\n")
        self.out.flush()

    def table(self, head, rows, indent=2):
        """Columns as wide as they must be; the first is left aligned, numbers right.
        A cell is a str or a (style, str)."""
        plain = [[c if isinstance(c, str) else c[1] for c in row] for row in [head, *rows]]
        widths = [max(len(row[i]) for row in plain) for i in range(len(head))]
        for n, row in enumerate([head, *rows]):
            line = [" " * indent]
            for i, cell in enumerate(row):
                style, text = ("dim" if n == 0 else "", cell) if isinstance(cell, str) else cell
                numeric = all(r[i][:1].isdigit() or r[i] in ("-", "") for r in plain[1:])
                line += [(style, text.rjust(widths[i]) if numeric and i else text.ljust(widths[i])), "   "]
            self.print(*line[:-1])


def amount(resource, units):
    """Units of the ledger for a person: cpu in cores, memory in Gi."""
    if resource == "cpu":
        return f"{units / 1000:g}"
    if resource == "memory":
        return f"{units / 2**30:.4g} Gi"
    return str(units)
