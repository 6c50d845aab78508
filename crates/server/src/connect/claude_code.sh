export NODE_EXTRA_CA_CERTS={ca_shell}
claude mcp add --transport http {name} {url}
claude mcp list
