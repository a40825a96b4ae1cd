"""What is in it: an SPDX 2.3 document, as JSON.

    sbom.py VERSION OUT PROGRAM... [--image PACKAGES.tsv]

The libraries of the programs are those that the dynamic loader finds, each with the Debian package
that it is of. Those of the image are all packages in it, by its own dpkg (release/image writes the
list: name, version, architecture, source package and its version, with tabs). Licences are not
judged: they stand in /usr/share/doc/PACKAGE/copyright of the image."""

import argparse
import hashlib
import json
import os
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path

EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
FIELDS = "${Package}\\t${Version}\\t${Architecture}\\t${source:Package}\\t${source:Version}\\n"


def run(*argv):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout


def packages_of(program):
    """Rows of dpkg for the packages whose libraries it is linked with, theirs among them."""
    names = set()
    for path in re.findall(r"(/\S+) \(0x", run("ldd", program)):
        # /lib is a link to /usr/lib, and dpkg knows a file by the one or the other.
        for candidate in {path, os.path.realpath(path), path.replace("/lib/", "/usr/lib/", 1), os.path.realpath(path).removeprefix("/usr")}:
            found = subprocess.run(["dpkg-query", "-S", candidate], capture_output=True, text=True)
            if found.returncode == 0:
                names.add(found.stdout.split(": ")[0])
                break
        else:
            raise SystemExit(f"sbom.py: {path} is of no Debian package")
    return [tuple(row.split("\t")) for name in names for row in run("dpkg-query", "-W", "-f", FIELDS, name).splitlines()]


def package(row):
    name, version, architecture, source, source_version = row
    return {
        "SPDXID": "SPDXRef-deb-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{name}-{architecture}-{version}"),
        "name": name, "versionInfo": version, "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
        "sourceInfo": f"built from the Debian source package {source} {source_version}",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:deb/debian/{name}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={architecture}"}],
    }


def own(version, what, digests):
    return {
        "SPDXID": f"SPDXRef-{what}", "name": what, "versionInfo": version, "supplier": "Organization: Sluice", "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
        "checksums": [{"algorithm": "SHA256", "checksumValue": d} for d in digests],
    }


def main():
    p = argparse.ArgumentParser()
    p.add_argument("version")
    p.add_argument("out")
    p.add_argument("programs", nargs="+")
    p.add_argument("--image")
    a = p.parse_args()
    packages, relations = {}, []

    def relate(one, kind, other):
        relations.append({"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other})

    def add(one, kind, rows):
        for row in sorted(set(rows)):
            entry = package(row)
            packages[entry["SPDXID"]] = entry
            relate(one, kind, entry["SPDXID"])

    for program in a.programs:
        entry = own(a.version, Path(program).name, [hashlib.sha256(Path(program).read_bytes()).hexdigest()])
        packages[entry["SPDXID"]] = entry
        relate("SPDXRef-DOCUMENT", "DESCRIBES", entry["SPDXID"])
        add(entry["SPDXID"], "DEPENDS_ON", packages_of(program))
    if a.image:
        entry = own(a.version, "image", [])
        del entry["checksums"]
        packages[entry["SPDXID"]] = entry
        relate("SPDXRef-DOCUMENT", "DESCRIBES", entry["SPDXID"])
        add(entry["SPDXID"], "CONTAINS", [tuple(row.split("\t")) for row in Path(a.image).read_text().splitlines()])
    body = {"packages": list(packages.values()), "relationships": relations}
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"sluice-{a.version}",
        # A name of its own for each content.
        "documentNamespace": f"https://sluice.dev/spdx/sluice-{a.version}-{hashlib.sha256(json.dumps(body).encode()).hexdigest()[:16]}",
        "creationInfo": {"created": datetime.fromtimestamp(EPOCH, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: release/sbom.py"]},
        **body,
    }
    Path(a.out).write_text(json.dumps(document, indent=1) + "\n")
    print(f"{a.out}: {len(packages)} packages")


main()
