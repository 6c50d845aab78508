//! Chance that can be repeated: a stream of numbers that depends on its seed alone (SplitMix64).

pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Happens this many times in a hundred.
    pub(crate) fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    /// Another stream, for somebody who works at the same time.
    pub(crate) fn branch(&mut self) -> Chance {
        Chance(self.number())
    }
}
