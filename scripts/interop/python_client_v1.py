#!/usr/bin/env python3
"""Judge the desk with the first line of the official MCP client for Python, over TLS, in the era that it speaks.

    python3 scripts/judges/python_client_v1.py target/release/frontdesk

Needs `pip install mcp==1.30.0`; `python_client.py` judges with the second line.
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

import judging
from judging import SITE_TOOLS, STOCK_TOOLS, TOOLS, Judge, Memory, causes, demo, judged

VERSION = "2025-11-25"
STOCK = "amcp:inventory:read"
LEAD = {**judging.LEAD, "idempotency_key": "judge-python-v1"}


class Desk:
    """Where the desk is and how to come in."""

    def __init__(self, card, entry=None):
        self.card = card
        self.entry = entry or card["clients"][0]
        # The client of the demo's website says where that is.
        self.endpoint = self.entry.get("endpoint", card["endpoint"])
        self.trust = ssl.create_default_context(cafile=card["ca_file"])

    def login(self, memory, secret=None):
        return {
            "auth": ClientCredentialsOAuthProvider(
                server_url=self.endpoint,
                storage=memory,
                client_id=self.entry["id"],
                client_secret=secret or self.entry["secret"],
                issuer=self.card["endpoint"].removesuffix("/mcp/automotive"),
            )
        }

    async def token(self, scope):
        form = urlencode({"grant_type": "client_credentials", "scope": scope})
        async with httpx.AsyncClient(verify=self.trust, auth=(self.entry["id"], self.entry["secret"])) as http:
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            answer = await http.post(self.card["token_endpoint"], content=form, headers=headers)
        return {"headers": {"Authorization": f"Bearer {answer.json()['access_token']}"}}

    @asynccontextmanager
    async def connect(self, way):
        async with (
            httpx.AsyncClient(verify=self.trust, timeout=60, **way) as http,
            streamable_http_client(self.endpoint, http_client=http) as (receive, send, _),
            ClientSession(receive, send) as session,
        ):
            yield session, await session.initialize()


async def visit(judge, desk):
    memory = Memory()
    async with desk.connect(desk.login(memory)) as (session, hello):
        judge.check("it logs in by itself and agrees on the version", hello.protocolVersion, VERSION)
        judge.check("the server says its name", hello.serverInfo.name, "frontdesk")
        judge.check("the first token carries the least scope", memory.granted, [[STOCK]])
        judge.check("the tools of its first token are listed", names(await session.list_tools()), STOCK_TOOLS)

        wanted = {"make": "Toyota", "sort": "price_asc", "limit": 4}
        first = await call(session, "inventory.search", wanted)
        judge.check("a page is as long as asked for", len(first.structuredContent["items"]), 4)
        judge.check("the text says what the structure says", json.loads(first.content[0].text), first.structuredContent)
        every = await walk(session, "inventory.list", {"limit": 100})
        ids = {item["id"] for item in every}
        judge.check("the stock is whole over all pages, each car once", (len(every) >= 250, len(ids)), (True, len(every)))
        found = sorted(item["id"] for item in await walk(session, "inventory.search", wanted))
        toyotas = sorted(item["id"] for item in every if item["make"] == "Toyota")
        judge.check("a filtered search finds each match once", found, toyotas)

        uris, cursor = [], None
        while True:
            page = await session.list_resources(params=PaginatedRequestParams(cursor=cursor))
            uris += [str(resource.uri) for resource in page.resources]
            cursor = page.nextCursor
            if cursor is None:
                break
        judge.check("resources are listed once each, over pages", (len(uris) > 250, len(set(uris))), (True, len(uris)))
        stock = f"amcp://{desk.card['clients'][0]['dealership_id']}/inventory/"
        uri = next(uri for uri in uris if uri.startswith(stock))
        told = await call(session, "inventory.get", {"id": uri.rsplit("/", 1)[1]})
        read = json.loads((await session.read_resource(uri)).contents[0].text)
        judge.check("a resource is what the tool answers", read, told.structuredContent)

        lead = (await call(session, "leads.create", LEAD)).structuredContent
        judge.check("the 403 widened the scope", memory.granted[-1], ["amcp:inventory:read", "amcp:leads:write"])
        again = (await call(session, "leads.create", LEAD)).structuredContent
        judge.check("a repeated create is one lead", again, lead)
        same = [item for item in await walk(session, "leads.list", {"limit": 50}) if item["id"] == lead["id"]]
        judge.check("and there is one lead of it", len(same), 1)
        judge.check("the token that reads and writes lists every tool", names(await session.list_tools()), TOOLS)

        other = await session.call_tool("leads.create", {**LEAD, "interest": "sell"})
        judge.check("a tool error arrives whole: conflict", tool_error(other), "request.idempotency_conflict")
        nobody = await session.call_tool("inventory.get", {"id": "veh_nobody"})
        judge.check("a tool error arrives whole: not found", tool_error(nobody), "inventory.not_found")
        unknown = await rpc_error(session.call_tool("inventory.burn", {}))
        judge.check("a JSON-RPC error keeps its code", unknown.code, -32602)
        judge.check("a JSON-RPC error keeps its data", {"code", "message"} <= set(unknown.data["error"]), True)
        missing = await rpc_error(session.read_resource(f"{stock}veh_nobody"))
        judge.check("an unknown resource is a JSON-RPC error", missing.code, -32002)
        judge.check("and its data says which kind", missing.data["error"]["code"], "inventory.not_found")


async def refusals(judge, desk):
    wrong = {"headers": {"Authorization": "Bearer fdt_wrong"}}
    judge.check("a wrong token is refused with 401", await refused(desk, wrong), 401)
    judge.check(
        "a wrong secret is refused as such", await refused(desk, desk.login(Memory(), "fds_wrong")), OAuthTokenError
    )
    weak = await desk.token(STOCK)
    async with desk.connect(weak) as (session, _):
        judge.check("a weaker token lists fewer tools", names(await session.list_tools()), STOCK_TOOLS)
    # This line of the client gives up its connection on an HTTP error, so the error is the connection's end.
    judge.check("a missing scope is refused with 403", await refused(desk, weak, ("leads.list", {})), 403)


async def site(judge, desk):
    desk, memory = Desk(desk.card, desk.card["site"]), Memory()
    async with desk.connect(desk.login(memory)) as (session, hello):
        judge.check("site: the server says its name", hello.serverInfo.name, "eMCP Content Server")
        judge.check("site: the toolset's version arrives", hello.capabilities.experimental, {"evo": {"toolsetVersion": "1.0"}})
        judge.check("site: fourteen tools are listed", names(await session.list_tools()), SITE_TOOLS)
        found = (await call(session, "evo.content.search", {"limit": 3, "with_tvs": ["price"]})).structuredContent
        judge.check("site: the 403 widened the scope", memory.granted[-1], ["mcp:call", "mcp:read"])
        judge.check("site: a search is as long as asked for", len(found["items"]), 3)
        page = await call(session, "evo.content.get", {"id": found["items"][0]["id"], "with_tvs": ["price"]})
        judge.check("site: a page is what the search showed", page.structuredContent["item"], found["items"][0])
        wrong = await rpc_error(session.call_tool("evo.content.get", {"id": 0}))
        judge.check("site: a wrong argument is named", (wrong.code, wrong.data["errors"][0]["pointer"]), (-32602, "/id"))
        unknown = await rpc_error(session.call_tool("evo.content.burn", {}))
        judge.check("site: an unknown tool is not found", unknown.code, -32601)


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


async def refused(desk, way, then=None):
    """The HTTP status or the kind of error that ended the attempt."""
    try:
        async with desk.connect(way) as (session, _):
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


async def run(judge, desk):
    for part in (visit, refusals, site):
        try:
            await part(judge, desk)
        except BaseException as error:  # noqa: BLE001 - whatever stops a part is the part's failure, not the run's
            judge.stumble(f"{part.__name__} ran to its end", error)


def main() -> int:
    # The library logs every refusal with a traceback; refusals are what is asked for here.
    logging.disable(logging.CRITICAL)
    judge = Judge(f"{VERSION}: ")

    def work(binary, folder):
        with demo(judge, binary, folder) as card:
            asyncio.run(asyncio.wait_for(run(judge, Desk(card)), 120))

    return judged(judge, work)


if __name__ == "__main__":
    sys.exit(main())
