#!/usr/bin/env python3
"""`frontdesk stdio` and the official MCP client for Python, which starts it as a desktop client does.

    python3 scripts/interop/python_stdio.py target/debug/frontdesk

Needs `pip install mcp==2.3.0`, which speaks both eras, or `mcp==1.30.0`, which speaks the legacy one.
"""

import asyncio
import logging
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import mcp
from mcp.client.stdio import StdioServerParameters, stdio_client

from harness import LEAD, STOCK_TOOLS, TOOLS, Checks, causes, demo, run_checks

NOBODY = "veh_nobody"
REJECTED = "the caller in FRONTDESK_CLIENT_ID gets no access"


@asynccontextmanager
async def client_v2(parameters, log, mode):
    async with mcp.Client(stdio_client(parameters, errlog=log), mode=mode) as client:
        yield client, client.protocol_version


@asynccontextmanager
async def client_v1(parameters, log, _):
    async with stdio_client(parameters, errlog=log) as (receive, send), mcp.ClientSession(receive, send) as session:
        yield session, (await session.initialize()).protocolVersion


# The version that is installed, the eras it speaks, and its type for errors of JSON-RPC.
if hasattr(mcp, "Client"):
    connect, ERAS, RpcError = client_v2, {"auto": "2026-07-28", "legacy": "2025-11-25"}, mcp.MCPError
else:
    connect, ERAS, RpcError = client_v1, {"legacy": "2025-11-25"}, mcp.McpError


async def calls_succeed(checks, parameters, log, mode, version, dealership):
    def check(name, found, wanted):
        checks.equal(f"{version}: {name}", found, wanted)

    async with connect(parameters, log, mode) as (client, agreed):
        check("the version is agreed on", agreed, version)
        # Everything the client may have, since it is not asked what it wants.
        check("every tool is listed", sorted(tool.name for tool in (await client.list_tools()).tools), TOOLS)
        first = await call(client, "inventory.search", {"make": "Toyota", "limit": 2})
        check("a call answers", [car["make"] for car in first["items"]], ["Toyota", "Toyota"])
        following = await call(client, "inventory.search", {"cursor": first["next_cursor"]})
        cars = [car["id"] for car in first["items"] + following["items"]]
        check("its cursor leads on", len(set(cars)), 4)
        read = await client.read_resource(f"amcp://{dealership}/inventory/{cars[0]}")
        check("a resource can be read", cars[0] in read.contents[0].text, True)

        order = {**LEAD, "idempotency_key": f"stdio-{version}"}
        lead = await call(client, "leads.create", order)
        check("a repeated write is one lead", await call(client, "leads.create", order), lead)
        check("and it is there", (await call(client, "leads.get", {"id": lead["id"]}))["contact"], LEAD["contact"])
        other = await refusal(client, {**order, "interest": "sell"})
        check("another order under its key is a conflict", other, "request.idempotency_conflict")
        without = {name: value for name, value in LEAD.items() if name != "consent"}
        check("an error of a tool arrives whole", await refusal(client, without), "consent.required")
        check("an unknown tool is an error of JSON-RPC", await rpc_error(client.call_tool("inventory.burn", {})), -32602)
        # The code for a missing resource changed with the modern era.
        missing = -32002 if version < "2026" else -32602
        unknown = client.read_resource(f"amcp://{dealership}/inventory/{NOBODY}")
        check("an unknown resource is one too", await rpc_error(unknown), missing)
        check("and the next call is answered", (await call(client, "inventory.get", {"id": cars[0]}))["id"], cars[0])


async def call(client, tool, arguments):
    """The answer of a call that must succeed; the library has checked it against the tool's schema."""
    answer = (await client.call_tool(tool, arguments)).model_dump(by_alias=True)
    if answer["isError"]:
        raise AssertionError(f"{tool} answered {answer['structuredContent']}")
    return answer["structuredContent"]


async def refusal(client, order):
    answer = (await client.call_tool("leads.create", order)).model_dump(by_alias=True)
    return answer["structuredContent"]["error"]["code"] if answer["isError"] else "no error"


async def rpc_error(asked):
    try:
        return await asked
    except RpcError as error:
        return error.code if hasattr(error, "code") else error.error.code


async def rejected(checks, parameters, log):
    """Who cannot be a caller is not greeted: the program ends, and its log says why. One that cannot even start says
    nothing of the kind."""
    try:
        async with asyncio.timeout(60):
            async with connect(parameters, log, "legacy"):
                checks.fail("a wrong secret is turned away", AssertionError("it was let in"))
    except BaseException as error:  # noqa: BLE001 - the library wraps the closed pipe in groups
        late = any(isinstance(cause, TimeoutError) for cause in causes(error))
        checks.equal("a wrong secret is turned away at once", late, False)
    log.seek(0)
    said = log.read()
    checks.equal("and the log says why", REJECTED in said, True)


def program(binary, folder, client, secret):
    words = ["stdio", "--data", str(Path(folder, "data"))]
    environment = {"FRONTDESK_CLIENT_ID": client["id"], "FRONTDESK_CLIENT_SECRET": secret}
    return StdioServerParameters(command=binary, args=words, env=environment)


def main() -> int:
    logging.disable(logging.CRITICAL)
    checks = Checks()

    def work(binary, folder):
        binary = str(Path(binary).resolve())
        # The demo makes the data and goes, because one process at a time holds a folder.
        with demo(checks, binary, folder) as banner:
            client = banner["clients"][0]
        with open(Path(folder, "stdio.log"), "w+") as log:
            good = program(binary, folder, client, client["secret"])
            for mode, version in ERAS.items():
                calls = calls_succeed(checks, good, log, mode, version, client["dealership_id"])
                asyncio.run(asyncio.wait_for(calls, 120))
            log.seek(0)
            said = log.read()
        with open(Path(folder, "refused.log"), "w+") as log:
            asyncio.run(rejected(checks, program(binary, folder, client, "fds_wrong"), log))
        told = (STOCK_TOOLS[2] in said, client["secret"] in said)
        checks.equal("the log names the calls and no secret", told, (True, False))
        verified = subprocess.run([binary, "audit", "verify", "--data", str(Path(folder, "data"))], capture_output=True)
        checks.equal("the record of it all is whole", verified.returncode, 0)

    return run_checks(checks, work)


if __name__ == "__main__":
    sys.exit(main())
