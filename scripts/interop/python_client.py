#!/usr/bin/env python3
"""Judge the desk with the official MCP client for Python, over TLS and both eras of the protocol.

Starts `BINARY demo` on a folder of its own and lets the client find its own way: it is told the endpoint, the CA file,
a client id and a secret, and nothing else. Its own OAuth provider discovers the authorization server from the 401, gets
the least scope, and widens it through the 403. Its own JSON Schema validator checks every answer against the tool's
`outputSchema`.

    python3 scripts/judges/python_client.py target/release/frontdesk

Needs `pip install mcp==2.3.0`.
"""

import asyncio
import json
import logging
import ssl
import sys
from contextlib import asynccontextmanager

import httpx2
from mcp import Client, MCPError
from mcp.client.auth import OAuthFlowError, OAuthTokenError
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client

from judging import LEAD, SITE_TOOLS, STOCK_TOOLS, TOOLS, Judge, Memory, causes, demo, judged


class Visitor:
    """One of the demo's clients, as the official library is set up for it."""

    def __init__(self, card, entry, secret=None):
        self.card = card
        # The client of the demo's website says where that is.
        self.endpoint = entry.get("endpoint", card["endpoint"])
        self.dealership = entry.get("dealership_id")
        self.memory = Memory()
        self.requests = []
        self.auth = ClientCredentialsOAuthProvider(
            server_url=self.endpoint,
            storage=self.memory,
            client_id=entry["id"],
            client_secret=secret or entry["secret"],
            issuer=card["endpoint"].removesuffix("/mcp/automotive"),
        )

    @asynccontextmanager
    async def connect(self, mode):
        trust = ssl.create_default_context(cafile=self.card["ca_file"])

        async def note(response):
            self.requests.append((response.request.method, response.request.url.path, response.status_code))

        async with (
            httpx2.AsyncClient(auth=self.auth, verify=trust, event_hooks={"response": [note]}, timeout=60) as http,
            Client(streamable_http_client(self.endpoint, http_client=http), mode=mode) as client,
        ):
            yield client


async def judge_era(judge, card, mode, version):
    visitor = Visitor(card, card["clients"][0])
    async with visitor.connect(mode) as client:
        say = lambda name: f"{version}: {name}"  # noqa: E731
        judge.check(say("the version is agreed on"), client.protocol_version, version)
        judge.check(say("the server says its name"), client.server_info.name, "frontdesk")
        judge.check(
            say("401 leads to metadata, a token and the answer"),
            visitor.requests[:5],
            [
                ("POST", "/mcp/automotive", 401),
                ("GET", "/.well-known/oauth-protected-resource/mcp/automotive", 200),
                ("GET", "/.well-known/oauth-authorization-server", 200),
                ("POST", "/token", 200),
                ("POST", "/mcp/automotive", 200),
            ],
        )
        for part in (tools, search, resources, leads, refusals):
            try:
                await part(judge, say, client, visitor)
            except Exception as error:  # noqa: BLE001 - whatever stops a part is the part's failure, not the run's
                judge.stumble(say(f"{part.__name__} ran to its end"), error)
        statuses = sorted({status for _, _, status in visitor.requests})
        # The legacy era has a notification, which is taken without an answer.
        wanted = [200, 401, 403] if version == "2026-07-28" else [200, 202, 401, 403]
        judge.check(say("no answer had an unexpected status"), statuses, wanted)


async def tools(judge, say, client, visitor):
    listed = (await client.list_tools()).tools
    judge.check(say("the least scope lists the stock tools only"), sorted(tool.name for tool in listed), STOCK_TOOLS)
    judge.check(say("every tool has an output schema"), [tool.name for tool in listed if not tool.output_schema], [])
    judge.check(say("the first token carries the least scope"), visitor.memory.granted, [["amcp:inventory:read"]])


async def search(judge, say, client, visitor):
    wanted = {"make": "Toyota", "sort": "price_asc", "limit": 4}
    found = await walk(client, "inventory.search", wanted)
    every = await walk(client, "inventory.list", {"limit": 100})
    toyotas = {item["id"] for item in every if item["make"] == "Toyota"}
    prices = [item["price"]["amount"] for item in found]
    judge.check(say("the stock is whole over all pages"), len(every) >= 250, True)
    judge.check(say("a filtered search finds each match once"), sorted(item["id"] for item in found), sorted(toyotas))
    judge.check(say("a search is in the order asked for"), prices, sorted(prices))
    first = await call(client, "inventory.search", wanted)
    judge.check(say("a page is as long as asked for"), len(first.structured_content["items"]), 4)
    judge.check(
        say("the text says what the structure says"), json.loads(first.content[0].text), first.structured_content
    )


async def resources(judge, say, client, visitor):
    templates = (await client.list_resource_templates()).resource_templates
    judge.check(
        say("the templates of what the token may read are listed"),
        [template.uri_template for template in templates][:2],
        ["amcp://{dealership_id}/inventory{?cursor,limit}", "amcp://{dealership_id}/inventory/{id}"],
    )
    uris, cursor = [], None
    while True:
        page = await client.list_resources(cursor=cursor)
        uris += [str(resource.uri) for resource in page.resources]
        cursor = page.next_cursor
        if cursor is None:
            break
    vehicles = [uri for uri in uris if uri.startswith(f"amcp://{visitor.dealership}/inventory/")]
    judge.check(say("resources are listed once each, over pages"), (len(uris) > 250, len(set(uris))), (True, len(uris)))
    read = await client.read_resource(vehicles[0])
    told = await call(client, "inventory.get", {"id": vehicles[0].rsplit("/", 1)[1]})
    judge.check(
        say("a resource is what the tool answers"), json.loads(read.contents[0].text), told.structured_content
    )
    manifest = json.loads((await client.read_resource("amcp://manifest")).contents[0].text)
    judge.check(say("the manifest can be read"), isinstance(manifest, dict) and bool(manifest), True)


async def leads(judge, say, client, visitor):
    order = {**LEAD, "idempotency_key": f"judge-{client.protocol_version}"}
    first = await call(client, "leads.create", order)
    judge.check(
        say("the 403 widened the scope, keeping what was granted"),
        visitor.memory.granted,
        [["amcp:inventory:read"], ["amcp:inventory:read", "amcp:leads:write"]],
    )
    again = await call(client, "leads.create", order)
    judge.check(say("a repeated create is one lead"), again.structured_content, first.structured_content)
    conflict = await client.call_tool("leads.create", {**order, "interest": "sell"})
    judge.check(say("another order under the same key is a conflict"), code(conflict), "request.idempotency_conflict")
    without = {name: value for name, value in LEAD.items() if name != "consent"}
    refused = await client.call_tool("leads.create", {**without, "idempotency_key": "judge-no-consent"})
    judge.check(say("a lead without consent is refused"), code(refused), "consent.required")
    read = await call(client, "leads.get", {"id": first.structured_content["id"]})
    judge.check(say("who may read leads sees the contact"), read.structured_content["contact"], LEAD["contact"])
    masked = next(
        item for item in await walk(client, "leads.list", {"limit": 50}) if item["id"] == read.structured_content["id"]
    )
    judge.check(say("a list masks the contact"), masked["contact"]["email"] != LEAD["contact"]["email"], True)
    listed = sorted(tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools)
    judge.check(say("the wider token lists every tool"), listed, TOOLS)


async def refusals(judge, say, client, visitor):
    for name, wrong in (("an unknown id", {"id": "veh_nobody"}), ("a wrong argument", {"id": 7})):
        answer = await client.call_tool("inventory.get", wrong)
        told = answer.structured_content["error"]
        judge.check(say(f"{name} is a tool error with its text"), (answer.is_error, "message" in told), (True, True))
    unknown = client.call_tool("inventory.burn", {})
    judge.check(say("an unknown tool is a protocol error"), await rpc_error(unknown), -32602)
    # The code for a missing resource changed with the modern era.
    missing = -32002 if client.protocol_version < "2026" else -32602
    unknown = client.read_resource(f"amcp://{visitor.dealership}/inventory/veh_nobody")
    judge.check(say("an unknown resource is a protocol error"), await rpc_error(unknown), missing)


async def judge_strangers(judge, card):
    ours, theirs = (Visitor(card, entry) for entry in card["clients"])
    async with ours.connect("auto") as client, theirs.connect("auto") as other:
        mine = (await call(client, "inventory.list", {"limit": 1})).structured_content["items"][0]["id"]
        foreign = await other.call_tool("inventory.get", {"id": mine})
        unknown = await other.call_tool("inventory.get", {"id": "veh_nobody"})
        judge.check(
            "another dealership's vehicle is one that does not exist",
            (foreign.is_error, foreign.structured_content),
            (True, unknown.structured_content),
        )
    try:
        async with Visitor(card, card["clients"][0], secret="fds_wrong").connect("auto"):
            judge.stumble("a wrong secret is refused", AssertionError("it was let in"))
    except BaseException as error:  # noqa: BLE001 - the library wraps the refusal in groups
        names = [type(cause).__name__ for cause in causes(error)]
        wanted = {OAuthTokenError.__name__, OAuthFlowError.__name__, MCPError.__name__}
        judge.check("a wrong secret is refused", bool(wanted & set(names)) or names, True)


async def judge_site(judge, card, mode, version):
    say = lambda name: f"{version}, site: {name}"  # noqa: E731
    visitor = Visitor(card, card["site"])
    async with visitor.connect(mode) as client:
        judge.check(say("the version is agreed on"), client.protocol_version, version)
        judge.check(say("the server says its name"), client.server_info.name, "eMCP Content Server")
        judge.check(say("the first token carries the least scope"), visitor.memory.granted, [["mcp:read"]])
        listed = (await client.list_tools()).tools
        judge.check(say("fourteen tools are listed"), sorted(tool.name for tool in listed), SITE_TOOLS)
        found = await call(client, "evo.content.search", {"limit": 3, "with_tvs": ["price"]})
        judge.check(say("the 403 widened the scope"), visitor.memory.granted[-1], ["mcp:call", "mcp:read"])
        items = found.structured_content["items"]
        judge.check(say("a search is as long as asked for"), len(items), 3)
        judge.check(
            say("the text says what the structure says"), json.loads(found.content[0].text), found.structured_content
        )
        page = await call(client, "evo.content.get", {"id": items[0]["id"], "with_tvs": ["price"]})
        judge.check(say("a page is what the search showed"), page.structured_content["item"], items[0])
        judge.check(say("a wrong argument is named"), await rpc_error(client.call_tool("evo.content.get", {"id": 0})), -32602)
        judge.check(say("an unknown tool is not found"), await rpc_error(client.call_tool("evo.content.burn", {})), -32601)


async def call(client, tool, arguments):
    """The answer of a call that must succeed; the library has checked it against the tool's schema."""
    answer = await client.call_tool(tool, arguments)
    if answer.is_error:
        raise AssertionError(f"{tool} answered {answer.structured_content}")
    return answer


async def walk(client, tool, arguments):
    """Every item, page by page."""
    items, cursor = [], None
    while True:
        page = (await call(client, tool, arguments | ({"cursor": cursor} if cursor else {}))).structured_content
        items += page["items"]
        cursor = page.get("next_cursor")
        if cursor is None:
            return items


def code(answer):
    return answer.structured_content.get("error", {}).get("code") if answer.is_error else "no error"


async def rpc_error(asked):
    try:
        return await asked
    except MCPError as error:
        return error.code


async def run(judge, card):
    for mode, version in (("auto", "2026-07-28"), ("legacy", "2025-11-25")):
        try:
            await judge_era(judge, card, mode, version)
        except Exception as error:  # noqa: BLE001 - the other era is judged all the same
            judge.stumble(f"{version}: the client connects", error)
        try:
            await judge_site(judge, card, mode, version)
        except Exception as error:  # noqa: BLE001
            judge.stumble(f"{version}: the site is judged", error)
    try:
        await judge_strangers(judge, card)
    except Exception as error:  # noqa: BLE001
        judge.stumble("strangers are kept apart", error)


def main() -> int:
    # The library logs every refusal with a traceback; refusals are what is asked for here.
    logging.disable(logging.CRITICAL)
    judge = Judge()

    def work(binary, folder):
        with demo(judge, binary, folder) as card:
            asyncio.run(asyncio.wait_for(run(judge, card), 120))

    return judged(judge, work)


if __name__ == "__main__":
    sys.exit(main())
