#!/usr/bin/env python3
"""The server's TLS as sslyze sees it, and its development certificate as sslyze, Python and curl verify it.

    python3 scripts/interop/tls.py target/debug/frontdesk

Needs `pip install sslyze==6.3.1`, and curl.
"""

import json
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from harness import Checks, demo, run_checks

OLD = ["ssl_2_0", "ssl_3_0", "tls_1_0", "tls_1_1"]
# Ephemeral keys and authenticated encryption, nothing else.
STRONG = [
    *["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"],
    *["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"],
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
]
# curl's own number for a certificate that nobody vouches for.
CURL_UNTRUSTED = 60


def scanned(checks, banner, folder):
    """What sslyze found, by the names of its scans; it compares with Mozilla's intermediate profile."""
    target = urlsplit(banner["endpoint"])
    report = Path(folder, "sslyze.json")
    command = [str(Path(sys.executable).parent / "sslyze"), "--mozilla_config", "intermediate"]
    command += ["--early_data", "--http_headers", "--resum"]
    command += ["--certinfo_ca_file", banner["ca_file"], "--json_out", str(report), f"{target.hostname}:{target.port}"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    met = (ran.returncode, "OK - Compliant." in ran.stdout)
    checks.equal("sslyze: Mozilla's intermediate profile is met", met, (0, True))
    [server] = json.loads(report.read_text())["server_scan_results"]
    scans = server["scan_result"]
    unfinished = [name for name, scan in scans.items() if scan["status"] != "COMPLETED"]
    checks.equal("sslyze: every scan was made", unfinished, [])
    return {name: scan["result"] for name, scan in scans.items()}


def weaknesses(checks, scans):
    for version in OLD:
        checks.equal(f"sslyze: {version} is not spoken", scans[f"{version}_cipher_suites"]["is_tls_version_supported"], False)
    for version in ("tls_1_2", "tls_1_3"):
        suites = [suite["cipher_suite"]["name"] for suite in scans[f"{version}_cipher_suites"]["accepted_cipher_suites"]]
        checks.equal(f"sslyze: {version} is spoken", bool(suites), True)
        checks.equal(f"sslyze: {version} has strong suites only", sorted(set(suites) - set(STRONG)), [])
    for name, scan, field, wanted in (
        ("no compression", "tls_compression", "supports_compression", False),
        ("no early data", "tls_1_3_early_data", "supports_early_data", False),
        ("no CCS injection", "openssl_ccs_injection", "is_vulnerable_to_ccs_injection", False),
        ("no silent downgrade", "tls_fallback_scsv", "supports_fallback_scsv", True),
        ("no Heartbleed", "heartbleed", "is_vulnerable_to_heartbleed", False),
        ("no ROBOT", "robot", "robot_result", "NOT_VULNERABLE_RSA_NOT_SUPPORTED"),
        ("renegotiation is secure", "session_renegotiation", "supports_secure_renegotiation", True),
        ("nobody else can renegotiate", "session_renegotiation", "is_vulnerable_to_client_renegotiation_dos", False),
        ("sessions are bound to their handshake", "tls_extended_master_secret", "supports_ems_extension", True),
    ):
        checks.equal(f"sslyze: {name}", scans[scan][field], wanted)
    hsts = scans["http_headers"]["strict_transport_security_header"]
    # With a development certificate the header would bind every other port of this host; real ones send it.
    checks.equal("sslyze: a development certificate binds no browser", hsts, None)


def certificate(checks, banner, scans):
    for deployment in scans["certificate_info"]["certificate_deployments"]:
        paths = {path["trust_store"]["name"]: path for path in deployment["path_validation_results"]}
        checks.equal("sslyze verifies the certificate", paths["Supplied CA file"]["was_validation_successful"], True)
        public = [name for name, path in paths.items() if path["was_validation_successful"] and "Supplied" not in name]
        checks.equal("no public authority vouches for the development certificate", public, [])
        checks.equal("the chain is in order", deployment["received_chain_has_valid_order"], True)
    front = banner["endpoint"].removesuffix("/mcp/automotive") + "/"
    checks.equal("Python verifies the certificate", fetched(front, banner["ca_file"]), 200)
    checks.equal("and refuses it without the authority", fetched(front, None), "CERTIFICATE_VERIFY_FAILED")
    curl = ["curl", "--silent", "--fail", "--output", "/dev/null"]
    checks.equal("curl verifies the certificate", subprocess.run([*curl, "--cacert", banner["ca_file"], front]).returncode, 0)
    checks.equal("and refuses it without the authority", subprocess.run([*curl, front]).returncode, CURL_UNTRUSTED)


def fetched(url, ca_file):
    try:
        with urllib.request.urlopen(url, context=ssl.create_default_context(cafile=ca_file), timeout=60) as answer:
            return answer.status
    except urllib.error.URLError as error:
        return getattr(error.reason, "reason", repr(error))


def main() -> int:
    checks = Checks()

    def work(binary, folder):
        with demo(checks, binary, folder) as banner:
            scans = scanned(checks, banner, folder)
            weaknesses(checks, scans)
            certificate(checks, banner, scans)

    return run_checks(checks, work)


if __name__ == "__main__":
    sys.exit(main())
