#!/usr/bin/env python3
"""The server's TLS and testssl.sh: no finding may be LOW or worse, except those named below.

    python3 scripts/interop/testssl.py target/debug/frontdesk

Needs testssl.sh (on Debian: apt-get install -y testssl.sh) and the openssl that it brings. A server that is weak on purpose is
scanned first: a scanner that finds nothing there would find nothing here either.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from harness import Checks, demo, run_checks

# Everything but simulated browsers and each single cipher, which the categories of `--std` cover.
SCANS = ["--protocols", "--std", "--pfs", "--server-preference", "--server-defaults", "--header", "--vulnerable"]
# From best to worst; a warning is a scan that was not made.
SEVERITIES = ["OK", "INFO", "DEBUG", "WARN", "LOW", "MEDIUM", "HIGH", "CRITICAL", "FATAL"]
WEAK = set(SEVERITIES[SEVERITIES.index("LOW") :])
# A finding that is not listed here fails the step, and so does a line that is no longer true.
EXPECTED = {
    "cipher_order": "every suite is strong, so the client chooses: without AES in hardware, ChaCha20 is faster for it",
    "cert_revocation": "the development authority publishes no list; a certificate of one's own brings its authority's",
    "HSTS": "with a development certificate it would bind every other port of this host; with a real one it is sent",
}
# What must have been looked at: a scan that broke off early is no clean one, nor is one that only warned.
LOOKED_AT = {
    *["SSLv2", "SSLv3", "TLS1", "TLS1_1", "TLS1_2", "TLS1_3", "cipherlist_NULL", "cipherlist_LOW", "PFS", "cert_trust"],
    *["cert_chain_of_trust", "heartbleed", "ROBOT", "CRIME_TLS", "BREACH", "SWEET32", "LOGJAM", "BEAST", "RC4"],
}


def scanned(address, scans, folder, name, ca_file):
    """What testssl.sh says, by its own ids: severity and words."""
    program = shutil.which("testssl") or shutil.which("testssl.sh")
    report = Path(folder, f"{name}.json")
    command = [program, "--quiet", "--color", "0", "--warnings", "off", "--nodns", "none", "--ip", "127.0.0.1"]
    command += ["--connect-timeout", "10", "--openssl-timeout", "10", "--add-ca", ca_file, "--jsonfile", str(report)]
    # Its exit code counts findings of every kind, so the report is read instead.
    subprocess.run([*command, *scans, address], stdin=subprocess.DEVNULL, capture_output=True, timeout=300, cwd=folder)
    return by_id(json.loads(report.read_text()))


def by_id(findings):
    """Severity and words of each id. What has several findings, as a list of certificates does, is as bad as its worst."""
    worst = {}
    for found in findings:
        name, severity = found["id"], found["severity"]
        if name not in worst or SEVERITIES.index(severity) > SEVERITIES.index(worst[name][0]):
            worst[name] = (severity, found["finding"])
    return worst


def weaknesses(found):
    return {name: f"{severity}: {words}" for name, (severity, words) in found.items() if severity in WEAK}


def sees_a_weak_server(checks, folder):
    key, certificate = str(Path(folder, "weak.key")), str(Path(folder, "weak.pem"))
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1"]
    subprocess.run([*make, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    serve = ["openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-key", key, "-cert", certificate]
    serve += ["-min_protocol", "TLSv1", "-cipher", "ALL:NULL:@SECLEVEL=0"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            address = next(line.split()[1] for line in server.stdout if line.startswith("ACCEPT"))
            scans = ["--protocols", "--std"]
            found = weaknesses(scanned(f"localhost:{address.split(':')[1]}", scans, folder, "weak", certificate))
        finally:
            server.kill()
    seen = sorted({"TLS1", "TLS1_1", "cipherlist_NULL", "cipherlist_aNULL"} & set(found))
    checks.equal("the scanner sees old protocols and empty ciphers where there are some", len(seen), 4)


def finds_none_here(checks, banner, folder):
    target = urlsplit(banner["endpoint"])
    found = scanned(f"localhost:{target.port}", SCANS, folder, "desk", banner["ca_file"])
    made = {name for name, (severity, _) in found.items() if severity != "WARN"}
    checks.equal("testssl.sh: every scan was made", sorted(LOOKED_AT - made), [])
    wrong = weaknesses(found)
    for name, words in sorted(wrong.items()):
        if name in EXPECTED:
            print(f"-       {name} ({words}): {EXPECTED[name]}")
    checks.equal("testssl.sh: nothing is LOW or worse", {n: w for n, w in wrong.items() if n not in EXPECTED}, {})
    checks.equal("testssl.sh: what is expected is still so", sorted(set(EXPECTED) - set(wrong)), [])
    checks.equal("testssl.sh verifies the certificate", found["cert_chain_of_trust"], ("OK", "passed."))
    for name in ("TLS1_2", "TLS1_3"):
        checks.equal(f"testssl.sh: {name} is spoken", found[name][1].startswith("offered"), True)
    for name in ("SSLv2", "SSLv3", "TLS1", "TLS1_1", "cipherlist_3DES_IDEA", "cipherlist_AVERAGE"):
        checks.equal(f"testssl.sh: {name} is not spoken", found[name][1], "not offered")


def main() -> int:
    checks = Checks()

    def work(binary, folder):
        sees_a_weak_server(checks, folder)
        with demo(checks, binary, folder) as banner:
            finds_none_here(checks, banner, folder)

    return run_checks(checks, work)


if __name__ == "__main__":
    sys.exit(main())
