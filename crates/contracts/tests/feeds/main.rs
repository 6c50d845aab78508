//! Feeds and ADF messages: literal arguments of good ones, literal reports of broken ones.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod adf;
mod adf_refused;
mod broken_files;
mod examples;
mod fuzz;
mod json_feeds;
mod mapping;
mod support;
mod values;
mod vehicle_feeds;
