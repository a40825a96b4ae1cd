"""Sums up what ctest and pytest say in their JUnit files.

Prints `N passed, N failed` as the last line. Exit code 0 only if something
passed and nothing failed. A runner that ended badly without naming a failed
test (a crash, nothing collected) counts as one failure: silence is no success."""

import sys
import xml.etree.ElementTree as ET


def count(code, file):
    """(passed, failed, skipped) of one runner, from its exit code and file."""
    passed = failed = skipped = 0
    try:
        for case in ET.parse(file).getroot().iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
                failed += 1
            elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
                skipped += 1
            else:
                passed += 1
    except (OSError, ET.ParseError):
        pass
    if code != 0 and failed == 0:
        print(f"{file}: the runner ended with code {code} but names no failed test; counted as one")
        failed = 1
    return passed, failed, skipped


def main(args):
    totals = [count(int(code), file) for code, file in zip(args[::2], args[1::2])]
    passed, failed, skipped = map(sum, zip(*totals))
    if skipped:
        print(f"{skipped} skipped")
    if passed + failed == 0:
        print("no test ran")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
