#!/usr/bin/env python3
"""Writes docs/cli.md, docs/metrics.md and docs/events.md, from what the programs say of themselves.

    cli.md      cli/help/, controller/help/ and agent/help/, the texts of --help
    metrics.md  controller/write/metrics.def, and which alert of deploy/monitoring asks for each
    events.md   include/sluice/{reasons,conditions}.def, controller/gate/reasons.def, controller/write/events.def, and the
                words of controller/gate/trouble.c

    python3 docs/generate.py           writes what has changed
    python3 docs/generate.py --check   writes nothing, and fails where something would change, or where a reason
                                       has no row (the test `pages`)

docs/reference.md is made by api/generate.py.
"""
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "api"))
from rows import STRING, calls, said  # noqa: E402


def read(path):
    return (ROOT / path).read_text()


def rows(path, kind):
    """The arguments of each row of that kind, texts as texts."""
    return [[said(a) if a.startswith('"') else a for a in args] for name, args in calls(read(path)) if name == kind]


# ---- Markdown ----------------------------------------------------------------------------------------------------------

# Shown as code: annotations, flags, fields, commands; and a page becomes a link.
CODE = re.compile(r"(?<![\w`/.-])(sluice\.dev/[a-z-]+(?:: [A-Z]\w+)?|--[a-z][a-z-]*(?:=\w+)?|spec\.[a-zA-Z.]*\w|sluice [a-z]+ job/NAME)(?![\w`])")
PAGE = re.compile(r"docs/([\w-]+\.md)(#[\w-]+)?")


def prose(text):
    text = text.replace("<", "&lt;").replace("*", "\\*")
    return CODE.sub(r"`\1`", PAGE.sub(r"[\1](\1\2)", text))


def cell(text):
    return prose(text).replace("|", "\\|")


def code(text):
    return "`" + text.replace("|", "\\|") + "`" if text else ""


def table(head, lines):
    """Columns that are empty in all lines are left out."""
    kept = [i for i in range(len(head)) if any(line[i] for line in lines)]
    out = ["| " + " | ".join(head[i] for i in kept) + " |", "|" + "---|" * len(kept)]
    return out + ["| " + " | ".join(line[i] for i in kept).rstrip() + " |" for line in lines] + [""]


def paragraph(text):
    return [*textwrap.wrap(prose(text), 100, break_long_words=False, break_on_hyphens=False), ""] if text else []


def page(title, sources, *parts):
    return "\n".join([f"<!-- Made by docs/generate.py: edit {sources}. -->", f"# {title}", "", *parts]).rstrip() + "\n"


# ---- cli.md ------------------------------------------------------------------------------------------------------------

ALIGNED = re.compile(r"(\S.*?)  +(\S.*)$")


def sections(text):
    """[(heading, its lines without their margin)] of a help text."""
    found = []
    for line in text.splitlines():
        if line[:1].isupper():
            found.append((line, []))
        elif found:
            found[-1][1].append(line[4:])
    return found


def blocks(lines):
    """Runs of lines between empty ones."""
    for block in "\n".join(lines).strip("\n").split("\n\n"):
        if block.strip():
            yield block.strip("\n").splitlines()


def joined(lines):
    """One line of several; what was broken behind a hyphen or a slash is whole again."""
    return re.sub(r"(?<=\w[-/])\n(?=\w)", "", "\n".join(line.strip() for line in lines)).replace("\n", " ")


def described(lines):
    """What stands below an option: words that are lined up, and what stands deeper, are lines of their own."""
    depth, parts = min((len(line) - len(line.lstrip()) for line in lines), default=0), []
    for line in (line[depth:] for line in lines):
        pair, deep = ALIGNED.match(line), line.startswith(" ")
        if deep and parts and parts[-1][0] != "pair":
            parts.append(["code", [line]])
        elif pair and not deep:
            parts.append(["pair", [line]])
        elif parts and (deep or parts[-1][0] == "text"):
            parts[-1][1].append(line)
        else:
            parts.append(["text", [line]])

    def shown(kind, part):
        if kind == "pair":
            term, meaning = ALIGNED.match(part[0]).groups()
            return f"{code(term)} {cell(joined([meaning, *part[1:]]))}"
        return code(re.sub("  +", "  ", joined(part))) if kind == "code" else cell(joined(part))
    return "<br>".join(shown(*part) for part in parts)



def options(lines):
    """[flags, what they do] of lines in which each option stands at the margin, and what it does beside or below it."""
    found = []
    for line in lines:
        pair = ALIGNED.match(line)
        if line.startswith(" "):
            found[-1][2].append(line)
        elif found and not found[-1][2] and found[-1][0][0] == "-" and (found[-1][0][-1] == "," or line[0] != "-"):
            found[-1][0] += " " + line  # flags that go on in the next line
        else:
            found.append([pair[1] if pair else line, pair, [pair[2]] if pair else []])
    return [(code(flags), cell(joined(below)) if beside else described(below)) for flags, beside, below in found]


def are_options(block):
    tops = [line for line in block if not line.startswith(" ")]
    return bool(tops) and all(re.match(r"--?[a-zA-Z]", line) and ALIGNED.match(line) for line in tops)


def are_terms(block):
    """Each line at the margin is a term, and beside it, or below each of several, stands what it means."""
    tops = [(line, after) for line, after in zip(block, [*block[1:], ""]) if not line.startswith(" ")]
    beside = all(ALIGNED.match(line) or line.isupper() for line, _ in tops)
    below = len(tops) > 1 and all(after.startswith(" ") and not ALIGNED.match(line) for line, after in tops)
    return not block[0].startswith(" ") and (beside or below)


def body(block):
    """The Markdown of a run of lines."""
    if are_options(block):
        return table(["flag", "what it does"], options(block))
    if are_terms(block):
        return table(["", ""], options(block))
    out, i = [], 0
    while i < len(block):
        deep = block[i][0] in " {"
        j = next((k for k in range(i, len(block)) if (block[k][0] in " {") != deep), len(block))
        out += ["```", *textwrap.dedent("\n".join(block[i:j])).splitlines(), "```", ""] if deep else paragraph(joined(block[i:j]))
        i = j
    return out


def section(heading, lines):
    if heading == "SYNOPSIS":
        return ["```", *lines_of(lines), "```", ""]
    if heading == "EXAMPLES":
        return ["Examples:", "", "```sh", *lines_of(lines), "```", ""]
    title = heading if heading == "HTTP" else heading.capitalize()
    out = [] if heading == "DESCRIPTION" else [f"**{title}**", ""]
    found = list(blocks(lines))
    if heading == "QUEUES" or heading.startswith("OPTIONS"):
        is_flag = [block[0].startswith("-") or block[0] == "N" for block in found]
        first = is_flag.index(True)
        flags = [option for block, is_one in zip(found, is_flag) if is_one for option in options(block)]
        before, after = found[:first], [block for block, is_one in zip(found[first:], is_flag[first:]) if not is_one]
        return out + [line for block in before for line in body(block)] + table(["flag", "what it does"], flags) + \
            [line for block in after for line in body(block)]
    if heading == "EXIT STATUS":
        return out + [line for block in found for line in (
            table(["code", "when"], options(block)) if ALIGNED.match(block[0]) else body(block))]
    for block in found:
        out += body(block)
    return out


def lines_of(lines):
    return "\n".join(lines).strip("\n").splitlines()


def command(text, more=""):
    """The part of the page about one help text."""
    found = sections(text)
    assert found[0][0] == "NAME", text[:80]
    names, _, what = " ".join(line.strip() for line in found[0][1]).strip().partition(" - ")
    first, *others = names.split(", ")
    out = [f"## {first}", ""]
    out += [f'<a id="{other.replace(" ", "-")}"></a>' for other in others] + [""] * bool(others)
    out += paragraph(what[:1].upper() + what[1:] + "." if not others else ", ".join(map(code, [first, *others])) + ": " + what + ".")
    for heading, lines in found[1:]:
        out += section(heading, lines)
    return out + ([more, ""] if more else [])


COMMON = "[What these commands share](#what-these-commands-share) holds too."


def cli():
    help = {path.stem: path.read_text() for path in sorted((ROOT / "cli/help").glob("*.txt"))}
    overview, common = help.pop("overview"), help.pop("common")
    shares = {said(page) if page else said(name) for name, page in re.findall(
        rf"\.name = ({STRING}),(?:\s*\.page = ({STRING}),)?\s*\.common = true", read("cli/command_table.c"))} - {"overview"}
    listed = list(dict.fromkeys(re.findall(r"^    sluice ([a-z]+)", overview, re.M)))
    order = sorted(help, key=lambda name: listed.index(name) if name in listed else len(listed))
    parts = ["What `sluice help COMMAND`, `sluice-controller --help` and `sluice-node --help` say.", ""]
    parts += command(overview)
    for name in order:
        parts += command(help[name], COMMON if name in shares else "")
    parts += ["## What these commands share", ""]
    for heading, lines in sections(common):
        parts += section(heading, lines)
    parts += command(read("controller/help/options.txt") + read("controller/help/queues.txt"))
    parts += command(read("agent/help/options.txt"))
    return page("Commands and flags", "cli/help/, controller/help/ and agent/help/", *parts)


# ---- metrics.md --------------------------------------------------------------------------------------------------------

SUFFIX = {"COUNTER": "_total", "INFO": "_info"}


def metrics():
    alerts = re.findall(r"^ *- alert: (\w+)\n(.*?)(?=^ *- alert:|\Z)", read("deploy/monitoring/alerts.yaml"), re.M | re.S)
    asked = [(name, set(re.findall(r"\w+", text.partition("labels:")[0]))) for name, text in alerts]
    parts, lines = ["What `sluice-controller` tells at `/metrics`, as OpenMetrics. Prometheus rules, a dashboard and a ServiceMonitor are",
                    "in [deploy/monitoring](../deploy/monitoring). A histogram has the samples `_bucket`, `_sum` and `_count`.", ""], []

    def end():
        if lines:
            parts.extend(table(["metric", "type", "labels", "meaning", "alert"], lines))
            lines.clear()
    for kind, args in calls(read("controller/write/metrics.def")):
        if kind == "SECTION":
            end()
            parts += [f"## {said(args[0])}", ""] + paragraph(said(args[1]))
            continue
        _, name, what, _, labels, help = args
        sample = said(name) + SUFFIX.get(what, "")
        tells = [alert for alert, words in asked if words & {sample, *(sample + end for end in ("_bucket", "_sum", "_count") if what == "HISTOGRAM")}]
        lines.append((code(sample), what.lower(), ", ".join(code(said(label)) for label in re.findall(STRING, labels)), cell(said(help)),
                      ", ".join(tells)))
    end()
    return page("Metrics", "controller/write/metrics.def", *parts)


# ---- events.md ---------------------------------------------------------------------------------------------------------

REASONS, CONDITIONS = "include/sluice/reasons.def", "include/sluice/conditions.def"


def gate_reasons():
    """{section: [text, rows]} of the reasons that the gate has of its own."""
    found = {}
    for kind, args in calls(read("controller/gate/reasons.def")):
        if kind == "SECTION":
            now = found[said(args[0])] = [said(args[1]), []]
        else:
            now[1].append([code(said(args[1])), cell(said(args[2])), cell(said(args[3]))])
    return found


def troubles():
    """[word, what pods cannot do, what to do] of the table in trouble.c."""
    words = re.findall(rf"\[TROUBLE_\w+\] = {{({STRING}),\s*\w+,\s*({STRING}),\s*((?:{STRING}\s*)+)", read("controller/gate/trouble.c"))
    return [[code(said(word)), cell(f"Pods cannot {said(what)}."), cell(said(cure)[:1].upper() + said(cure)[1:] + ".")]
            for word, what, cure in words if said(word)]


def events():
    told = rows("controller/write/events.def", "EVENT")
    head, reason_head = ["Event", "type", "when", "what to do"], ["reason", "when", "what to do"]
    by_level = {level: [[code(e[1]), e[2].capitalize(), cell(e[4]), cell(e[5])] for e in told if e[3] == level] for level in ("STOPS", "ALL")}
    gate = gate_reasons()
    stops = [[code(r[1]), cell(r[2]), cell(r[3])] for r in rows(REASONS, "STOP_REASON")]
    conditions = rows(CONDITIONS, "CONDITION")
    parts = [*paragraph("What each word means that Sluice says of a Job, or of an object that an admin describes, and what to do about it. "
                        "These words never change: alerts and scripts may go by them."),
             "## Events on Jobs", "",
             *paragraph("kubectl describe job shows them. They are best effort: at most 20 a second are written, one that fails is tried once "
                        "more, and of more than 256 in line the oldest are dropped. What must not be lost is in the ledger and in the annotation "
                        "sluice.dev/admission."),
             *table(head, by_level["STOPS"]), *paragraph("With --events=all also these. --events=none writes none at all."), *table(head, by_level["ALL"]),
             "## Why a Job waits", "",
             *paragraph("The reason in status.reason of a QueuedJob, in sluice explain and in the annotation sluice.dev/waiting; lists say it in "
                        "the words of the second column. Of several that apply the first is told."),
             *table(["reason", "in lists", "when", "what to do"],
                    [[code(r[1]), cell(r[2]), cell(r[3]), cell(r[4])] for r in rows(REASONS, "WAIT_REASON")]),
             "## Why a run was stopped", "",
             *paragraph("The reason in sluice history, in the ledger, and in the label reason of metrics. A Job that was stopped is queued again at "
                        "its old place, but where it says otherwise."),
             *table(reason_head, stops + gate.pop("Stopped")[1]),
             *paragraph("Preempted says also by which rule (the label reason of `sluice_preempted_workloads_total`):"),
             *table(["rule", "when"], [[code(r[1]), cell(r[2])] for r in rows(REASONS, "PREEMPTION_REASON")])]
    for title, (text, lines) in gate.items():
        parts += [f"### {title}", ""] + paragraph(text) + table(reason_head, lines)
    parts += ["## Why pods do not run", "",
              *paragraph("Of a Job that runs, in status.trouble of a QueuedJob and in sluice explain, in the words of scheduler, kubelet and API server."),
              *table(["word", "what it means", "what to do"], troubles()),
              "## Conditions", "",
              *paragraph("Of the objects that admins describe, in status.conditions. A Calendar, RunPolicy, PricePlan, Budget or AdvanceReservation "
                         "also has an Event (a Warning) with this reason when it becomes wrong, used up or refused, a NodeOvercommit when its spec is "
                         "invalid, and each when Effective becomes False. An AdvanceReservation has one (Normal) when that is over.")]
    for kind in dict.fromkeys(c[0] for c in conditions):
        parts += [f"### {kind}", "", *table(["condition", "status", "reason", "when", "what to do"], [
            [c[1] or "an Event alone", "" if not c[1] else "True or False" if c[2] == "Either" else c[2], code(c[3]), cell(c[4]), cell(c[5])]
            for c in conditions if c[0] == kind])]
    return page("Events and reasons", f"{REASONS}, {CONDITIONS}, controller/gate/reasons.def, controller/write/events.def, controller/gate/trouble.c", *parts)


# Where conditions are said: {kind: {file: functions, or none for the whole file}}. A newer spec that was refused is told by put_verdict.
VIEW, VERDICT = "queue/explain/view", {"controller/write/status.c": ["put_verdict"]}
SAID_BY = {
    "ClusterQueue": {VIEW + ".c": ["add_termination", "add_absence", "add_missing_flavor", "inactive_reason"], **VERDICT},
    "LocalQueue": {VIEW + ".c": ["closed_reason"], **VERDICT},
    "Cohort": {VIEW + ".c": ["cohort_reason"], **VERDICT},
    "ResourceFlavor": {"controller/write/status_writer.c": ["report_flavor"], **VERDICT},
    "ClusterQueue, LocalQueue, Cohort, RunPolicy, PricePlan, Budget": {"queue/effect/effect.c": []},
    "Calendar": {VIEW + "_time.c": ["calendar_condition"], "controller/write/status_time.c": ["status_judge_calendar"]},
    "RunPolicy": {VIEW + "_time.c": ["policy_reason"]},
    "PricePlan": {VIEW + "_money.c": ["condition_of"]},
    "Budget": {VIEW + "_money.c": ["reason_of"], "controller/write/status_time.c": ["status_judge_budget"]},
    "AdvanceReservation": {VIEW + "_advance.c": [], "queue/features/bookings/advance_extent.c": [],
                           "queue/features/bookings/advance_judge.c": [], "queue/features/bookings/advance_reservation.c": []},
    "NodeOvercommit": {"controller/overcommit/overcommit_status.c": ["say_invalid", "judge"]},
    "ConfigMap": {"controller/overcommit/overcommit_controller.c": ["tell_configmap_fault", "tell_passed_over"]},
}
# Files that may say others, and words of these files that are no reasons: states, and one that is never written.
SAYS = [VIEW + "*.c", "queue/effect/effect.c", "queue/features/bookings/advance_*.c", "controller/write/status*.c",
        "controller/overcommit/overcommit_status.c"]
NO_REASONS = {"True", "Open", "Closed", "Refused", "Scheduled", "Ended", "NotJudgedYet"}
WORD = r'"([A-Z][a-z]+[A-Za-z]*)"'
# What is compared, and the type of a condition, is not said as a reason.
NOT_SAID = re.compile(r'\b(?:is_reason|strcmp)\([^)]*\)|\b(?:judge|status_put_condition)\(\w+,(?: \w+,)? "\w+"')
# What gets a reason: a stop, an Event, a field, a text with a name.
GETS_REASON = re.compile(r'\b(?:(?:stop_because(?:_of)?|stop_with_sentence|events_tell)\([^;]*|reason = [^,;]*)|^static const char \w+\[\] = "\w+";', re.M)


def function(file, name):
    found = re.search(rf"^[a-z][\w *]*\b{name}\([^;{{]*\)\n{{.*?^}}", read(file), re.M | re.S)
    if not found:
        sys.exit(f"docs/generate.py: {file} has no function {name}; SAID_BY says that it tells a condition")
    return found[0]


def said_of(kind):
    """The reasons that the code says of a kind."""
    texts = [text for file, names in SAID_BY[kind].items() for text in ([function(file, name) for name in names] or [read(file)])]
    return {word for text in texts for word in re.findall(WORD, NOT_SAID.sub("", text))}


def literal_reasons():
    """Reasons of the controller that stand in the code as texts, or are those of a wait where a run is stopped: no row is asked of them."""
    telling = {}
    for files in SAID_BY.values():
        for file, names in files.items():
            telling.setdefault(file, set()).update(names)
    for path in sorted((ROOT / "controller").rglob("*.c")):
        file, text = str(path.relative_to(ROOT)), path.read_text()
        for name in telling.get(file, ()):
            text = text.replace(function(file, name), "")
        for use in GETS_REASON.findall(text):
            waits = ["wait_reason_name()"] if use.startswith("stop_") and "wait_reason_name(" in use else []
            yield from ((file, word) for word in re.findall(WORD, use) + waits)


def undescribed():
    """Reasons that the code says and that have no row, and the other way round."""
    conditions = rows(CONDITIONS, "CONDITION")
    kinds, types = {c[0] for c in conditions}, {c[1] for c in conditions}
    says = {word for pattern in SAYS for file in ROOT.glob(pattern) for word in re.findall(WORD, file.read_text())}
    for word in sorted(says - {c[3] for c in conditions} - kinds - types - NO_REASONS):
        yield f"{CONDITIONS} has no row for {word}, which a condition says"
    for kind in SAID_BY:
        known, said_here = {c[3] for c in conditions if c[0] == kind}, said_of(kind)
        for word in sorted(said_here - known - kinds - NO_REASONS):
            yield f"{CONDITIONS} has no row for {word} of {kind}"
        for word in sorted(known - said_here):
            yield f"{CONDITIONS} has a row for {word} of {kind}, which no condition says"
    for kind in sorted(kinds - SAID_BY.keys()):
        yield f"docs/generate.py does not know what says conditions of {kind}"
    for file, word in literal_reasons():
        yield f"{file} gives the reason {word}: give it a row of its own in a .def, and take its name from there"


def main():
    made = {ROOT / f"docs/{name}.md": make() for name, make in (("cli", cli), ("metrics", metrics), ("events", events))}
    wrong = list(undescribed())
    for line in wrong:
        print(line)
    stale = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if "--check" in sys.argv:
            print(f"{path.relative_to(ROOT)} is not what its sources say; run docs/generate.py")
        else:
            path.write_text(made[path])
            print(path.relative_to(ROOT))
    return bool(wrong or ("--check" in sys.argv and stale))


if __name__ == "__main__":
    sys.exit(main())
