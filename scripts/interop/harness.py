"""What the Python scripts share: a demo server, a count of checks, and the storage of an OAuth token."""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

# A lead with which `leads.create` succeeds.
LEAD = {
    "contact": {"name": "Dana Rivera", "email": "dana.rivera@example.com", "phone": "+15125550123"},
    "interest": "buy",
    "consent": {"granted": True, "channels": ["email", "sms"]},
}
SCOPES = [
    *["amcp:consent:read", "amcp:consent:write"],
    *["amcp:deals:read", "amcp:deals:write"],
    *["amcp:inventory:read", "amcp:inventory:write"],
    *["amcp:leads:read", "amcp:leads:write"],
    *["amcp:parts:read", "amcp:parts:write"],
    *["amcp:service:read", "amcp:service:write"],
    "amcp:signals:read",
]
DEAL_TOOLS = [
    *["cancel_deal", "create", "get", "get_fee", "get_trade_value", "list", "list_fees", "list_trade_values"],
    *["request_quote", "request_trade_value", "update"],
]
PART_TOOLS = [
    *["cancel_order", "check_availability", "create_order", "get", "get_order", "list", "list_orders", "search"],
    *["update_order"],
]
SERVICE_TOOLS = [
    *["book_appointment", "cancel_appointment", "check_availability", "create_repair_order"],
    *["get_advisor", "get_appointment", "get_repair_order", "get_service_code"],
    *["get_workshop", "list_advisors", "list_appointments", "list_repair_orders"],
    *["list_service_codes", "list_workshops", "update_appointment", "update_repair_order"],
]
STOCK_TOOLS = ["inventory.get", "inventory.list", "inventory.search"]
TOOLS = [
    *["consent.check", "consent.create", "consent.get", "consent.list", "consent.update"],
    *["customers.create", "customers.get", "customers.list", "customers.search", "customers.update"],
    *[f"deals.{name}" for name in DEAL_TOOLS],
    *["inventory.create", "inventory.get", "inventory.list", "inventory.search", "inventory.update"],
    *["leads.create", "leads.get", "leads.list", "leads.search", "leads.update"],
    *[f"parts.{name}" for name in PART_TOOLS],
    *[f"service.{name}" for name in SERVICE_TOOLS],
    *["signals.get", "signals.list"],
    *[f"x_frontdesk.{name}" for name in ["get_import", "import_adf", "import_items", "list_imports"]],
]
CONTENT_TOOLS = [
    *["ancestors", "children", "children_range", "descendants", "get", "neighbors", "next_siblings", "prev_siblings"],
    *["root_tree", "search", "siblings", "siblings_range"],
]
# What the demo's website offers, under another contract.
SITE_TOOLS = [*[f"evo.content.{name}" for name in CONTENT_TOOLS], "evo.model.get", "evo.model.list"]


class Checks:
    """Counts passed and failed checks; a check that could not be made has failed."""

    def __init__(self, prefix=""):
        self.prefix = prefix
        self.passed = 0
        self.failed = 0

    def equal(self, name, found, wanted):
        if found == wanted:
            self.passed += 1
            print(f"ok      {self.prefix}{name}")
        else:
            self.failed += 1
            print(f"FAILED  {self.prefix}{name}: {found!r} is not {wanted!r}")

    def fail(self, name, error):
        self.failed += 1
        print(f"FAILED  {self.prefix}{name}: {'; '.join(repr(cause) for cause in causes(error))}")

    def exit_code(self):
        """The exit code; a script without any check is broken and fails."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0


class TokenStorage:
    """Where an OAuth provider keeps its token; the scopes of every token it was given stay in order."""

    def __init__(self):
        self.tokens = None
        self.granted = []

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens
        self.granted.append(sorted(tokens.scope.split()))

    async def get_client_info(self):
        return None

    async def set_client_info(self, client_info):
        raise AssertionError("the client was given its id and must not register")


@contextmanager
def demo(checks, binary, folder, **settings):
    """The JSON that `frontdesk demo` prints, with its data in `folder`; the server must exit with 0 on SIGTERM."""
    command = [binary, "demo", "--json", "--listen", "127.0.0.1:0", "--data", str(Path(folder, "data"))]
    with open(Path(folder, "log"), "w+") as log:
        desk = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env={**os.environ, **settings})
        try:
            line = desk.stdout.readline()
            if not line:
                log.seek(0)
                raise AssertionError(f"the server did not start: {log.read()}")
            yield json.loads(line)
        finally:
            desk.terminate()
            checks.equal("the server exits with 0", desk.wait(60), 0)


def run_checks(checks, work):
    """Calls `work(binary, folder)` with the binary named on the command line; gives back the exit code."""
    if len(sys.argv) != 2:
        print(f"usage: {Path(sys.argv[0]).name} BINARY")
        return 2
    # Lines appear as they come, also in a pipe.
    sys.stdout.reconfigure(line_buffering=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            work(sys.argv[1], folder)
        except BaseException as error:  # noqa: BLE001 - whatever stops a script is a failure
            checks.fail("the script ran to its end", error)
    return checks.exit_code()


def causes(error):
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in causes(inner)]
    return [error]
