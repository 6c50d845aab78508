//! A command as a value, so that whoever has a command line can offer it without knowing what it judges.

/// A command, as `frontdesk CONTRACT NAME`. It needs neither a configuration nor a database.
#[derive(Debug, Clone, Copy)]
pub struct ProbeCommand {
    pub contract: &'static str,
    pub name: &'static str,
    /// One sentence without a full stop.
    pub about: &'static str,
    /// Lines that can be pasted into a terminal of 80 columns.
    pub examples: &'static str,
    pub arguments: &'static [ProbeArgument],
    pub run: fn(&ProbeInput) -> Result<ProbeReport, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeArgument {
    pub name: &'static str,
    /// The placeholder in the help, in upper case.
    pub value_name: &'static str,
    pub about: &'static str,
    pub kind: ProbeArgumentKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeArgumentKind {
    /// One value without a name, required.
    Positional,
    /// `--name VALUE`, at most once.
    Option,
    /// `--name VALUE`, as often as needed.
    Repeated,
}

/// The arguments that were given.
#[derive(Debug, Clone, Default)]
pub struct ProbeInput {
    values: Vec<(&'static str, String)>,
}

impl ProbeInput {
    pub fn add(&mut self, name: &'static str, value: String) {
        self.values.push((name, value));
    }

    /// Every value of an argument, in the order in which they were given.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.values.iter().filter(move |(given, _)| *given == name).map(|(_, value)| value.as_str())
    }

    pub fn value(&self, name: &str) -> Option<&str> {
        self.values(name).next()
    }
}

/// What a command found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeReport {
    /// Lines for people.
    pub text: String,
    /// The same as one JSON object a line.
    pub json: String,
    /// How many points of the checklist failed.
    pub failed: usize,
}
