//! What a contract registers with a build: its name in a configuration, what a mount of it requires, and the commands it
//! adds to the command line. The contracts fill these values in, so that the server knows none of them by name.

/// A contract that can be mounted.
#[derive(Debug, Clone, Copy)]
pub struct ContractEntry {
    /// As a configuration and the command line name it.
    pub name: &'static str,
    pub requires: Requires,
    pub commands: &'static [ContractCommand],
    /// The default prefix of the REST routes of its first mount, if it has routes.
    pub rest: Option<&'static str>,
    /// How a person is erased, if the contract stores anything about people.
    pub erasure: Option<ErasureSpec>,
    /// What its deliveries to others are called, in the plural, if it has any: `frontdesk CONTRACT NOUN`.
    pub deliveries: Option<&'static str>,
}

impl ContractEntry {
    /// A contract whose mounts need a path and nothing else.
    pub const fn new(name: &'static str) -> ContractEntry {
        ContractEntry { name, requires: Requires::Nothing, commands: &[], rest: None, erasure: None, deliveries: None }
    }

    pub const fn requiring(self, requires: Requires) -> ContractEntry {
        ContractEntry { requires, ..self }
    }

    pub const fn with_rest(self, prefix: &'static str) -> ContractEntry {
        ContractEntry { rest: Some(prefix), ..self }
    }

    pub const fn with_commands(self, commands: &'static [ContractCommand]) -> ContractEntry {
        ContractEntry { commands, ..self }
    }

    pub const fn with_deliveries(self, noun: &'static str) -> ContractEntry {
        ContractEntry { deliveries: Some(noun), ..self }
    }

    pub const fn with_erasure(self, erasure: ErasureSpec) -> ContractEntry {
        ContractEntry { erasure: Some(erasure), ..self }
    }
}

/// How the operator erases a person, as `frontdesk NOUN erase`. Both tools are among the contract's `operator_tools`.
/// Contracts with the same noun share the command and have the same tools, which know the records of all of them.
///
/// `find_tool` takes `id` or one of the arguments and answers `subject` (the id of a record that stands for the person),
/// `records` (objects with `id`, at most as many as one commit can erase), `counts` by kind of record, `others` (ids of
/// people who share contact data) and `running_imports`. `erase_tool` takes `id`, the subject, and those `records`, and
/// refuses with a version conflict if one has changed since.
#[derive(Debug, Clone, Copy)]
pub struct ErasureSpec {
    /// What a person is called, in the singular.
    pub noun: &'static str,
    /// An id as the contract makes them, for the help.
    pub id_example: &'static str,
    pub find_tool: &'static str,
    pub erase_tool: &'static str,
    /// What finds a person besides an id.
    pub found_by: &'static [PersonArgument],
}

/// `--NAME VALUE`, by which a person is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersonArgument {
    pub name: &'static str,
    /// The placeholder in the help, in upper case.
    pub value_name: &'static str,
    pub about: &'static str,
}

/// What a mount needs besides a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requires {
    Nothing,
    /// A foreign database, which is only read.
    SiteDb(MountDefaults),
    /// What a business says of itself to the one party that calls it.
    Partner,
}

/// How much one call to a mount over a site's database may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryLimits {
    /// Items of a list.
    pub items: u32,
    /// Bytes of an answer.
    pub bytes: usize,
    /// Levels of a tree.
    pub depth: u32,
    pub offset: u32,
}

/// The settings of a mount over a site's database that a configuration leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MountDefaults {
    /// The path below which its servers answer.
    pub base: &'static str,
    /// The handle of the only server.
    pub server: &'static str,
    /// The prefix of table names.
    pub prefix: &'static str,
    /// Which methods each scope opens; the last scope is required for every method that is not listed.
    pub scopes: &'static [(&'static str, &'static [&'static str])],
    /// A pattern that matches the names of all tools that write.
    pub write_tools: &'static str,
}

/// A command that a contract adds to the command line, as `frontdesk CONTRACT NAME`. It runs without a configuration
/// and without a database.
#[derive(Debug, Clone, Copy)]
pub struct ContractCommand {
    pub name: &'static str,
    /// One sentence without a full stop.
    pub about: &'static str,
    /// Lines that can be pasted into a terminal of 80 columns.
    pub examples: &'static str,
    pub arguments: &'static [CommandArgument],
    pub run: fn(&CommandInput) -> Result<CommandResult, CommandFailure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandArgument {
    /// As in [`CommandInput::values`].
    pub name: &'static str,
    /// The placeholder in the help, in upper case.
    pub value_name: &'static str,
    pub about: &'static str,
    pub kind: ArgumentKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    /// One or more values without a name, required.
    Positional,
    /// `--name VALUE`, at most once.
    Option,
}

/// The arguments that were given.
#[derive(Debug, Clone, Default)]
pub struct CommandInput {
    values: Vec<(&'static str, String)>,
}

impl CommandInput {
    pub fn add(&mut self, name: &'static str, value: String) {
        self.values.push((name, value));
    }

    /// Every value of an argument, in the order in which they were given.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.values.iter().filter(move |(given, _)| *given == name).map(|(_, value)| value.as_str())
    }
}

/// The result of a command that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandResult {
    /// Lines for people.
    pub text: String,
    /// The same as one JSON object a line.
    pub json: String,
    pub status: CommandStatus,
}

/// The exit status of a command that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandStatus {
    Success,
    /// The answer is negative, such as a check that failed.
    Failure,
}

/// Why a command could not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFailure {
    pub message: String,
}
