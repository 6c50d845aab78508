//! Counts passed and failed checks; a check that could not be made has failed.

use std::fmt::Debug;
use std::process::ExitCode;

#[derive(Default)]
pub struct Checks {
    passed: usize,
    failed: usize,
}

impl Checks {
    pub fn equal<A: PartialEq<B> + Debug, B: Debug>(&mut self, name: &str, found: A, wanted: B) {
        if found == wanted {
            self.passed += 1;
            println!("ok      {name}");
        } else {
            self.failed += 1;
            println!("FAILED  {name}: {found:?} is not {wanted:?}");
        }
    }

    pub fn fail(&mut self, name: &str, error: &dyn Debug) {
        self.failed += 1;
        println!("FAILED  {name}: {error:?}");
    }

    /// A client without any check is broken and fails.
    pub fn exit_code(self) -> ExitCode {
        println!("{} passed, {} failed", self.passed, self.failed);
        if self.failed > 0 || self.passed == 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}
