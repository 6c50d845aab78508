// What every script of this folder needs: a server of its own, a token from it, and a count of its checks.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import https from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";

/** Starts `binary` on a folder of its own and waits for its banner; `args` makes the arguments from the data folder. */
export async function startDesk(binary, args, settings = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), "frontdesk-interop-"));
  const desk = spawn(binary, args(path.join(folder, "data")), {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...settings },
  });
  let log = "";
  desk.stderr.on("data", (piece) => (log += piece));
  const ended = new Promise((done) => desk.once("close", done));
  const line = await new Promise((done, fail) => {
    let text = "";
    desk.stdout.on("data", (piece) => (text += piece).includes("\n") && done(text));
    desk.once("error", fail);
    ended.then((code) => fail(new Error(`the server ended with ${code} before it was ready: ${log}`)));
  });
  const banner = JSON.parse(line);
  return {
    banner,
    ca: readFileSync(banner.ca_file, "utf8"),
    /** Its exit code. */
    async close() {
      desk.kill("SIGTERM");
      const code = await ended;
      rmSync(folder, { recursive: true, force: true });
      return code;
    },
  };
}

/** An access token for these scopes. */
export function token({ banner, ca }, client, scope) {
  const basic = Buffer.from(`${client.id}:${client.secret}`).toString("base64");
  const headers = { "content-type": "application/x-www-form-urlencoded", authorization: `Basic ${basic}` };
  return new Promise((done, fail) => {
    const request = https.request(banner.token_endpoint, { method: "POST", ca, headers }, (answer) => {
      let text = "";
      answer.on("data", (piece) => (text += piece));
      answer.on("end", () => {
        const given = JSON.parse(text).access_token;
        given ? done(given) : fail(new Error(`no token: ${text}`));
      });
    });
    request.on("error", fail);
    request.end(new URLSearchParams({ grant_type: "client_credentials", scope }).toString());
  });
}

/** Counts what held and what did not; a check that could not be made is one that did not hold. */
export class Checks {
  passed = 0;
  failed = 0;

  equal(name, found, wanted) {
    if (isDeepStrictEqual(found, wanted)) {
      this.passed += 1;
      console.log(`ok      ${name}`);
    } else {
      this.failed += 1;
      console.log(`FAILED  ${name}: ${JSON.stringify(found)} is not ${JSON.stringify(wanted)}`);
    }
  }

  fail(name, error) {
    this.failed += 1;
    console.log(`FAILED  ${name}: ${error?.stack ?? error}`);
  }

  /** The exit code; a script without any check is broken and fails. */
  exitCode() {
    console.log(`${this.passed} passed, ${this.failed} failed`);
    return this.failed > 0 || this.passed === 0 ? 1 : 0;
  }
}
