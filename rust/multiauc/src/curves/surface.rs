//! The ROC surface of three classes: rates of right decisions as offsets are added to the scores of two of them.

/// The share of each class's weight that is decided to be of it, by class, first offset and second offset.
///
/// x and y are the scores of the first two classes less that of the third. A row goes to class 1 if x + a is at least 0 and
/// at least y + b, to class 2 if y + b is larger, otherwise to class 3.
///
/// # Panics
/// If there are fewer entries of one array than of another.
#[must_use]
pub fn roc_surface(
    codes: &[u32],
    (x, y): (&[f64], &[f64]),
    weights: Option<&[f64]>,
    (a, b): (&[f64], &[f64]),
) -> Vec<f64> {
    let mut rates = Vec::with_capacity(3 * a.len() * b.len());
    for class in 0..3 {
        let rows: Vec<usize> = (0..codes.len()).filter(|&row| codes[row] == class).collect();
        for offset in a {
            let mut ends: Vec<(f64, f64)> = rows
                .iter()
                .map(|&row| {
                    let ahead = x[row] + offset;
                    // The largest offset b with which the row is decided to be of class 1 or 3, not of class 2.
                    let end = match class {
                        0 if ahead < 0.0 => f64::NEG_INFINITY,
                        0 => ahead - y[row],
                        1 => ahead.max(0.0) - y[row],
                        _ if ahead < 0.0 => -y[row],
                        _ => f64::NEG_INFINITY,
                    };
                    (end, weights.map_or(1.0, |weights| weights[row]))
                })
                .collect();
            ends.sort_by(|one, other| one.0.total_cmp(&other.0));
            let mut sums = vec![0.0];
            for &(_, weight) in &ends {
                sums.push(sums[sums.len() - 1] + weight);
            }
            rates.extend(b.iter().map(|&limit| {
                let below = sums[ends.partition_point(|&(end, _)| end < limit)] / sums[ends.len()];
                let share = (1.0 - below).clamp(0.0, 1.0);
                if class == 1 { 1.0 - share } else { share }
            }));
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_decisions_row_by_row() {
        let codes = [0, 0, 1, 1, 2, 2];
        let (x, y) = ([0.5, -0.2, -0.3, 0.1, -1.0, 0.2], [0.1, 0.3, 0.8, -0.4, -0.6, 0.1]);
        let weights = [1.0, 2.0, 1.0, 3.0, 1.0, 1.0];
        let (a, b) = ([-0.25, 0.05, 0.45], [-0.35, 0.15]);
        let found = roc_surface(&codes, (&x, &y), Some(&weights), (&a, &b));
        let decide = |row: usize, a: f64, b: f64| match (x[row] + a, y[row] + b) {
            (first, second) if first >= 0.0 && first >= second => 0,
            (_, second) if second > 0.0 => 1,
            _ => 2,
        };
        for (place, rate) in found.into_iter().enumerate() {
            let (class, a, b) = (place / 6, a[place / 2 % 3], b[place % 2]);
            let rows = (0..6).filter(|&row| codes[row] == class as u32);
            let (right, all) = rows.fold((0.0, 0.0), |(right, all), row| {
                let is_right = decide(row, a, b) == class;
                (right + if is_right { weights[row] } else { 0.0 }, all + weights[row])
            });
            assert!((rate - right / all).abs() < 1e-15, "{place}");
        }
    }
}
