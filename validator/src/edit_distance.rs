//! The edit distance, by which a typing error is recognized.

/// Returns the edit distance of two texts in characters.
pub(crate) fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (index, from) in a.chars().enumerate() {
        let mut next = vec![index + 1];
        let mut left = index + 1;
        for ((to, above), diagonal) in b.iter().zip(row.iter().skip(1)).zip(&row) {
            left = (diagonal + usize::from(from != *to)).min(above + 1).min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
