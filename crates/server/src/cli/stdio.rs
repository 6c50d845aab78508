//! `frontdesk stdio`: the desk for one program on the same machine. A secret is never an argument, because arguments are
//! visible to others.

use clap::Args;

use super::Place;

/// Serve one MCP client over standard input and output.
#[derive(Debug, Args)]
#[command(
    long_about = "Speaks MCP over standard input and output, one JSON message a line, for a desktop client that starts \
        its servers itself. It is the same desk as over HTTPS: the same tools, limits and audit.\n\n\
        The caller comes from the environment: FRONTDESK_CLIENT_ID and FRONTDESK_CLIENT_SECRET as `frontdesk client \
        add` printed them, or FRONTDESK_TOKEN with an access token. A site mounted with auth = [\"none\"] needs neither. The data folder must not be in use by a server; \
        connect to that server over HTTPS instead. It ends when its input does, and logs to standard error.",
    after_help = "\
Examples:
  FRONTDESK_CLIENT_ID=cli_.. FRONTDESK_CLIENT_SECRET=fds_.. \\
      frontdesk stdio --data frontdesk-data

In the configuration of a desktop client:
  {\"mcpServers\": {\"frontdesk\": {
     \"command\": \"frontdesk\",
     \"args\": [\"stdio\", \"--data\", \"/srv/frontdesk-data\"],
     \"env\": {\"FRONTDESK_CLIENT_ID\": \"cli_..\",
             \"FRONTDESK_CLIENT_SECRET\": \"fds_..\"}}}}"
)]
pub struct Stdio {
    #[command(flatten)]
    pub place: Place,
    /// The contract to serve [default: the first one mounted]
    #[arg(long, value_name = "NAME")]
    pub contract: Option<String>,
}
