#!/usr/bin/env python3
"""Five minutes of TOMO's traffic against the demo, held against the table of its specification's §7.

`frontdesk tomo simulate` plays the orchestrator for each of the demo's intents at once: users who search, look, book,
track and cancel, at the rates of §8, each in a session of their own. It is a judge that shares no code with the server,
and measures from outside. In the end every kind of tool must be within its targets as seen from outside, the server must
say the same of itself, and no call may have been limited or have failed inside.

    python3 scripts/interop/service_level.py target/release/frontdesk

LEVEL_MINUTES=1 makes a shorter run, for whoever changes this script.
"""

import json
import os
import re
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path

from harness import Checks, demo, run_checks

MINUTES = int(os.environ.get("LEVEL_MINUTES", "5"))
# Two users a second for each of the five intents.
SESSIONS = 120 * MINUTES
# What tracks an order looks three times, five seconds apart.
TRACKS = 3
# Milliseconds at p50, p95 and p99.
TARGETS = {
    "search": (600, 1500, 3000),
    "get": (300, 800, 1500),
    "create": (2000, 5000, 10000),
    "track": (100, 400, 800),
    "cancel": (1000, 3000, 5000),
}
# What TOMO is told as INTERNAL_ERROR or PARTNER_MAINTENANCE.
FAILURES = ["internal", "unavailable", "outcome_unknown", "no_room", "answer_too_large"]
QUANTILES = {"p50": "0.5", "p95": "0.95", "p99": "0.99"}


def simulate(binary, banner, folder):
    """Runs one simulation for each of TOMO's mounts, all at once; gives the lines of each report."""
    running = {}
    for mount in banner["mounts"]:
        if mount["contract"] != "tomo":
            continue
        token = Path(folder, mount["intent"])
        token.touch(mode=0o600)
        token.write_text(mount["sandbox_bearer"])
        numbers = ["--sessions", str(SESSIONS), "--minutes", str(MINUTES), "--tracks", str(TRACKS)]
        trust = ["--ca", banner["ca_file"], "--bearer-file", str(token)]
        command = [binary, "tomo", "simulate", mount["endpoint"], *trust, *numbers, "--json"]
        running[mount["intent"]] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    return {
        intent: [json.loads(line) for line in process.communicate(timeout=60 * MINUTES + 600)[0].splitlines()]
        for intent, process in running.items()
    }


def metrics(banner):
    """The metrics page: labels and value of every line, by name."""
    trust = ssl.create_default_context(cafile=banner["ca_file"])
    # The certificate is for names, and the address of the operator's listener is a number.
    trust.check_hostname = False
    with urllib.request.urlopen(banner["operator_endpoint"] + "/metrics", context=trust, timeout=60) as page:
        text = page.read().decode()
    found = {}
    for name, labels, value in re.findall(r"^(\w+)\{(.*)\} (\S+)$", text, re.MULTILINE):
        found.setdefault(name, []).append((dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(value)))
    return found


def only(lines, **labels):
    """The value of the line with these labels."""
    [value] = [value for known, value in lines if labels.items() <= known.items()]
    return value


def agree(quantile, inside, outside):
    """Whether two figures can be of the same calls, in milliseconds. The caller also waits for the network and its own
    processor, and the server looks at the last five minutes only; so the tails may differ more than the middle."""
    if quantile == "p50":
        return inside <= outside * 1.5 + 2 and outside <= inside * 4 + 10
    return inside <= outside * 2 + 20 and outside <= inside * 4 + 200


def check_level(checks, banner, folder, binary):
    reports = simulate(binary, banner, folder)
    status_command = [binary, "tomo", "status", "--json", "--data", banner["data"]]
    status = json.loads(subprocess.run(status_command, capture_output=True, text=True, check=True).stdout)
    page = metrics(banner)
    standings = {view["path"]: {kind["kind"]: kind["standing"]["state"] for kind in view["kinds"]} for view in status}
    rows, answered = [], 0
    for intent, lines in reports.items():
        mount = f"/mcp/tomo/{intent}"
        failed = [line for line in lines if line.get("status") == "failed"]
        checks.equal(f"{intent}: nothing is wrong with any answer", failed, [])
        kinds = {line["kind"]: line for line in lines if "kind" in line}
        checks.equal(f"{intent}: all kinds were called", sorted(kinds), sorted(standings[mount]))
        for kind, line in kinds.items():
            answered += line["calls"]
            outside = [line["millis"][name] for name in QUANTILES]
            labels = {"mount": mount, "kind": kind}
            inside = [
                only(page["frontdesk_latency_seconds"], **labels, quantile=quantile) * 1000
                for quantile in QUANTILES.values()
            ]
            counted = only(page["frontdesk_latency_calls"], **labels)
            for name, seen, said, target in zip(QUANTILES, outside, inside, TARGETS[kind]):
                within = "within its target" if seen <= target else f"{seen} of {target} ms"
                checks.equal(f"{intent}: {kind} {name}", within, "within its target")
                same = "agree" if agree(name, said, seen) else f"server {said:.1f} ms, caller {seen:.1f} ms"
                checks.equal(f"{intent}: {kind} {name}, server and caller", same, "agree")
            checks.equal(f"{intent}: {kind}, standing", standings[mount][kind], "good")
            drop = only(page["frontdesk_latency_drop_seconds"], **labels)
            checks.equal(f"{intent}: {kind}, time to a drop", drop, float("inf"))
            # The run is a little longer than the server's window; calls whose connection was cut are counted there only.
            checks.equal(f"{intent}: {kind}, share counted", 0.75 <= counted / line["calls"] <= 1.5, True)
            rows.append((intent, kind, line["calls"], outside, inside))
    outcomes = {}
    for labels, count in page["frontdesk_calls_total"]:
        if labels["contract"] == "tomo":
            outcomes[labels["outcome"]] = outcomes.get(labels["outcome"], 0) + int(count)
    checks.equal("nothing was limited", outcomes.get("rate_limited", 0), 0)
    checks.equal("nothing failed inside", {name: outcomes[name] for name in FAILURES if name in outcomes}, {})
    show(rows, answered, outcomes)


def show(rows, answered, outcomes):
    """The figures as docs/performance.md has them: of the caller first, of the server second."""
    print(f"{answered} calls of {MINUTES} minutes, {answered / MINUTES / 60:.0f} a second; outcomes {outcomes}")
    print("| intent | kind | calls | p50 ms | p95 ms | p99 ms |\n|---|---|--:|--:|--:|--:|")
    for intent, kind, calls, outside, inside in rows:
        pairs = [f"{seen:.1f} / {said:.1f}" for seen, said in zip(outside, inside)]
        print(f"| {intent} | {kind} | {calls} | {' | '.join(pairs)} |")


def main():
    checks = Checks()

    def work(binary, folder):
        with demo(checks, binary, folder) as banner:
            check_level(checks, banner, folder, binary)

    return run_checks(checks, work)


if __name__ == "__main__":
    sys.exit(main())
