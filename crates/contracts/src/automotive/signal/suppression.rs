//! Which groups of an answer are too small to be shown.
//!
//! A group of fewer records than the configured number is suppressed. It cannot be computed from what is shown either:
//! one answer has the periods of one kind and the groups of one dimension, or no groups at all, so a total never stands
//! beside its parts. A total that is read by another call says only what all suppressed groups have together: there are
//! at least two of them, and the smallest of the others are suppressed with them until they have twice the number.

/// Whether each of these groups is suppressed, by how many records it has. Empty groups are not shown at all.
pub fn suppressed(sizes: &[usize], min_group: usize) -> Vec<bool> {
    let mut hidden: Vec<bool> = sizes.iter().map(|size| (1..min_group).contains(size)).collect();
    let small = sizes.iter().zip(&hidden).filter(|(_, hidden)| **hidden).map(|(size, _)| *size);
    let (mut count, mut sum) = small.fold((0_usize, 0_usize), |(count, sum), size| (count + 1, sum + size));
    let mut others: Vec<(usize, usize)> =
        sizes.iter().copied().zip(0_usize..).filter(|(size, _)| *size >= min_group).collect();
    others.sort_unstable();
    for (size, place) in others {
        if count == 0 || (count >= 2 && sum >= min_group.saturating_mul(2)) {
            break;
        }
        if let Some(hidden) = hidden.get_mut(place) {
            *hidden = true;
        }
        (count, sum) = (count + 1, sum.saturating_add(size));
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::suppressed;

    #[test]
    fn small_groups_are_suppressed() {
        assert_eq!(suppressed(&[4, 15, 3, 19, 3], 5), [true, false, true, false, true]);
        assert_eq!(suppressed(&[4], 5), [true]);
        assert_eq!(suppressed(&[5, 6, 0], 5), [false, false, false]);
    }

    /// With a total of 23, the group of 3 would follow from 9 and 11.
    #[test]
    fn a_suppressed_group_is_never_alone() {
        assert_eq!(suppressed(&[9, 3, 11], 5), [true, true, false]);
        assert_eq!(suppressed(&[11, 9, 9, 1], 5), [false, true, false, true]);
    }

    /// With a total of 13 and 11 shown, two groups of at least one record each could only have one each.
    #[test]
    fn suppressed_groups_together_are_many_enough() {
        assert_eq!(suppressed(&[1, 11, 1], 5), [true, true, true]);
        assert_eq!(suppressed(&[4, 5, 3, 9, 0], 5), [true, true, true, false, false]);
        assert_eq!(suppressed(&[1, 5, 20, 30], 5), [true, true, true, false]);
    }
}
