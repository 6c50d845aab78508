// The fixture server and MCP's official conformance suite, in both revisions that the suite knows.
//
//     node conformance.mjs FIXTURE-BINARY
//
// Every check that did not succeed must stand in conformance.tsv with its reason, every line of that file must still be
// true, and every tool that the suite asks for in vain must be named there: then somebody has looked at what the
// suite concluded from it.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { Checks, startDesk, token } from "./desk.mjs";
import { openProxy } from "./proxy.mjs";

const here = import.meta.dirname;
const REVISIONS = ["2025-11-25", "2026-07-28"];
const WIRE = "wire-schema-valid";

const checks = new Checks();
const output = mkdtempSync(path.join(tmpdir(), "frontdesk-conformance-"));
const proxy = await openProxy();
const origin = `http://localhost:${proxy.port}`;
const desk = await startDesk(process.argv[2], (data) => [data], {
  FRONTDESK_ALLOWED_ORIGINS: origin,
  FRONTDESK_TOKEN_LIFETIME_SECONDS: "900",
});
try {
  const client = desk.banner.client;
  proxy.forwardTo({ endpoint: desk.banner.endpoint, ca: desk.ca, token: await token(desk, client, client.scope) });
  const baseline = readBaseline();
  let uncounted = 0;
  for (const revision of REVISIONS) {
    const folder = path.join(output, revision);
    const printed = await suite(revision, folder);
    for (const [scenario, results] of scenarios(folder)) {
      uncounted += compare(revision, scenario, results, baseline.checks, printed);
    }
  }
  const stale = [...baseline.checks.values()].filter((line) => !line.seen).map((line) => line.key);
  checks.equal("every line of the baseline still holds", stale, []);
  const requested = [...proxy.notes.unknownTools.keys()].sort();
  checks.equal("every unknown tool that was called is in the baseline", requested, baseline.tools.sort());
  console.log(`${uncounted} checks not counted: what they ask for is not declared (conformance.tsv says why)`);
} catch (error) {
  checks.fail("the suite ran to its end", error);
} finally {
  proxy.close();
  checks.equal("the server exits with 0", await desk.close(), 0);
  rmSync(output, { recursive: true, force: true });
}
process.exit(checks.exitCode());

/** Compares one scenario with the baseline; gives back how many of its checks do not count. */
function compare(revision, scenario, results, baseline, printed) {
  let uncounted = 0;
  let real = 0;
  const surprises = [];
  for (const { id, status, errorMessage } of results) {
    // Information is no result, and a message of the right form is no answer to the request.
    if (status === "INFO" || (id === WIRE && status === "SUCCESS")) continue;
    const line = baseline.get(`${revision} ${scenario} ${id}`);
    const expected = line?.status ?? "SUCCESS";
    // One id can be reported several times; a line holds for all of them.
    if (line) line.seen = true;
    if (status !== (expected === "VACUOUS" ? "SUCCESS" : expected)) {
      surprises.push(`${id} is ${status}, not ${expected}: ${errorMessage ?? ""}`);
    } else if (expected === "SUCCESS") {
      real += 1;
    } else {
      uncounted += 1;
    }
  }
  if (results.length === 0) surprises.push(`no checks; the suite printed: ${printed}`);
  if (real > 0 || surprises.length > 0) checks.equal(`${revision}: ${scenario} (${real} checks)`, surprises, []);
  else console.log(`-       ${revision}: ${scenario} is not counted`);
  return uncounted;
}

function suite(revision, folder) {
  const program = path.join(here, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js");
  const args = [program, "server", "--url", `${origin}/mcp`, "--requirements", revision, "-o", folder];
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    child.stdout.on("data", (piece) => (printed += piece));
    child.stderr.on("data", (piece) => (printed += piece));
    child.once("error", fail);
    // Its exit code counts what is not declared as failed, so the checks themselves are read instead.
    child.once("close", () => {
      const announced = printed.match(/=== Running scenario: /g)?.length ?? 0;
      const saved = announced > 0 ? readdirSync(folder).length : 0;
      announced > 0 && announced === saved
        ? done(printed)
        : fail(new Error(`${announced} scenarios were begun and ${saved} ended: ${printed}`));
    });
  });
}

/** `[scenario, checks]` of every folder `server-SCENARIO-TIME`. */
function scenarios(folder) {
  return readdirSync(folder).map((name) => [
    name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, ""),
    JSON.parse(readFileSync(path.join(folder, name, "checks.json"), "utf8")),
  ]);
}

function readBaseline() {
  const checks = new Map();
  const tools = [];
  for (const text of readFileSync(path.join(here, "conformance.tsv"), "utf8").split("\n")) {
    if (text === "" || text.startsWith("#")) continue;
    const [revision, scenario, id, status, why, ...rest] = text.split("\t");
    if (!why || rest.length > 0) throw new Error(`conformance.tsv: five columns are needed: ${text}`);
    if (revision === "tool") tools.push(scenario);
    else {
      const key = `${revision} ${scenario} ${id}`;
      checks.set(key, { key, status, seen: false });
    }
  }
  return { checks, tools };
}
