// What a client library is requested to do, whichever line of the official TypeScript SDK it is: log in by itself over TLS,
// list, call, page through everything, write once, and hand every kind of error on as it was sent.

import { spawnSync } from "node:child_process";
import tls from "node:tls";

import { Checks, startDesk, token } from "./desk.mjs";

const STOCK = "amcp:inventory:read";
// More than the demo's clients may have: the answer to the token request is narrower.
const WIDE = "amcp:consent:read amcp:consent:write amcp:deals:read amcp:deals:write " +
  "amcp:inventory:read amcp:inventory:write amcp:leads:read amcp:leads:write " +
  "amcp:parts:read amcp:parts:write amcp:service:read amcp:service:write amcp:signals:read amcp:fni:read";
const SITE_WIDE = "mcp:read mcp:call mcp:admin";
const STOCK_TOOLS = ["inventory.get", "inventory.list", "inventory.search"];
const LEAD_TOOLS = ["leads.create", "leads.get", "leads.list", "leads.search", "leads.update"];
const DEAL_TOOLS = [
  ...["cancel_deal", "create", "get", "get_fee", "get_trade_value", "list", "list_fees", "list_trade_values"],
  ...["request_quote", "request_trade_value", "update"],
].map((name) => `deals.${name}`);
const PART_TOOLS = [
  ...["cancel_order", "check_availability", "create_order", "get", "get_order", "list", "list_orders", "search"],
  ...["update_order"],
].map((name) => `parts.${name}`);
const SERVICE_TOOLS = [
  ...["book_appointment", "cancel_appointment", "check_availability", "create_repair_order"],
  ...["get_advisor", "get_appointment", "get_repair_order", "get_service_code"],
  ...["get_workshop", "list_advisors", "list_appointments", "list_repair_orders"],
  ...["list_service_codes", "list_workshops", "update_appointment", "update_repair_order"],
].map((name) => `service.${name}`);
const TOOLS = [
  ...["check", "create", "get", "list", "update"].map((name) => `consent.${name}`),
  ...["create", "get", "list", "search", "update"].map((name) => `customers.${name}`),
  ...DEAL_TOOLS,
  ...["inventory.create", ...STOCK_TOOLS, "inventory.update"],
  ...LEAD_TOOLS,
  ...PART_TOOLS,
  ...SERVICE_TOOLS,
  ...["signals.get", "signals.list"],
  ...["get_import", "import_adf", "import_items", "list_imports"].map((name) => `x_frontdesk.${name}`),
];
const SITE_TOOLS = [
  ...["ancestors", "children", "children_range", "descendants", "get", "neighbors", "next_siblings", "prev_siblings"],
  ...["root_tree", "search", "siblings", "siblings_range"],
].map((name) => `evo.content.${name}`);
const MODEL_TOOLS = ["evo.model.get", "evo.model.list"];
const LEAD = {
  contact: { name: "Dana Rivera", email: "dana.rivera@example.com", phone: "+15125550123" },
  interest: "buy",
  consent: { granted: true, channels: ["email", "sms"] },
};

/**
 * `library` is `{ name, requests, eras, connect(era, url, credentials), version(client), describe(error) }`. `credentials` is a
 * token, or what is needed to log in with client credentials. It `requests` the scopes that the "challenge" names and is told
 * none, or only those that it is "told", because it ignores the challenge when it logs in this way.
 * `describe` says what the library's error still knows: `{ code, data }` of JSON-RPC, the HTTP `status`, or the `oauth` code.
 */
export async function checkClient(library) {
  const checks = new Checks();
  const desk = await startDesk(process.argv[2], (data) => ["demo", "--json", "--listen", "127.0.0.1:0", "--data", data]);
  try {
    certificate(checks, desk);
    // As NODE_EXTRA_CA_CERTS would, for a desk that did not exist when this process began.
    tls.setDefaultCACertificates([...tls.getCACertificates("default"), desk.ca]);
    for (const era of library.eras) {
      for (const part of [callsSucceed, refusals, site]) {
        try {
          await part(checks, library, desk, era);
        } catch (error) {
          checks.fail(`${era}: ${part.name} ran to its end`, error);
        }
      }
    }
  } finally {
    checks.equal("the server exits with 0", await desk.close(), 0);
  }
  process.exit(checks.exitCode());
}

/** Node's own verifier, in a process of its own that is answered of the authority as users tell it. */
function certificate(checks, desk) {
  const front = `${new URL(desk.banner.endpoint).origin}/`;
  const script = `fetch("${front}").then((answer) => answer.status, (error) => error.cause.code).then(console.log)`;
  const printed = (settings) => {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: "", ...settings };
    return spawnSync(process.execPath, ["--eval", script], { env, encoding: "utf8" }).stdout.trim();
  };
  checks.equal("Node verifies the certificate", printed({ NODE_EXTRA_CA_CERTS: desk.banner.ca_file }), "200");
  checks.equal("and refuses it without the authority", printed({}), "UNABLE_TO_VERIFY_LEAF_SIGNATURE");
}

async function callsSucceed(checks, library, desk, era) {
  const label = (name) => `${era}: ${name}`;
  const [{ id, secret, dealership_id: dealership }] = desk.banner.clients;
  const issuer = new URL(desk.banner.endpoint).origin;
  const credentials = { id, secret, issuer };
  if (library.requests === "told") {
    const least = await library.connect(era, desk.banner.endpoint, credentials);
    checks.equal(label("a token request without a scope gets the least"), names((await least.listTools()).tools), STOCK_TOOLS);
    await least.close();
    credentials.scope = WIDE;
  }
  const client = await library.connect(era, desk.banner.endpoint, credentials);
  checks.equal(label("it logs in by itself and agrees on the version"), library.version(client), era);
  checks.equal(label("the server says its name"), client.getServerVersion()?.name, "frontdesk");

  const { tools } = await client.listTools();
  const how = library.requests === "told" ? "as it was told more than it may have" : "though no scope was named";
  checks.equal(label(`every tool is listed, ${how}`), names(tools), TOOLS);

  const first = await call(client, "inventory.search", { make: "Toyota", sort: "price_asc", limit: 4 });
  checks.equal(label("a page is as long as requested for"), first.structuredContent.items.length, 4);
  checks.equal(label("the text says what the structure says"), JSON.parse(first.content[0].text), first.structuredContent);
  const found = await walk(client, "inventory.search", { make: "Toyota", sort: "price_asc", limit: 4 });
  const every = await walk(client, "inventory.list", { limit: 100 });
  const ids = (items) => items.map((item) => item.id).sort();
  checks.equal(label("the stock is whole over all pages, each car once"), [every.length >= 250, new Set(ids(every)).size], [
    true,
    every.length,
  ]);
  checks.equal(label("a filtered search finds each match once"), ids(found), ids(every.filter((car) => car.make === "Toyota")));

  const uris = [];
  let cursor;
  do {
    const page = await client.listResources(cursor ? { cursor } : undefined);
    uris.push(...page.resources.map((resource) => resource.uri));
    cursor = page.nextCursor;
  } while (cursor);
  checks.equal(label("resources are listed once each, over pages"), [uris.length > 250, new Set(uris).size], [true, uris.length]);
  const uri = uris.find((address) => address.startsWith(`amcp://${dealership}/inventory/`));
  const read = await client.readResource({ uri });
  const answered = await call(client, "inventory.get", { id: uri.split("/").at(-1) });
  checks.equal(label("a resource is what the tool answers"), JSON.parse(read.contents[0].text), answered.structuredContent);

  const order = { ...LEAD, idempotency_key: `interop-${library.name}-${era}` };
  const lead = await call(client, "leads.create", order);
  const again = await call(client, "leads.create", order);
  checks.equal(label("a repeated create is one lead"), again.structuredContent, lead.structuredContent);
  const leads = await walk(client, "leads.list", { limit: 50 });
  checks.equal(
    label("and there is one lead of it"),
    leads.filter((item) => item.id === lead.structuredContent.id).length,
    1,
  );
  const other = await client.callTool({ name: "leads.create", arguments: { ...order, interest: "sell" } });
  checks.equal(label("a tool error arrives whole: conflict"), toolError(other), ["request.idempotency_conflict", true, true]);
  const nobody = await client.callTool({ name: "inventory.get", arguments: { id: "veh_nobody" } });
  checks.equal(label("a tool error arrives whole: not found"), toolError(nobody), ["inventory.not_found", true, true]);

  const unknown = await failure(library, client.callTool({ name: "inventory.burn", arguments: {} }));
  checks.equal(label("a JSON-RPC error keeps its code"), unknown.code, -32602);
  checks.equal(label("a JSON-RPC error keeps its data"), Object.keys(unknown.data?.error ?? {}).slice(0, 2), ["code", "message"]);
  const missing = await failure(library, client.readResource({ uri: `amcp://${dealership}/inventory/veh_nobody` }));
  // The code for a missing resource changed with the modern era.
  checks.equal(label("an unknown resource is a JSON-RPC error"), missing.code, era < "2026" ? -32002 : -32602);
  checks.equal(label("and its data says which kind"), missing.data?.error?.code, "inventory.not_found");
  await client.close();
}

async function refusals(checks, library, desk, era) {
  const label = (name) => `${era}: ${name}`;
  const endpoint = desk.banner.endpoint;
  const stranger = await failure(library, library.connect(era, endpoint, { token: "fdt_wrong" }));
  checks.equal(label("a wrong token is refused with 401"), stranger.status, 401);
  const [entry] = desk.banner.clients;
  const issuer = new URL(endpoint).origin;
  const thief = { id: entry.id, secret: "fds_wrong", issuer };
  const refused = await failure(library, library.connect(era, endpoint, thief));
  checks.equal(label("a wrong secret is refused as such"), refused.oauth, "invalid_client");

  const weak = await library.connect(era, endpoint, { token: await token(desk, entry, STOCK) });
  const { tools } = await weak.listTools();
  checks.equal(label("a weaker token lists fewer tools"), names(tools), STOCK_TOOLS);
  const forbidden = await failure(library, weak.callTool({ name: "leads.list", arguments: {} }));
  checks.equal(label("a missing scope is refused with 403"), forbidden.status, 403);
  const still = await call(weak, "inventory.list", { limit: 1 });
  checks.equal(label("and the connection lives on"), still.structuredContent.items.length, 1);
  await weak.close();
}

/** The demo's website: another contract at another endpoint, with a client of its own. */
async function site(checks, library, desk, era) {
  const label = (name) => `${era}, site: ${name}`;
  const { endpoint, id, secret } = desk.banner.site;
  const credentials = { id, secret, issuer: new URL(endpoint).origin };
  if (library.requests === "told") credentials.scope = SITE_WIDE;
  const client = await library.connect(era, endpoint, credentials);
  checks.equal(label("it logs in by itself and agrees on the version"), library.version(client), era);
  checks.equal(label("the server says its name"), client.getServerVersion()?.name, "eMCP Content Server");
  const { tools } = await client.listTools();
  checks.equal(label("fourteen tools are listed"), names(tools), [...SITE_TOOLS, ...MODEL_TOOLS]);
  const found = await call(client, "evo.content.search", { limit: 3, with_tvs: ["price"] });
  checks.equal(label("a search is as long as requested for"), found.structuredContent.items.length, 3);
  checks.equal(label("the text says what the structure says"), JSON.parse(found.content[0].text), found.structuredContent);
  const [first] = found.structuredContent.items;
  const page = await call(client, "evo.content.get", { id: first.id, with_tvs: ["price"] });
  checks.equal(label("a page is what the search showed"), page.structuredContent.item, first);
  const wrong = await failure(library, client.callTool({ name: "evo.content.get", arguments: { id: 0 } }));
  checks.equal(label("a wrong argument is named"), [wrong.code, wrong.data?.errors?.[0]?.pointer], [-32602, "/id"]);
  const unknown = await failure(library, client.callTool({ name: "evo.content.burn", arguments: {} }));
  checks.equal(label("an unknown tool is not found"), unknown.code, -32601);
  await client.close();
}

/** The answer of a call that must succeed; the library has checked it against the tool's schema. */
async function call(client, name, args) {
  const answer = await client.callTool({ name, arguments: args });
  if (answer.isError) throw new Error(`${name} answered ${JSON.stringify(answer.structuredContent)}`);
  return answer;
}

async function walk(client, name, args) {
  const items = [];
  let cursor;
  do {
    const page = (await call(client, name, { ...args, ...(cursor && { cursor }) })).structuredContent;
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  return items;
}

const names = (tools) => tools.map((tool) => tool.name).sort();

function toolError(answer) {
  const error = answer.structuredContent?.error;
  return [error?.code, answer.isError, JSON.stringify(JSON.parse(answer.content[0].text).error) === JSON.stringify(error)];
}

async function failure(library, requested) {
  try {
    await requested;
  } catch (error) {
    return library.describe(error);
  }
  return { code: "no error" };
}
