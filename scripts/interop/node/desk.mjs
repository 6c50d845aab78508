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
  const data = path.join(folder, "data");
  let running = await launch(binary, args(data), settings);
  return {
    banner: running.banner,
    ca: readFileSync(running.banner.ca_file, "utf8"),
    /** Stops the process and starts it again on the same data, with these arguments; the exit code of the first one. */
    async restart(again) {
      running.desk.kill("SIGTERM");
      const code = await running.ended;
      running = await launch(binary, again(data), settings);
      return code;
    },
    /** Its exit code. */
    async close() {
      running.desk.kill("SIGTERM");
      const code = await running.ended;
      rmSync(folder, { recursive: true, force: true });
      return code;
    },
  };
}

async function launch(binary, args, settings) {
  const desk = spawn(binary, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...settings } });
  let log = "";
  desk.stderr.on("data", (piece) => (log += piece));
  const ended = new Promise((done) => desk.once("close", done));
  const line = await new Promise((done, fail) => {
    let text = "";
    desk.stdout.on("data", (piece) => (text += piece).includes("\n") && done(text));
    desk.once("error", fail);
    ended.then((code) => fail(new Error(`the server ended with ${code} before it was ready: ${log}`)));
  });
  return { desk, ended, banner: JSON.parse(line) };
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
