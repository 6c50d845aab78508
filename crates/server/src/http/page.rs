//! The front page: what this is, which contracts are mounted, and how to connect.

use frontdesk_engine::reply::Reply;

use crate::house::House;

const PAGE: &str = include_str!("page.html");
const MOUNT: &str = include_str!("mount.html");

pub(super) fn front(house: &House) -> Reply {
    let mounts: Vec<String> = house
        .mounts
        .iter()
        .map(|(_, mount)| {
            let tools: Vec<String> = mount
                .contract
                .tools
                .iter()
                .map(|tool| format!("<li><code>{}</code> {}</li>", tool.spec.name, escape(tool.spec.title)))
                .collect();
            MOUNT
                .replace("{title}", &escape(mount.contract.hello.title))
                .replace("{endpoint}", &escape(&mount.resource))
                .replace(
                    "{scopes}",
                    &escape(&mount.contract.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" ")),
                )
                .replace("{tools}", &tools.concat())
        })
        .collect();
    let page = PAGE
        .replace("{version}", env!("CARGO_PKG_VERSION"))
        .replace("{mounts}", &mounts.concat())
        .replace("{public_url}", &escape(&house.config.public_url.to_string()));
    Reply::plain(200, page)
        .header("content-type", "text/html; charset=utf-8")
        .header(
            "content-security-policy",
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
        )
        .header("x-frame-options", "DENY")
        .header("referrer-policy", "no-referrer")
        .header("cache-control", "no-cache")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
