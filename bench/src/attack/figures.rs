//! What came of the attacks, as a page with one table. It computes nothing but the words of a cell.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use frontdesk_engine::ports::Clock as _;

use crate::BenchResult;
use crate::result_file::commit;

/// One attack.
pub struct AttackFigure {
    pub what: &'static str,
    pub tried: String,
    pub held: String,
    /// A polite caller's 95th percentile, without and under the attack.
    pub quiet: Option<Duration>,
    pub attacked: Option<Duration>,
    pub memory: String,
    /// What was measured before the protection existed.
    pub before: &'static str,
    pub target: &'static str,
    pub is_held: bool,
}

pub fn table(figures: &[AttackFigure]) -> String {
    let mut out = String::new();
    out.push_str(
        "| attack | tried | held | p95 of a polite caller: quiet, attacked | memory | before | target | met |\n",
    );
    out.push_str("|---|---|---|---|---|---|---|---|\n");
    for figure in figures {
        let latency = match (figure.quiet, figure.attacked) {
            (Some(quiet), Some(attacked)) => format!("{}, {}", millis(quiet), millis(attacked)),
            (_, Some(attacked)) => millis(attacked),
            _ => String::new(),
        };
        let met = if figure.is_held { "yes" } else { "**no**" };
        let AttackFigure { what, tried, held, memory, before, target, .. } = figure;
        let _ = writeln!(out, "| {what} | {tried} | {held} | {latency} | {memory} | {before} | {target} | {met} |");
    }
    out
}

pub fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// The page, with everything that has to be known to judge the figures.
pub fn write(page: &Path, binary: &Path, load_before: f64, figures: &[AttackFigure]) -> BenchResult<()> {
    let now = frontdesk::system::SystemClock.now().to_rfc3339();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let text = format!(
        "\
# Security figures

What floods of one attacker did to a server and to a polite caller of another tenant. `cargo xtask attack` makes this page:
it builds the release binary, starts it on data folders of its own, attacks it over 127.0.0.1 within bounds of number and
time, and ends with an error if a target is not met. `cargo xtask attack --only NAME` runs one attack: nested, refused,
memory, silent, slow, secrets, fuzz, tenants. Attacker, polite caller and server share the machine, so the attacker's own
work is in every latency.

Made on {date} from {commit} with the {profile} binary; {cores} cores, {os}; load average {load_before:.1} before the run.
{busy}
{table}
*Before* is what was measured when the attack was first tried, on another day. `spec/attacks.tsv` lists the attacks and their
tests. docs/configuration.md says what each limit does, docs/decisions/0135-bodies-are-paid-by-size.md and
docs/decisions/0136-silent-connections-make-room.md why.
",
        date = now.get(..10).unwrap_or_default(),
        commit = commit(),
        os = std::env::consts::OS,
        profile = binary.parent().and_then(Path::file_name).map_or_else(Default::default, |name| name.to_string_lossy()),
        busy = if load_before > 1.0 {
            "**The machine was busy with something else: the latencies below say little.**\n"
        } else {
            ""
        },
        table = table(figures),
    );
    fs::write(page, text)?;
    Ok(())
}
