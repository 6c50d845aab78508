#!/usr/bin/env python3
"""schemathesis against the REST routes: requests made from the OpenAPI document, valid and invalid ones, and every answer
held against the same document.

    python3 scripts/interop/rest_schema.py target/debug/frontdesk

Needs `pip install schemathesis==4.32.5`.
"""

import base64
import json
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path

from harness import Checks, demo, run_checks

# No answer is a server error, and each has a status, a content type, headers and a body that the document describes.
CHECKS = [
    *["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance"],
    *["response_schema_conformance", "negative_data_rejection", "ignored_auth", "unsupported_method"],
]
# Room for thousands of calls.
SETTINGS = {"FRONTDESK_LIMITS_CALLS_PER_MINUTE": "10000000", "FRONTDESK_LIMITS_BURST": "1000000"}
SCOPES = " ".join(
    f"amcp:{domain}:{access}"
    for domain in ["consent", "deals", "inventory", "leads", "parts", "service"]
    for access in ["read", "write"]
)
SCOPES += " amcp:signals:read"
EXAMPLES = "25"
# With what a request that violates its schema may be refused; 431 is the transport's, for an address of many kilobytes.
REFUSALS = [400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 429, 431]


def main():
    checks = Checks()

    def work(binary, folder):
        # Longer than the run.
        with demo(checks, binary, folder, FRONTDESK_TOKEN_LIFETIME_SECONDS="900", **SETTINGS) as desk:
            origin = desk["token_endpoint"].removesuffix("/token")
            trust = ssl.create_default_context(cafile=desk["ca_file"])
            document = fetch(trust, f"{origin}/v1/openapi.json")
            checks.equal("the document has routes", len(document["paths"]) >= 7, True)
            token = fetch_token(trust, desk)
            run(checks, desk, origin, token, folder)

    return run_checks(checks, work)


def run(checks, desk, origin, token, folder):
    command = [str(Path(sys.executable).with_name("schemathesis")), "run", f"{origin}/v1/openapi.json"]
    command += ["--origin", origin, "--tls-verify", desk["ca_file"], "--header", f"Authorization: Bearer {token}"]
    command += ["--checks", ",".join(CHECKS), "--phases", "examples,coverage,fuzzing", "--max-examples", EXAMPLES]
    command += ["--seed", "1", "--suppress-health-check", "all", "--no-color", "--continue-on-failure"]
    statuses = ", ".join(f'"{status}"' for status in REFUSALS)
    Path(folder, "schemathesis.toml").write_text(f"[checks.negative_data_rejection]\nexpected-statuses = [{statuses}]\n")
    # It keeps what it learns in the folder that it runs in.
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=folder)
    # A generated address can be longer than everything else.
    print("\n".join(line[:400] for line in ended.stdout.splitlines())[-12_000:])
    print(ended.stderr[-2_000:])
    checks.equal("schemathesis finds nothing", ended.returncode, 0)


def fetch(trust, url):
    with urllib.request.urlopen(url, context=trust) as answer:
        return json.load(answer)


def fetch_token(trust, desk):
    client = desk["clients"][0]
    basic = base64.b64encode(f"{client['id']}:{client['secret']}".encode()).decode()
    form = f"grant_type=client_credentials&scope={SCOPES.replace(' ', '+')}".encode()
    request = urllib.request.Request(desk["token_endpoint"], form, {"Authorization": f"Basic {basic}"})
    with urllib.request.urlopen(request, context=trust) as answer:
        return json.load(answer)["access_token"]


if __name__ == "__main__":
    sys.exit(main())
