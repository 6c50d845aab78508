// A day at a dealership by version 2 of the official TypeScript SDK: find a car, record consent, create a lead, value a trade,
// quote, open a deal, apply for credit with a recent login, book the workshop, order a part. scripts/interop/day.py does the
// same in Python and over REST.
//
//     node day.mjs FRONTDESK-BINARY

import { createHash, randomBytes } from "node:crypto";
import { spawnSync } from "node:child_process";
import tls from "node:tls";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { Checks, startDesk, token } from "./desk.mjs";

const DOMAINS = ["consent", "deals", "inventory", "leads", "parts", "service"];
const ORDINARY = DOMAINS.flatMap((domain) => [`amcp:${domain}:read`, `amcp:${domain}:write`]).join(" ");
const REDIRECT = "https://agent.example/cb";
const CREDIT = ["amcp:deals:read", "amcp:fni:read", "amcp:fni:write"];

const checks = new Checks();
/** The challenge and the status of each answer. */
const statuses = [];
const binary = process.argv[2];
const desk = await startDesk(binary, (data) => ["demo", "--json", "--listen", "127.0.0.1:0", "--data", data]);
try {
  tls.setDefaultCACertificates([...tls.getCACertificates("default"), desk.ca]);
  await day();
} catch (error) {
  checks.fail("the day ran to its end", error);
} finally {
  checks.equal("the server exits with 0", await desk.close(), 0);
}
process.exit(checks.exitCode());

async function day() {
  const [entry] = desk.banner.clients;
  const agent = await connect(await token(desk, entry, ORDINARY));
  const sale = await sell(agent);
  await workshopAndParts(agent, sale.customer);
  await agent.close();

  const scopes = CREDIT.flatMap((scope) => ["--scope", scope]);
  const credit = command("client", "add", "--name", "Credit desk", "--tenant", entry.dealership_id, ...scopes);
  const weak = await connect(await token(desk, credit, CREDIT.join(" ")));
  let refused = "it was accepted";
  await weak.callTool({ name: "fni.create_credit_application", arguments: application(sale) }).catch(() => (refused = statuses.at(-1)));
  checks.equal("credit needs a recent login", refused, 'Bearer error="insufficient_user_authentication" 401');
  await weak.close();

  const assistant = command("client", "add", "--name", "Assistant", "--redirect-uri", REDIRECT);
  await apply(await connect(await logIn(assistant.id, entry.dealership_id)), sale);
}

/** What an agent gets after the user of the demo has logged in with a browser and allowed credit data. */
async function logIn(client, dealership) {
  const base = desk.banner.token_endpoint.replace(/\/token$/, "");
  let cookie = "";
  const send = async (path, form) => {
    const headers = cookie ? { cookie } : {};
    const init = form ? { method: "POST", body: new URLSearchParams(form), headers } : { headers };
    const answer = await fetch(base + path, { ...init, redirect: "manual" });
    cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? cookie;
    return { text: await answer.text(), location: answer.headers.get("location") };
  };
  const tokenOf = (page) => /name="form_token" value="([^"]+)"/.exec(page.text)[1];
  const verifier = randomBytes(32).toString("base64url");
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const query = new URLSearchParams({
    response_type: "code", client_id: client, redirect_uri: REDIRECT, scope: CREDIT.join(" "),
    code_challenge: challenge, code_challenge_method: "S256", state: "day",
  }).toString();
  const login = await send(`/authorize?${query}`);
  const entered = await send("/login", { form_token: tokenOf(login), next: query, ...desk.banner.user });
  const page = await send(entered.location);
  const ticked = Object.fromEntries(CREDIT.map((scope) => [`scope:${scope}`, "on"]));
  const decided = await send("/consent", { form_token: tokenOf(page), request: query, decision: "allow", dealership, ...ticked });
  const code = new URL(decided.location).searchParams.get("code");
  const answer = await send("/token", {
    grant_type: "authorization_code", client_id: client, code, redirect_uri: REDIRECT, code_verifier: verifier,
  });
  return JSON.parse(answer.text).access_token;
}

async function connect(bearer) {
  const transport = new StreamableHTTPClientTransport(new URL(desk.banner.endpoint), {
    requestInit: { headers: { Authorization: `Bearer ${bearer}` } },
    async fetch(url, init) {
      const answer = await fetch(url, init);
      const [challenge] = (answer.headers.get("www-authenticate") ?? "").split(",");
      statuses.push(`${challenge} ${answer.status}`);
      return answer;
    },
  });
  const client = new Client({ name: "interop", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  // The SDK checks structured answers by the schemas that it was listed.
  await client.listTools();
  return client;
}

/** What a command prints as JSON. */
function command(...args) {
  const { status, stdout, stderr } = spawnSync(binary, [...args, "--json", "--data", desk.banner.data], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${args[0]} ${args[1]} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

async function call(client, name, args) {
  const answer = await client.callTool({ name, arguments: args });
  if (answer.isError) throw new Error(`${name} answered ${JSON.stringify(answer.structuredContent)}`);
  return answer.structuredContent;
}

async function sell(agent) {
  const found = await call(agent, "inventory.search", { status: "available", condition: "used", limit: 1 });
  const [car] = found.items;
  checks.equal("a car is found", car.status, "available");
  const contact = { name: "Noor Bakker", email: "noor.day@example.com" };
  const granted = { granted: true, channels: ["email"] };
  const customer = (await call(agent, "customers.create", { primary_contact: contact, consent: granted })).id;
  const statement = { customer_id: customer, status: "granted", purpose: "credit_inquiry", channels: ["email"] };
  const consent = (await call(agent, "consent.create", statement)).id;
  const may = { customer_id: customer, channel: "email", purpose: "credit_inquiry" };
  checks.equal("consent is recorded", (await call(agent, "consent.check", may)).allowed, true);
  const about = { contact, consent: granted, interest: "buy", customer_id: customer, vehicle_id: car.id };
  const lead = (await call(agent, "leads.create", about)).id;
  const trade = { make: "Toyota", model: "Camry", year: 2021, mileage: { value: 40000, unit: "mi" } };
  const valued = await call(agent, "deals.request_trade_value", { ...trade, condition: "good" });
  checks.equal("the trade is valued", valued.status, "valued");
  const terms = {
    ...{ vehicle_id: car.id, deal_type: "retail_finance", term_months: 60, apr_basis_points: 599 },
    trades: [{ ...trade, allowance: valued.value, trade_value_id: valued.id }],
  };
  const quote = await call(agent, "deals.request_quote", terms);
  const deal = await call(agent, "deals.create", { ...terms, customer_id: customer, lead_id: lead });
  checks.equal("the deal has the figures of its quote", deal.totals, quote.totals);
  return { customer, consent, deal: deal.id };
}

function application({ customer, consent, deal }) {
  const dollars = (amount) => ({ amount: amount * 100, currency: "USD" });
  return {
    ...{ customer_id: customer, deal_id: deal, consent_id: consent, permissible_purpose: "credit_transaction" },
    applicant: { name: "Noor Bakker", email: "noor@example.com" },
    amount_requested: dollars(15_000),
    residence: {
      ...{ street: "1 Sample Street", city: "Austin", region: "TX", postal_code: "78701", country: "US" },
      ...{ residence_type: "rent", months: 30 },
    },
    employment: { status: "employed", months: 40, gross_monthly_income: dollars(5_200) },
    ...{ ssn: "900-12-3456", birth_date: "1990-02-28", idempotency_key: "credit-of-the-day" },
  };
}

async function apply(agent, sale) {
  const made = await call(agent, "fni.create_credit_application", application(sale));
  checks.equal("a credit application is made", [made.status, made.ssn_last4], ["draft", "3456"]);
  const submitted = await call(agent, "fni.update_credit_application", { id: made.id, status: "submitted" });
  checks.equal("and submitted", submitted.status, "submitted");
  const shown = JSON.stringify([made, submitted]);
  checks.equal("without the numbers", ["900-12", "900123456", "1990-02-28"].filter((word) => shown.includes(word)), []);
  checks.equal("the deal shows that it is being financed", (await call(agent, "deals.get", { id: sale.deal })).financing_status, "submitted");
  await agent.close();
}

async function workshopAndParts(agent, customer) {
  const { slots } = await call(agent, "service.check_availability", { service_codes: ["OIL"], max_slots: 1 });
  const order = { vin: "1HGCM82633A004352", start: slots[0].start, service_codes: ["OIL"], customer_id: customer };
  checks.equal("the workshop is booked", (await call(agent, "service.book_appointment", order)).status, "booked");
  const { items } = await call(agent, "parts.list", { limit: 50 });
  const part = items.find((one) => one.quantity_available > 2);
  const known = await call(agent, "parts.check_availability", { part_numbers: [part.part_number] });
  checks.equal("a part is in stock", known.parts[0].availability, "in_stock");
  const lines = [{ part_number: part.part_number, quantity: 1 }];
  const ordered = await call(agent, "parts.create_order", { lines, customer_id: customer });
  checks.equal("and ordered", ordered.lines[0].quantity_filled, 1);
  const left = (await call(agent, "parts.get", { id: part.id })).quantity_available;
  checks.equal("so there is one less", left, part.quantity_available - 1);
}
