#!/usr/bin/env python3
"""The server and version 1 of the official MCP client for Python, over TLS, in the era that it speaks.

    python3 scripts/interop/python_client_v1.py target/debug/frontdesk

Needs `pip install mcp==1.30.0`; `python_client.py` uses version 2.
"""

import asyncio
import json
import logging
import ssl
import sys
from contextlib import asynccontextmanager
from urllib.parse import urlencode

import httpx
from mcp import ClientSession, McpError
from mcp.client.auth import OAuthTokenError
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.types import PaginatedRequestParams

import harness
from harness import SCOPES, SITE_TOOLS, STOCK_TOOLS, TOOLS, Checks, TokenStorage, causes, demo, run_checks

VERSION = "2025-11-25"
STOCK = "amcp:inventory:read"
LEAD = {**harness.LEAD, "idempotency_key": "interop-python-v1"}


class Desk:
    """Where the server is and how to log in."""

    def __init__(self, banner, entry=None):
        self.banner = banner
        self.entry = entry or banner["clients"][0]
        # The client of the demo's website says where that is.
        self.endpoint = self.entry.get("endpoint", banner["endpoint"])
        self.trust = ssl.create_default_context(cafile=banner["ca_file"])

    def login(self, memory, secret=None):
        return {
            "auth": ClientCredentialsOAuthProvider(
                server_url=self.endpoint,
                storage=memory,
                client_id=self.entry["id"],
                client_secret=secret or self.entry["secret"],
                issuer=self.banner["endpoint"].removesuffix("/mcp/automotive"),
            )
        }

    async def token(self, scope):
        form = urlencode({"grant_type": "client_credentials", "scope": scope})
        async with httpx.AsyncClient(verify=self.trust, auth=(self.entry["id"], self.entry["secret"])) as http:
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            answer = await http.post(self.banner["token_endpoint"], content=form, headers=headers)
        return {"headers": {"Authorization": f"Bearer {answer.json()['access_token']}"}}

    @asynccontextmanager
    async def connect(self, credentials):
        async with (
            httpx.AsyncClient(verify=self.trust, timeout=60, **credentials) as http,
            streamable_http_client(self.endpoint, http_client=http) as (receive, send, _),
            ClientSession(receive, send) as session,
        ):
            yield session, await session.initialize()


async def calls_succeed(checks, desk):
    memory = TokenStorage()
    async with desk.connect(desk.login(memory)) as (session, hello):
        checks.equal("it logs in by itself and agrees on the version", hello.protocolVersion, VERSION)
        checks.equal("the server says its name", hello.serverInfo.name, "frontdesk")
        checks.equal("the first token carries what the 401 names", memory.granted, [SCOPES])
        checks.equal("every tool is listed, though no scope was named", names(await session.list_tools()), TOOLS)

        wanted = {"make": "Toyota", "sort": "price_asc", "limit": 4}
        first = await call(session, "inventory.search", wanted)
        checks.equal("a page is as long as asked for", len(first.structuredContent["items"]), 4)
        checks.equal("the text says what the structure says", json.loads(first.content[0].text), first.structuredContent)
        every = await walk(session, "inventory.list", {"limit": 100})
        ids = {item["id"] for item in every}
        checks.equal("the stock is whole over all pages, each car once", (len(every) >= 250, len(ids)), (True, len(every)))
        found = sorted(item["id"] for item in await walk(session, "inventory.search", wanted))
        toyotas = sorted(item["id"] for item in every if item["make"] == "Toyota")
        checks.equal("a filtered search finds each match once", found, toyotas)

        uris, cursor = [], None
        while True:
            page = await session.list_resources(params=PaginatedRequestParams(cursor=cursor))
            uris += [str(resource.uri) for resource in page.resources]
            cursor = page.nextCursor
            if cursor is None:
                break
        checks.equal("resources are listed once each, over pages", (len(uris) > 250, len(set(uris))), (True, len(uris)))
        stock = f"amcp://{desk.banner['clients'][0]['dealership_id']}/inventory/"
        uri = next(uri for uri in uris if uri.startswith(stock))
        told = await call(session, "inventory.get", {"id": uri.rsplit("/", 1)[1]})
        read = json.loads((await session.read_resource(uri)).contents[0].text)
        checks.equal("a resource is what the tool answers", read, told.structuredContent)

        lead = (await call(session, "leads.create", LEAD)).structuredContent
        again = (await call(session, "leads.create", LEAD)).structuredContent
        checks.equal("a repeated create is one lead", again, lead)
        same = [item for item in await walk(session, "leads.list", {"limit": 50}) if item["id"] == lead["id"]]
        checks.equal("and there is one lead of it", len(same), 1)
        checks.equal("one token was enough", len(memory.granted), 1)

        other = await session.call_tool("leads.create", {**LEAD, "interest": "sell"})
        checks.equal("a tool error arrives whole: conflict", tool_error(other), "request.idempotency_conflict")
        nobody = await session.call_tool("inventory.get", {"id": "veh_nobody"})
        checks.equal("a tool error arrives whole: not found", tool_error(nobody), "inventory.not_found")
        unknown = await rpc_error(session.call_tool("inventory.burn", {}))
        checks.equal("a JSON-RPC error keeps its code", unknown.code, -32602)
        checks.equal("a JSON-RPC error keeps its data", {"code", "message"} <= set(unknown.data["error"]), True)
        missing = await rpc_error(session.read_resource(f"{stock}veh_nobody"))
        checks.equal("an unknown resource is a JSON-RPC error", missing.code, -32002)
        checks.equal("and its data says which kind", missing.data["error"]["code"], "inventory.not_found")


async def refusals(checks, desk):
    wrong = {"headers": {"Authorization": "Bearer fdt_wrong"}}
    checks.equal("a wrong token is refused with 401", await refused(desk, wrong), 401)
    checks.equal(
        "a wrong secret is refused as such", await refused(desk, desk.login(TokenStorage(), "fds_wrong")), OAuthTokenError
    )
    weak = await desk.token(STOCK)
    async with desk.connect(weak) as (session, _):
        checks.equal("a weaker token lists fewer tools", names(await session.list_tools()), STOCK_TOOLS)
    # This line of the client gives up its connection on an HTTP error, so the error is the connection's end.
    checks.equal("a missing scope is refused with 403", await refused(desk, weak, ("leads.list", {})), 403)


async def site(checks, desk):
    desk, memory = Desk(desk.banner, desk.banner["site"]), TokenStorage()
    async with desk.connect(desk.login(memory)) as (session, hello):
        checks.equal("site: the server says its name", hello.serverInfo.name, "eMCP Content Server")
        checks.equal("site: the toolset's version arrives", hello.capabilities.experimental["evo"]["toolsetVersion"], "1.0")
        checks.equal("site: fourteen tools are listed", names(await session.list_tools()), SITE_TOOLS)
        found = (await call(session, "evo.content.search", {"limit": 3, "with_tvs": ["price"]})).structuredContent
        checks.equal("site: one token lists and calls", memory.granted, [["mcp:call", "mcp:read"]])
        checks.equal("site: a search is as long as asked for", len(found["items"]), 3)
        page = await call(session, "evo.content.get", {"id": found["items"][0]["id"], "with_tvs": ["price"]})
        checks.equal("site: a page is what the search showed", page.structuredContent["item"], found["items"][0])
        wrong = await rpc_error(session.call_tool("evo.content.get", {"id": 0}))
        checks.equal("site: a wrong argument is named", (wrong.code, wrong.data["errors"][0]["pointer"]), (-32602, "/id"))
        unknown = await rpc_error(session.call_tool("evo.content.burn", {}))
        checks.equal("site: an unknown tool is not found", unknown.code, -32601)


async def call(session, tool, arguments):
    """The answer of a call that must succeed; the library has checked it against the tool's schema."""
    answer = await session.call_tool(tool, arguments)
    if answer.isError:
        raise AssertionError(f"{tool} answered {answer.structuredContent}")
    return answer


async def walk(session, tool, arguments):
    """Every item, page by page."""
    items, cursor = [], None
    while True:
        page = (await call(session, tool, arguments | ({"cursor": cursor} if cursor else {}))).structuredContent
        items += page["items"]
        cursor = page.get("next_cursor")
        if cursor is None:
            return items


async def refused(desk, credentials, then=None):
    """The HTTP status or the kind of error that ended the attempt."""
    try:
        async with desk.connect(credentials) as (session, _):
            if then is not None:
                await asyncio.wait_for(session.call_tool(*then), 10)
        return "let in"
    except BaseException as error:  # noqa: BLE001 - the library wraps the refusal in groups
        for cause in causes(error):
            if isinstance(cause, httpx.HTTPStatusError):
                return cause.response.status_code
            if isinstance(cause, OAuthTokenError):
                return OAuthTokenError
        return [repr(cause) for cause in causes(error)]


async def rpc_error(asked):
    try:
        await asked
    except McpError as error:
        return error.error
    raise AssertionError("no error")


def tool_error(answer):
    told = answer.structuredContent["error"]
    return told["code"] if answer.isError and json.loads(answer.content[0].text)["error"] == told else answer


def names(listed):
    return sorted(tool.name for tool in listed.tools)


async def run(checks, desk):
    for part in (calls_succeed, refusals, site):
        try:
            await part(checks, desk)
        except BaseException as error:  # noqa: BLE001 - whatever stops a part is the part's failure, not the run's
            checks.fail(f"{part.__name__} ran to its end", error)


def main() -> int:
    # The library logs every refusal with a traceback; refusals are what is asked for here.
    logging.disable(logging.CRITICAL)
    checks = Checks(f"{VERSION}: ")

    def work(binary, folder):
        with demo(checks, binary, folder) as banner:
            asyncio.run(asyncio.wait_for(run(checks, Desk(banner)), 120))

    return run_checks(checks, work)


if __name__ == "__main__":
    sys.exit(main())
