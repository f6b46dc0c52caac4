//! [`Random`]: repeatable random numbers for generated fixtures.

/// Repeatable random numbers (splitmix64).
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// Returns the generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `bound`, which is not zero.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    /// Returns one of the items, of which there is at least one.
    pub fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// Returns true once in `of` calls on average.
    pub fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }
}
