#!/usr/bin/env python3
"""The server and version 2 of the official MCP client for Python, over TLS, in both eras of the protocol.

Starts `BINARY demo` on a folder of its own and lets the client find its own credentials: it is told the endpoint, the CA file,
a client id and a secret, and nothing else. Its own OAuth provider discovers the authorization server and the scopes from
the 401, and so sees every tool; a token of less scope it widens through the 403. Its own JSON Schema validator checks
every answer against the tool's `outputSchema`.

    python3 scripts/interop/python_client.py target/debug/frontdesk

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
from mcp.shared.auth import OAuthToken

from harness import LEAD, SCOPES, SITE_TOOLS, STOCK_TOOLS, TOOLS, Checks, TokenStorage, causes, demo, run_checks


STOCK = "amcp:inventory:read"


class DemoClient:
    """One of the demo's clients, as the official library is set up for it."""

    def __init__(self, banner, entry, secret=None):
        self.banner = banner
        # The client of the demo's website says where that is.
        self.endpoint = entry.get("endpoint", banner["endpoint"])
        self.dealership = entry.get("dealership_id")
        self.memory = TokenStorage()
        self.requests = []
        self.auth = ClientCredentialsOAuthProvider(
            server_url=self.endpoint,
            storage=self.memory,
            client_id=entry["id"],
            client_secret=secret or entry["secret"],
            issuer=banner["endpoint"].removesuffix("/mcp/automotive"),
        )

    @asynccontextmanager
    async def connect(self, mode):
        trust = ssl.create_default_context(cafile=self.banner["ca_file"])

        async def note(response):
            self.requests.append((response.request.method, response.request.url.path, response.status_code))

        async with (
            httpx2.AsyncClient(auth=self.auth, verify=trust, event_hooks={"response": [note]}, timeout=60) as http,
            Client(streamable_http_client(self.endpoint, http_client=http), mode=mode) as client,
        ):
            yield client


async def check_era(checks, banner, mode, version):
    demo_client = DemoClient(banner, banner["clients"][0])
    async with demo_client.connect(mode) as client:
        label = lambda name: f"{version}: {name}"  # noqa: E731
        checks.equal(label("the version is agreed on"), client.protocol_version, version)
        checks.equal(label("the server says its name"), client.server_info.name, "frontdesk")
        checks.equal(
            label("401 leads to metadata, a token and the answer"),
            demo_client.requests[:5],
            [
                ("POST", "/mcp/automotive", 401),
                ("GET", "/.well-known/oauth-protected-resource/mcp/automotive", 200),
                ("GET", "/.well-known/oauth-authorization-server", 200),
                ("POST", "/token", 200),
                ("POST", "/mcp/automotive", 200),
            ],
        )
        for part in (tools, search, resources, leads, sale, workshop, refusals):
            try:
                await part(checks, label, client, demo_client)
            except Exception as error:  # noqa: BLE001 - whatever stops a part is the part's failure, not the run's
                checks.fail(label(f"{part.__name__} ran to its end"), error)
        statuses = sorted({status for _, _, status in demo_client.requests})
        # The legacy era has a notification, which is taken without an answer.
        wanted = [200, 401] if version == "2026-07-28" else [200, 202, 401]
        checks.equal(label("no answer had an unexpected status"), statuses, wanted)


async def tools(checks, label, client, demo_client):
    listed = (await client.list_tools()).tools
    checks.equal(label("every tool is listed, though no scope was named"), sorted(tool.name for tool in listed), TOOLS)
    checks.equal(label("every tool has an output schema"), [tool.name for tool in listed if not tool.output_schema], [])
    checks.equal(label("the only token carries what the 401 names"), demo_client.memory.granted, [SCOPES])


async def search(checks, label, client, demo_client):
    wanted = {"make": "Toyota", "sort": "price_asc", "limit": 4}
    found = await walk(client, "inventory.search", wanted)
    every = await walk(client, "inventory.list", {"limit": 100})
    toyotas = {item["id"] for item in every if item["make"] == "Toyota"}
    prices = [item["price"]["amount"] for item in found]
    checks.equal(label("the stock is whole over all pages"), len(every) >= 250, True)
    checks.equal(label("a filtered search finds each match once"), sorted(item["id"] for item in found), sorted(toyotas))
    checks.equal(label("a search is in the order asked for"), prices, sorted(prices))
    first = await call(client, "inventory.search", wanted)
    checks.equal(label("a page is as long as asked for"), len(first.structured_content["items"]), 4)
    checks.equal(
        label("the text says what the structure says"), json.loads(first.content[0].text), first.structured_content
    )


async def resources(checks, label, client, demo_client):
    templates = (await client.list_resource_templates()).resource_templates
    checks.equal(
        label("the templates of what the token may read are listed"),
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
    vehicles = [uri for uri in uris if uri.startswith(f"amcp://{demo_client.dealership}/inventory/")]
    checks.equal(label("resources are listed once each, over pages"), (len(uris) > 250, len(set(uris))), (True, len(uris)))
    read = await client.read_resource(vehicles[0])
    told = await call(client, "inventory.get", {"id": vehicles[0].rsplit("/", 1)[1]})
    checks.equal(
        label("a resource is what the tool answers"), json.loads(read.contents[0].text), told.structured_content
    )
    manifest = json.loads((await client.read_resource("amcp://manifest")).contents[0].text)
    checks.equal(label("the manifest can be read"), isinstance(manifest, dict) and bool(manifest), True)


async def leads(checks, label, client, demo_client):
    order = {**LEAD, "idempotency_key": f"interop-{client.protocol_version}"}
    first = await call(client, "leads.create", order)
    again = await call(client, "leads.create", order)
    checks.equal(label("a repeated create is one lead"), again.structured_content, first.structured_content)
    conflict = await client.call_tool("leads.create", {**order, "interest": "sell"})
    checks.equal(label("another order under the same key is a conflict"), code(conflict), "request.idempotency_conflict")
    without = {name: value for name, value in LEAD.items() if name != "consent"}
    refused = await client.call_tool("leads.create", {**without, "idempotency_key": "interop-no-consent"})
    checks.equal(label("a lead without consent is refused"), code(refused), "consent.required")
    read = await call(client, "leads.get", {"id": first.structured_content["id"]})
    checks.equal(label("who may read leads sees the contact"), read.structured_content["contact"], LEAD["contact"])
    masked = next(
        item for item in await walk(client, "leads.list", {"limit": 50}) if item["id"] == read.structured_content["id"]
    )
    checks.equal(label("a list masks the contact"), masked["contact"]["email"] != LEAD["contact"]["email"], True)


async def sale(checks, label, client, demo_client):
    """From a stock number that was taken for an id to a delivered car."""
    key = client.protocol_version
    stock = (await call(client, "inventory.search", {"status": "available", "limit": 1})).structured_content["items"][0]
    wrong = await client.call_tool("inventory.get", {"id": stock["stock_number"]})
    wanted = "; search by stock_number with inventory.search."
    checks.equal(label("a stock number is recognised"), wrong.structured_content["error"]["message"].endswith(wanted), True)
    found = await call(client, "inventory.search", {"stock_number": stock["stock_number"]})
    vehicle = found.structured_content["items"][0]["id"]
    contact = {"name": "Uma Thorsen", "email": f"uma.{key}@example.com"}
    consent = {"granted": True, "channels": ["email"]}
    customer = (await call(client, "customers.create", {"primary_contact": contact, "consent": consent})).structured_content["id"]
    about = {"contact": contact, "consent": consent, "interest": "buy", "customer_id": customer, "vehicle_id": vehicle}
    lead = (await call(client, "leads.create", about)).structured_content["id"]
    may = {"customer_id": customer, "channel": "email", "purpose": "lead_follow_up"}
    checks.equal(label("consent is known"), (await call(client, "consent.check", may)).structured_content["allowed"], True)
    terms = {"vehicle_id": vehicle, "deal_type": "retail_finance", "term_months": 60, "apr_basis_points": 599}
    quote = (await call(client, "deals.request_quote", terms)).structured_content
    paid = sum(group["count"] * group["amount"]["amount"] for group in quote["payments"])
    checks.equal(label("the payments add up"), paid, quote["totals"]["total_of_payments"]["amount"])
    deal = (await call(client, "deals.create", {**terms, "customer_id": customer, "lead_id": lead})).structured_content
    checks.equal(label("a deal has the figures of its quote"), deal["totals"], quote["totals"])
    for status in ("accepted", "delivered"):
        await call(client, "deals.update", {"id": deal["id"], "status": status})
    sold = [
        (await call(client, tool, {"id": id})).structured_content["status"]
        for tool, id in (("inventory.get", vehicle), ("leads.get", lead))
    ]
    checks.equal(label("car and lead are sold"), sold, ["sold", "sold"])


async def workshop(checks, label, client, demo_client):
    """A time that was asked for is booked, and becomes a repair order."""
    asked = {"service_codes": ["OIL"], "max_slots": 1}
    slot = (await call(client, "service.check_availability", asked)).structured_content["slots"][0]
    order = {"vin": "1HGCM82633A004352", "start": slot["start"], "service_codes": ["OIL"]}
    booked = (await call(client, "service.book_appointment", order)).structured_content
    checks.equal(label("the time is booked"), (booked["status"], booked["local_start"]), ("booked", slot["local_start"]))
    number = f"RO-{client.protocol_version}"
    order = {"ro_number": number, "appointment_id": booked["appointment_id"]}
    made = (await call(client, "service.create_repair_order", order)).structured_content
    read = (await call(client, "service.get_appointment", {"id": booked["id"]})).structured_content
    checks.equal(label("the order is the appointment's"), (read["status"], read["repair_order_id"]), ("checked_in", made["id"]))
    refused = await client.call_tool("service.cancel_appointment", {"id": booked["id"]})
    checks.equal(label("it is not cancelled any more"), code(refused), "service.invalid_transition")


async def refusals(checks, label, client, demo_client):
    for name, wrong in (("an unknown id", {"id": "veh_nobody"}), ("a wrong argument", {"id": 7})):
        answer = await client.call_tool("inventory.get", wrong)
        told = answer.structured_content["error"]
        checks.equal(label(f"{name} is a tool error with its text"), (answer.is_error, "message" in told), (True, True))
    unknown = client.call_tool("inventory.burn", {})
    checks.equal(label("an unknown tool is a protocol error"), await rpc_error(unknown), -32602)
    # The code for a missing resource changed with the modern era.
    missing = -32002 if client.protocol_version < "2026" else -32602
    unknown = client.read_resource(f"amcp://{demo_client.dealership}/inventory/veh_nobody")
    checks.equal(label("an unknown resource is a protocol error"), await rpc_error(unknown), missing)


async def check_widening(checks, banner, mode, version):
    """A client that begins with a token of less scope."""
    label = lambda name: f"{version}, less scope: {name}"  # noqa: E731
    demo_client = DemoClient(banner, banner["clients"][0])
    entry, trust = banner["clients"][0], ssl.create_default_context(cafile=banner["ca_file"])
    async with httpx2.AsyncClient(verify=trust) as http:
        form = {"grant_type": "client_credentials", "scope": STOCK}
        answer = await http.post(banner["token_endpoint"], data=form, auth=(entry["id"], entry["secret"]))
    await demo_client.memory.set_tokens(OAuthToken.model_validate(answer.json()))
    async with demo_client.connect(mode) as client:
        listed = sorted(tool.name for tool in (await client.list_tools()).tools)
        checks.equal(label("it lists the stock tools only"), listed, STOCK_TOOLS)
        await call(client, "leads.create", {**LEAD, "idempotency_key": f"interop-widened-{version}"})
        checks.equal(
            label("the 403 widened the scope, keeping what was granted"),
            demo_client.memory.granted,
            [[STOCK], [STOCK, "amcp:leads:write"]],
        )


async def check_isolation(checks, banner):
    ours, theirs = (DemoClient(banner, entry) for entry in banner["clients"][:2])
    async with ours.connect("auto") as client, theirs.connect("auto") as other:
        mine = (await call(client, "inventory.list", {"limit": 1})).structured_content["items"][0]["id"]
        foreign = await other.call_tool("inventory.get", {"id": mine})
        unknown = await other.call_tool("inventory.get", {"id": "veh_nobody"})
        checks.equal(
            "another dealership's vehicle is one that does not exist",
            (foreign.is_error, foreign.structured_content),
            (True, unknown.structured_content),
        )
    try:
        async with DemoClient(banner, banner["clients"][0], secret="fds_wrong").connect("auto"):
            checks.fail("a wrong secret is refused", AssertionError("it was let in"))
    except BaseException as error:  # noqa: BLE001 - the library wraps the refusal in groups
        names = [type(cause).__name__ for cause in causes(error)]
        wanted = {OAuthTokenError.__name__, OAuthFlowError.__name__, MCPError.__name__}
        checks.equal("a wrong secret is refused", bool(wanted & set(names)) or names, True)


async def check_site(checks, banner, mode, version):
    label = lambda name: f"{version}, site: {name}"  # noqa: E731
    demo_client = DemoClient(banner, banner["site"])
    async with demo_client.connect(mode) as client:
        checks.equal(label("the version is agreed on"), client.protocol_version, version)
        checks.equal(label("the server says its name"), client.server_info.name, "eMCP Content Server")
        listed = (await client.list_tools()).tools
        checks.equal(label("fourteen tools are listed"), sorted(tool.name for tool in listed), SITE_TOOLS)
        found = await call(client, "evo.content.search", {"limit": 3, "with_tvs": ["price"]})
        checks.equal(label("one token lists and calls"), demo_client.memory.granted, [["mcp:call", "mcp:read"]])
        items = found.structured_content["items"]
        checks.equal(label("a search is as long as asked for"), len(items), 3)
        checks.equal(
            label("the text says what the structure says"), json.loads(found.content[0].text), found.structured_content
        )
        page = await call(client, "evo.content.get", {"id": items[0]["id"], "with_tvs": ["price"]})
        checks.equal(label("a page is what the search showed"), page.structured_content["item"], items[0])
        checks.equal(label("a wrong argument is named"), await rpc_error(client.call_tool("evo.content.get", {"id": 0})), -32602)
        checks.equal(label("an unknown tool is not found"), await rpc_error(client.call_tool("evo.content.burn", {})), -32601)


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


async def run(checks, banner):
    for mode, version in (("auto", "2026-07-28"), ("legacy", "2025-11-25")):
        try:
            await check_era(checks, banner, mode, version)
        except Exception as error:  # noqa: BLE001 - the other era is run_checks all the same
            checks.fail(f"{version}: the client connects", error)
        try:
            await check_widening(checks, banner, mode, version)
        except Exception as error:  # noqa: BLE001
            checks.fail(f"{version}: less scope is widened", error)
        try:
            await check_site(checks, banner, mode, version)
        except Exception as error:  # noqa: BLE001
            checks.fail(f"{version}: the site is run_checks", error)
    try:
        await check_isolation(checks, banner)
    except Exception as error:  # noqa: BLE001
        checks.fail("strangers are kept apart", error)


def main() -> int:
    # The library logs every refusal with a traceback; refusals are what is asked for here.
    logging.disable(logging.CRITICAL)
    checks = Checks()

    def work(binary, folder):
        with demo(checks, binary, folder) as banner:
            asyncio.run(asyncio.wait_for(run(checks, banner), 120))

    return run_checks(checks, work)


if __name__ == "__main__":
    sys.exit(main())
