//! Statements as they are sent, for each of the databases.
