"""Rows of a .def: NAME(argument, ...), as C has them."""
import re

STRING = r'"(?:[^"\\]|\\.)*"'


def calls(text):
    """(NAME, [arguments]) of each row in a .def."""
    text = re.sub(rf"({STRING})|/\*.*?\*/", lambda match: match.group(1) or "", text, flags=re.S)
    for match in re.finditer(r"^([A-Z][A-Z0-9_]*)\(", text, re.M):
        depth, args, now = 1, [], ""
        for token in re.findall(STRING + r"|.", text[match.end():], re.S):
            depth += (token == "(") - (token == ")")
            if depth == 0:
                break
            if token == "," and depth == 1:
                args, now = args + [now.strip()], ""
            else:
                now += token
        yield match.group(1), args + [now.strip()]


def said(argument):
    """The text of a string literal, or of several that stand side by side; None of NULL."""
    return None if argument == "NULL" else "".join(
        part[1:-1].replace('\\"', '"').replace("\\\\", "\\") for part in re.findall(STRING, argument))
