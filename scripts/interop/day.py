#!/usr/bin/env python3
"""A day at a dealership, twice: by version 2 of the official MCP client for Python, and once more over REST.

An agent finds a car, records consent, creates a lead, has a trade valued, asks for a quote, opens a deal, applies for credit
with a recent login, books the workshop and orders a part. Both ways call the same tools with the same arguments; over REST
the addresses come from the server's own OpenAPI document.

    python3 scripts/interop/day.py target/debug/frontdesk

Needs `pip install mcp==2.3.0`.
"""

import asyncio
import base64
import hashlib
import json
import os
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from harness import Checks, demo, run_checks

DOMAINS = ["consent", "deals", "inventory", "leads", "parts", "service", "signals"]
ORDINARY = [f"amcp:{domain}:{access}" for domain in DOMAINS for access in ["read", "write"] if domain != "signals"]
REDIRECT = "https://agent.example/cb"
CREDIT = ["amcp:deals:read", "amcp:fni:read", "amcp:fni:write"]
CHALLENGE = 'Bearer error="insufficient_user_authentication"'


class Refusal(Exception):
    """A call that the server refused: the HTTP status and the challenge, or the code of the error."""

    def __init__(self, status, challenge, code):
        super().__init__(status, challenge, code)
        self.status, self.challenge, self.code = status, challenge, code


class McpAgent:
    """Calls tools with the official client."""

    def __init__(self, client, answers):
        self.client, self.answers = client, answers

    async def call(self, tool, arguments):
        self.answers.clear()
        try:
            answer = await self.client.call_tool(tool, arguments)
        except Exception as error:
            status, challenge = self.answers[-1] if self.answers else (None, "")
            raise Refusal(status, challenge, None) from error
        if answer.is_error:
            raise Refusal(200, "", answer.structured_content["error"]["code"])
        return answer.structured_content


@asynccontextmanager
async def mcp_agent(desk, token):
    trust = ssl.create_default_context(cafile=desk["ca_file"])
    answers = []

    async def note(response):
        answers.append((response.status_code, response.headers.get("www-authenticate", "")))

    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(verify=trust, headers=headers, event_hooks={"response": [note]}, timeout=60) as http,
        Client(streamable_http_client(desk["endpoint"], http_client=http)) as client,
    ):
        yield McpAgent(client, answers)


class RestAgent:
    """Calls the routes of the same tools: an operation's id is the name of its tool."""

    def __init__(self, desk, token):
        self.base = desk["mounts"][0]["rest"]
        self.token = token
        self.trust = ssl.create_default_context(cafile=desk["ca_file"])
        document = json.load(urllib.request.urlopen(f"{self.base}/openapi.json", context=self.trust))
        self.routes = {
            operation["operationId"]: (verb.upper(), path)
            for path, operations in document["paths"].items()
            for verb, operation in operations.items()
            if isinstance(operation, dict) and "operationId" in operation
        }

    async def call(self, tool, arguments):
        verb, path = self.routes[tool]
        left = dict(arguments)
        for name in [name for name in left if f"{{{name}}}" in path]:
            path = path.replace(f"{{{name}}}", left.pop(name))
        headers, body = {"Authorization": f"Bearer {self.token}"}, None
        if verb == "GET":
            path += "?" + urllib.parse.urlencode(list(query(left)))
        else:
            headers["Content-Type"] = "application/json"
            body = json.dumps(left).encode()
        request = urllib.request.Request(f"{self.base}{path}", body, headers, method=verb)
        try:
            with urllib.request.urlopen(request, context=self.trust) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            text = json.loads(error.read() or b"{}")
            code = text.get("error", {}).get("code")
            raise Refusal(error.code, error.headers.get("www-authenticate", ""), code) from error


def query(arguments):
    """Parameters of an address: `price_max[amount]=1` for objects, one of each item for lists."""
    for name, value in arguments.items():
        if isinstance(value, dict):
            yield from ((f"{name}[{member}]", inner) for member, inner in value.items())
        elif isinstance(value, list):
            yield from ((name, item) for item in value)
        else:
            yield (name, value)


@asynccontextmanager
async def rest_agent(desk, token):
    yield RestAgent(desk, token)


async def day(checks, label, open_agent, desk, tokens):
    """The same calls, whichever way they go."""
    async with open_agent(desk, tokens["ordinary"]) as agent:
        deal, customer, consent = await sell(checks, label, agent)
        try:
            await agent.call("fni.create_credit_application", application(customer, deal, consent, label("")))
            checks.fail(label("credit needs its own scope"), AssertionError("it was accepted"))
        except Refusal as refused:
            checks.equal(label("credit needs its own scope"), refused.status, 403)
        await workshop_and_parts(checks, label, agent, customer)
    async with open_agent(desk, tokens["without_login"]) as agent:
        try:
            await agent.call("fni.create_credit_application", application(customer, deal, consent, label("")))
            checks.fail(label("credit needs a recent login"), AssertionError("it was accepted"))
        except Refusal as refused:
            told = (refused.status, CHALLENGE in refused.challenge, 'max_age="300"' in refused.challenge)
            checks.equal(label("credit needs a recent login"), told, (401, True, True))
    async with open_agent(desk, tokens["step_up"]) as agent:
        await apply(checks, label, agent, application(customer, deal, consent, label("")), deal)


async def sell(checks, label, agent):
    found = await agent.call("inventory.search", {"status": "available", "condition": "used", "limit": 1})
    car = found["items"][0]
    checks.equal(label("a car is found"), car["status"], "available")
    contact = {"name": "Noor Bakker", "email": f"noor.{label('day').strip(': ')}@example.com".replace(" ", "-")}
    granted = {"granted": True, "channels": ["email"]}
    customer = (await agent.call("customers.create", {"primary_contact": contact, "consent": granted}))["id"]
    statement = {"customer_id": customer, "status": "granted", "purpose": "credit_inquiry", "channels": ["email"]}
    consent = (await agent.call("consent.create", statement))["id"]
    may = {"customer_id": customer, "channel": "email", "purpose": "credit_inquiry"}
    checks.equal(label("consent is recorded"), (await agent.call("consent.check", may))["allowed"], True)
    about = {"contact": contact, "consent": granted, "interest": "buy", "customer_id": customer, "vehicle_id": car["id"]}
    lead = (await agent.call("leads.create", about))["id"]
    trade = {"make": "Toyota", "model": "Camry", "year": 2021, "mileage": {"value": 40000, "unit": "mi"}}
    valued = await agent.call("deals.request_trade_value", {**trade, "condition": "good"})
    checks.equal(label("the trade is valued"), valued["status"], "valued")
    taken = {**trade, "allowance": valued["value"], "trade_value_id": valued["id"]}
    terms = {"vehicle_id": car["id"], "deal_type": "retail_finance", "term_months": 60, "apr_basis_points": 599}
    terms["trades"] = [taken]
    # A quote has lists and objects among its arguments, so it is asked for with a body in either way.
    quote = await agent.call("deals.request_quote", terms)
    deal = await agent.call("deals.create", {**terms, "customer_id": customer, "lead_id": lead})
    checks.equal(label("the deal has the figures of its quote"), deal["totals"], quote["totals"])
    return deal["id"], customer, consent


def application(customer, deal, consent, key):
    return {
        "customer_id": customer,
        "deal_id": deal,
        "consent_id": consent,
        "permissible_purpose": "credit_transaction",
        "applicant": {"name": "Noor Bakker", "email": "noor@example.com"},
        "amount_requested": {"amount": 1500000, "currency": "USD"},
        "residence": {
            **{"street": "1 Sample Street", "city": "Austin", "region": "TX", "postal_code": "78701", "country": "US"},
            **{"residence_type": "rent", "months": 30},
        },
        "employment": {"status": "employed", "months": 40, "gross_monthly_income": {"amount": 520000, "currency": "USD"}},
        "ssn": "900-12-3456",
        "birth_date": "1990-02-28",
        "idempotency_key": f"credit-{key}".replace(" ", "-"),
    }


async def apply(checks, label, agent, asked, deal):
    made = await agent.call("fni.create_credit_application", asked)
    checks.equal(label("a credit application is made"), (made["status"], made["ssn_last4"]), ("draft", "3456"))
    submitted = await agent.call("fni.update_credit_application", {"id": made["id"], "status": "submitted"})
    checks.equal(label("and submitted"), submitted["status"], "submitted")
    shown = json.dumps([made, submitted])
    checks.equal(label("without the numbers"), [word for word in ("900-12", "900123456", "1990-02-28") if word in shown], [])
    read = await agent.call("deals.get", {"id": deal})
    checks.equal(label("the deal shows that it is being financed"), read["financing_status"], "submitted")


async def workshop_and_parts(checks, label, agent, customer):
    slots = await agent.call("service.check_availability", {"service_codes": ["OIL"], "max_slots": 1})
    start = slots["slots"][0]["start"]
    order = {"vin": "1HGCM82633A004352", "start": start, "service_codes": ["OIL"], "customer_id": customer}
    checks.equal(label("the workshop is booked"), (await agent.call("service.book_appointment", order))["status"], "booked")
    part = next(one for one in (await agent.call("parts.list", {"limit": 50}))["items"] if one["quantity_available"] > 2)
    number = part["part_number"]
    known = await agent.call("parts.check_availability", {"part_numbers": [number]})
    checks.equal(label("a part is in stock"), known["parts"][0]["availability"], "in_stock")
    lines = [{"part_number": number, "quantity": 1}]
    ordered = await agent.call("parts.create_order", {"lines": lines, "customer_id": customer})
    filled = ordered["lines"][0]["quantity_filled"]
    checks.equal(label("and ordered"), (filled, ordered["total"]["amount"] >= part["price"]["amount"]), (1, True))
    left = (await agent.call("parts.get", {"id": part["id"]}))["quantity_available"]
    checks.equal(label("so there is one less"), left, part["quantity_available"] - 1)


def logged_in(desk, trust, client, dealership, scopes):
    """What an agent gets after the user of the demo has logged in with a browser and allowed these scopes."""

    class NoRedirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    cookies = urllib.request.HTTPCookieProcessor()
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=trust), cookies, NoRedirect)
    base = desk["token_endpoint"].removesuffix("/token")

    def send(path, form=None):
        body = form and urllib.parse.urlencode(form).encode()
        try:
            with opener.open(base + path, body) as answer:
                return answer.read().decode(), None
        except urllib.error.HTTPError as answer:
            return answer.read().decode(), answer.headers.get("Location")

    def token_of(page):
        return re.search(r'name="form_token" value="([^"]+)"', page)[1]

    verifier = base64.urlsafe_b64encode(os.urandom(32)).rstrip(b"=").decode()
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    query = urllib.parse.urlencode({
        "response_type": "code", "client_id": client, "redirect_uri": REDIRECT, "scope": " ".join(scopes),
        "code_challenge": challenge, "code_challenge_method": "S256", "state": "day"})
    page, _ = send(f"/authorize?{query}")
    user = desk["user"]
    login = {"form_token": token_of(page), "next": query, "name": user["name"], "password": user["password"]}
    _, location = send("/login", login)
    page, _ = send(location)
    decision = {"form_token": token_of(page), "request": query, "decision": "allow", "dealership": dealership}
    _, location = send("/consent", decision | {f"scope:{scope}": "on" for scope in scopes})
    code = urllib.parse.parse_qs(urllib.parse.urlparse(location).query)["code"][0]
    answer, _ = send("/token", {"grant_type": "authorization_code", "client_id": client, "code": code,
                                "redirect_uri": REDIRECT, "code_verifier": verifier})
    return json.loads(answer)["access_token"]


def tokens_of(binary, desk):
    """What the demo's client gets by its secret, what a client for credit gets, and what an agent gets after a login."""
    trust = ssl.create_default_context(cafile=desk["ca_file"])

    def run(*arguments):
        command = [binary, *arguments, "--data", desk["data"]]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def token(client, scopes):
        form = urllib.parse.urlencode({"grant_type": "client_credentials", "scope": " ".join(scopes)}).encode()
        basic = base64.b64encode(f"{client['id']}:{client['secret']}".encode()).decode()
        request = urllib.request.Request(desk["token_endpoint"], form, {"Authorization": f"Basic {basic}"})
        with urllib.request.urlopen(request, context=trust) as answer:
            return json.load(answer)["access_token"]

    first = desk["clients"][0]
    scopes = [word for scope in CREDIT for word in ("--scope", scope)]
    added = run("client", "add", "--name", "Credit desk", "--tenant", first["dealership_id"], *scopes, "--json")
    credit = json.loads(added)
    agent = json.loads(run("client", "add", "--name", "Assistant", "--redirect-uri", REDIRECT, "--json"))
    return {
        "ordinary": token(first, ORDINARY),
        "without_login": token(credit, CREDIT),
        "step_up": logged_in(desk, trust, agent["id"], first["dealership_id"], CREDIT),
    }


def main():
    checks = Checks()

    def work(binary, folder):
        with demo(checks, binary, folder) as desk:
            for name, open_agent in (("mcp", mcp_agent), ("rest", rest_agent)):
                label = lambda text, name=name: f"{name}: {text}"  # noqa: E731
                try:
                    asyncio.run(day(checks, label, open_agent, desk, tokens_of(str(Path(binary).resolve()), desk)))
                except BaseException as error:  # noqa: BLE001 - whatever stops a day is its failure
                    checks.fail(label("the day ran to its end"), error)

    return run_checks(checks, work)


if __name__ == "__main__":
    sys.exit(main())
