// The server and version 2 of the official TypeScript SDK, in both eras that it speaks.
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

import { checkClient } from "./client.mjs";

const MODES = { "2026-07-28": "auto", "2025-11-25": "legacy" };

await checkClient({
  name: "v2",
  requests: "challenge",
  eras: Object.keys(MODES),
  async connect(era, url, credentials) {
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      ...(credentials.token
        ? { requestInit: { headers: { Authorization: `Bearer ${credentials.token}` } } }
        : {
            authProvider: new ClientCredentialsProvider({
              clientId: credentials.id,
              clientSecret: credentials.secret,
              expectedIssuer: credentials.issuer,
            }),
          }),
    });
    const client = new Client({ name: "interop", version: "1" }, { versionNegotiation: { mode: MODES[era] } });
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
