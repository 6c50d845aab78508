export NODE_EXTRA_CA_CERTS={ca_shell}
TOKEN=$(curl -s --cacert {ca_shell} \
  -u {client_id}:"$FRONTDESK_CLIENT_SECRET" \
  -d grant_type=client_credentials -d resource={url} \
  -d {scope_shell} \
  {token_url} | sed -n 's/.*"access_token":"\([^"]*\)".*/\1/p')
npx -y @modelcontextprotocol/inspector --cli {url} --transport http \
  --method tools/list --header "Authorization: Bearer $TOKEN"
