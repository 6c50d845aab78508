//! Frontdesk, the server: it connects the engine, the contracts, the store and the authorization server to HTTPS, a
//! configuration and a command line. Business rules and SQL live elsewhere.

pub mod admin;
pub mod app;
pub mod cli;
pub mod config;
pub mod connect;
pub mod data_dir;
pub mod export_file;
pub mod http;
pub mod net;
pub mod stdio;
pub mod system;
pub mod telemetry;

pub(crate) use app::audit_anchor;
