//! Counts what held and what did not; a check that could not be made is one that did not hold.

use std::fmt::Debug;
use std::process::ExitCode;

#[derive(Default)]
pub struct Judge {
    passed: usize,
    failed: usize,
}

impl Judge {
    pub fn check<A: PartialEq<B> + Debug, B: Debug>(&mut self, name: &str, found: A, wanted: B) {
        if found == wanted {
            self.passed += 1;
            println!("ok      {name}");
        } else {
            self.failed += 1;
            println!("FAILED  {name}: {found:?} is not {wanted:?}");
        }
    }

    pub fn stumble(&mut self, name: &str, error: &dyn Debug) {
        self.failed += 1;
        println!("FAILED  {name}: {error:?}");
    }

    /// Nothing judged is a broken judge, not a verdict.
    pub fn verdict(self) -> ExitCode {
        println!("{} passed, {} failed", self.passed, self.failed);
        if self.failed > 0 || self.passed == 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}
