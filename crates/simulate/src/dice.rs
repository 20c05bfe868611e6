//! Chance from a seed. Each part of a simulation rolls dice of its own, so that what one of them does leaves the others' luck alone.

/// A source of numbers that look random and are the same for the same seed.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    /// The dice of one part of the simulation with this seed.
    pub(crate) fn new(seed: u64, part: u64) -> Dice {
        let mut dice = Dice(seed ^ part.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        dice.next();
        dice
    }

    // Vigna's splitmix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, and without, `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// A number from `from` up to, and without, `end`.
    pub(crate) fn between(&mut self, from: u64, end: u64) -> u64 {
        from + self.below(end.saturating_sub(from))
    }

    /// Whether something happens that does so in `count` of a thousand cases.
    pub(crate) fn per_mille(&mut self, count: u64) -> bool {
        self.below(1_000) < count
    }

    /// Dice for a part of this part.
    pub(crate) fn split(&mut self) -> Dice {
        Dice(self.next())
    }
}
