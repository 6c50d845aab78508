// Judge the desk with the second line of the official TypeScript SDK, in both eras that it speaks.
//
//     node typescript_v2.mjs FRONTDESK-BINARY

import {
  Client,
  ClientCredentialsProvider,
  InsufficientScopeError,
  OAuthError,
  ProtocolError,
  SdkHttpError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";

import { judgeClient } from "./client.mjs";

const MODES = { "2026-07-28": "auto", "2025-11-25": "legacy" };

await judgeClient({
  name: "v2",
  first: "least",
  eras: Object.keys(MODES),
  async connect(era, url, way) {
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      ...(way.token
        ? { requestInit: { headers: { Authorization: `Bearer ${way.token}` } } }
        : {
            authProvider: new ClientCredentialsProvider({
              clientId: way.id,
              clientSecret: way.secret,
              scope: way.scope,
              expectedIssuer: way.issuer,
            }),
          }),
    });
    const client = new Client({ name: "judge", version: "1" }, { versionNegotiation: { mode: MODES[era] } });
    await client.connect(transport);
    return client;
  },
  version: (client) => client.getNegotiatedProtocolVersion(),
  describe(error) {
    for (const one of [error, error.cause]) {
      if (one instanceof SdkHttpError) return { status: one.status };
      if (one instanceof InsufficientScopeError) return { status: 403 };
      if (one instanceof UnauthorizedError) return { status: 401 };
      if (one instanceof ProtocolError) return { code: one.code, data: one.data };
      if (one instanceof OAuthError) return { oauth: one.code };
    }
    return { code: String(error?.stack ?? error) };
  },
});
