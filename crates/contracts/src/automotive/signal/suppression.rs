//! Which groups of an answer are too small to be shown.
//!
//! A group of fewer records than the configured number is suppressed. It cannot be computed from what is shown either:
//! one answer has the periods of one kind and the groups of one dimension, or no groups at all, so a total never stands
//! beside its parts. A total that is read by another call does not help, because a suppressed group is never alone:
//! if only one is too small, the smallest of the others is suppressed with it.

/// Whether each of these groups is suppressed, by how many records it has. Empty groups are not shown at all.
pub fn suppressed(sizes: &[usize], min_group: usize) -> Vec<bool> {
    let mut hidden: Vec<bool> = sizes.iter().map(|size| (1..min_group).contains(size)).collect();
    if hidden.iter().filter(|hidden| **hidden).count() == 1 {
        let others = sizes.iter().zip(0_usize..).filter(|(size, _)| **size >= min_group);
        if let Some((_, place)) = others.min()
            && let Some(hidden) = hidden.get_mut(place)
        {
            *hidden = true;
        }
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::suppressed;

    #[test]
    fn small_groups_are_suppressed() {
        assert_eq!(suppressed(&[4, 5, 3, 9, 0], 5), [true, false, true, false, false]);
        assert_eq!(suppressed(&[4], 5), [true]);
        assert_eq!(suppressed(&[5, 6, 0], 5), [false, false, false]);
    }

    /// With a total of 23, the group of 3 would follow from 9 and 11.
    #[test]
    fn a_suppressed_group_is_never_alone() {
        assert_eq!(suppressed(&[9, 3, 11], 5), [true, true, false]);
        assert_eq!(suppressed(&[11, 9, 9, 1], 5), [false, true, false, true]);
    }
}
