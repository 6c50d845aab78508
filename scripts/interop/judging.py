"""What the judges in Python share: a desk of their own, a count of what held, and the memory of a login."""

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
STOCK_TOOLS = ["inventory.get", "inventory.list", "inventory.search"]
TOOLS = [
    *["customers.get", "customers.list"],
    *STOCK_TOOLS,
    *["leads.create", "leads.get", "leads.list", "leads.update"],
]
CONTENT_TOOLS = [
    *["ancestors", "children", "children_range", "descendants", "get", "neighbors", "next_siblings", "prev_siblings"],
    *["root_tree", "search", "siblings", "siblings_range"],
]
# What the demo's website offers, under another contract.
SITE_TOOLS = [*[f"evo.content.{name}" for name in CONTENT_TOOLS], "evo.model.get", "evo.model.list"]


class Judge:
    """Counts what held and what did not; a check that could not be made is one that did not hold."""

    def __init__(self, prefix=""):
        self.prefix = prefix
        self.passed = 0
        self.failed = 0

    def check(self, name, found, wanted):
        if found == wanted:
            self.passed += 1
            print(f"ok      {self.prefix}{name}")
        else:
            self.failed += 1
            print(f"FAILED  {self.prefix}{name}: {found!r} is not {wanted!r}")

    def stumble(self, name, error):
        self.failed += 1
        print(f"FAILED  {self.prefix}{name}: {'; '.join(repr(cause) for cause in causes(error))}")

    def verdict(self):
        """The exit code; nothing judged is a broken judge, not a verdict."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0


class Memory:
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
def demo(judge, binary, folder, **settings):
    """The card of a demo desk with its data in `folder`; it must end in order when it is asked to."""
    command = [binary, "demo", "--json", "--listen", "127.0.0.1:0", "--data", str(Path(folder, "data"))]
    with open(Path(folder, "log"), "w+") as log:
        desk = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env={**os.environ, **settings})
        try:
            line = desk.stdout.readline()
            if not line:
                log.seek(0)
                raise AssertionError(f"the desk did not open: {log.read()}")
            yield json.loads(line)
        finally:
            desk.terminate()
            judge.check("the desk ends in order", desk.wait(60), 0)


def judged(judge, work):
    """Lets `work(binary, folder)` judge the binary named on the command line; the exit code."""
    if len(sys.argv) != 2:
        print(f"usage: {Path(sys.argv[0]).name} BINARY")
        return 2
    # A judge's own lines appear as they come, also in a pipe.
    sys.stdout.reconfigure(line_buffering=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            work(sys.argv[1], folder)
        except BaseException as error:  # noqa: BLE001 - whatever stops a judge is its verdict
            judge.stumble("the judge ran to its end", error)
    return judge.verdict()


def causes(error):
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in causes(inner)]
    return [error]
