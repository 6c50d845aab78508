#!/usr/bin/env python3
"""Judge `frontdesk stdio` with the official MCP client for Python, which starts it as a desktop client does.

    python3 scripts/judges/python_stdio.py target/release/frontdesk

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

from judging import LEAD, STOCK_TOOLS, TOOLS, Judge, causes, demo, judged

NOBODY = "veh_nobody"
TURNED_AWAY = "the caller in FRONTDESK_CLIENT_ID gets no access"


@asynccontextmanager
async def second_line(parameters, log, mode):
    async with mcp.Client(stdio_client(parameters, errlog=log), mode=mode) as client:
        yield client, client.protocol_version


@asynccontextmanager
async def first_line(parameters, log, _):
    async with stdio_client(parameters, errlog=log) as (receive, send), mcp.ClientSession(receive, send) as session:
        yield session, (await session.initialize()).protocolVersion


# Whichever line is installed, the eras it speaks, and what its errors of JSON-RPC are.
if hasattr(mcp, "Client"):
    connect, ERAS, RpcError = second_line, {"auto": "2026-07-28", "legacy": "2025-11-25"}, mcp.MCPError
else:
    connect, ERAS, RpcError = first_line, {"legacy": "2025-11-25"}, mcp.McpError


async def visit(judge, parameters, log, mode, version, dealership):
    def check(name, found, wanted):
        judge.check(f"{version}: {name}", found, wanted)

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


async def turned_away(judge, parameters, log):
    """Who cannot be a caller is not greeted: the program ends, and its log says why. One that cannot even start says
    nothing of the kind."""
    try:
        async with asyncio.timeout(60):
            async with connect(parameters, log, "legacy"):
                judge.stumble("a wrong secret is turned away", AssertionError("it was let in"))
    except BaseException as error:  # noqa: BLE001 - the library wraps the closed pipe in groups
        late = any(isinstance(cause, TimeoutError) for cause in causes(error))
        judge.check("a wrong secret is turned away at once", late, False)
    log.seek(0)
    said = log.read()
    judge.check("and the log says why", TURNED_AWAY in said, True)


def program(binary, folder, client, secret):
    words = ["stdio", "--data", str(Path(folder, "data"))]
    environment = {"FRONTDESK_CLIENT_ID": client["id"], "FRONTDESK_CLIENT_SECRET": secret}
    return StdioServerParameters(command=binary, args=words, env=environment)


def main() -> int:
    logging.disable(logging.CRITICAL)
    judge = Judge()

    def work(binary, folder):
        binary = str(Path(binary).resolve())
        # The demo makes the data and goes, because one process at a time holds a folder.
        with demo(judge, binary, folder) as card:
            client = card["clients"][0]
        with open(Path(folder, "stdio.log"), "w+") as log:
            good = program(binary, folder, client, client["secret"])
            for mode, version in ERAS.items():
                visiting = visit(judge, good, log, mode, version, client["dealership_id"])
                asyncio.run(asyncio.wait_for(visiting, 120))
            log.seek(0)
            said = log.read()
        with open(Path(folder, "refused.log"), "w+") as log:
            asyncio.run(turned_away(judge, program(binary, folder, client, "fds_wrong"), log))
        told = (STOCK_TOOLS[2] in said, client["secret"] in said)
        judge.check("the log names the calls and no secret", told, (True, False))
        verified = subprocess.run([binary, "audit", "verify", "--data", str(Path(folder, "data"))], capture_output=True)
        judge.check("the record of it all is whole", verified.returncode, 0)

    return judged(judge, work)


if __name__ == "__main__":
    sys.exit(main())
