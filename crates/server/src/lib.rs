//! Frontdesk, the server: it binds the engine, the contracts, the store and the authorization server
//! to HTTPS, a configuration and a command line. Business rules and SQL live elsewhere.

pub mod addresses;
pub mod card;
pub mod certificates;
pub mod cli;
pub mod commands;
pub mod config;
pub mod current;
pub mod folder;
pub mod house;
pub mod http;
mod mounting;
pub mod net;
pub mod observe;
pub mod operator;
pub mod parcel;
pub mod ports;
pub mod reload;
pub mod run;
pub mod sites;
pub mod stdio;
pub mod traces;
