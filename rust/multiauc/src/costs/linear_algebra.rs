//! Symmetric matrices stored row by row: equations, eigenvectors.

/// The solution x of A x = b for a positive definite A, by Cholesky's decomposition.
pub(super) fn solve(matrix: &[f64], right: &[f64]) -> Vec<f64> {
    let size = right.len();
    let mut root = matrix.to_vec();
    for i in 0..size {
        for j in 0..=i {
            let inner: f64 = (0..j).map(|k| root[i * size + k] * root[j * size + k]).sum();
            let rest = matrix[i * size + j] - inner;
            root[i * size + j] = if i == j { rest.sqrt() } else { rest / root[j * size + j] };
        }
    }
    let mut found = right.to_vec();
    for i in 0..size {
        let inner: f64 = (0..i).map(|k| root[i * size + k] * found[k]).sum();
        found[i] = (found[i] - inner) / root[i * size + i];
    }
    for i in (0..size).rev() {
        let inner: f64 = (i + 1..size).map(|k| root[k * size + i] * found[k]).sum();
        found[i] = (found[i] - inner) / root[i * size + i];
    }
    found
}

/// Eigenvalues with their eigenvectors, by Jacobi's rotations.
pub(super) fn eigenvectors(mut matrix: Vec<f64>, size: usize) -> Vec<(f64, Vec<f64>)> {
    /// Sweeps converge quadratically: a dozen are enough for any matrix of doubles.
    const MOST_SWEEPS: usize = 60;
    let mut vectors: Vec<Vec<f64>> =
        (0..size).map(|k| (0..size).map(|j| f64::from(u8::from(j == k))).collect()).collect();
    let scale = matrix.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    for _ in 0..MOST_SWEEPS {
        let mut is_diagonal = true;
        for p in 0..size {
            for q in p + 1..size {
                let off = matrix[p * size + q];
                if off.abs() <= f64::EPSILON * 1e-3 * scale {
                    continue;
                }
                is_diagonal = false;
                let theta = (matrix[q * size + q] - matrix[p * size + p]) / (2.0 * off);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for k in 0..size {
                    let (x, y) = (matrix[k * size + p], matrix[k * size + q]);
                    (matrix[k * size + p], matrix[k * size + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..size {
                    let (x, y) = (matrix[p * size + k], matrix[q * size + k]);
                    (matrix[p * size + k], matrix[q * size + k]) = (c * x - s * y, s * x + c * y);
                }
                let (before, after) = vectors.split_at_mut(q);
                for (x, y) in before[p].iter_mut().zip(&mut after[0]) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
            }
        }
        if is_diagonal {
            break;
        }
    }
    (0..size).map(|k| matrix[k * size + k]).zip(vectors).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symmetric(size: usize) -> Vec<f64> {
        let entry =
            |i: usize, j: usize| ((i * j + 3 * (i + j)) % 7) as f64 / 7.0 + if i == j { size as f64 } else { 0.0 };
        (0..size * size).map(|k| entry(k / size, k % size)).collect()
    }

    fn times(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
        matrix.chunks(vector.len()).map(|row| row.iter().zip(vector).map(|(a, x)| a * x).sum()).collect()
    }

    #[test]
    fn equations_are_solved() {
        for size in [1, 2, 5, 20] {
            let (matrix, right) = (symmetric(size), (0..size).map(|k| k as f64 - 1.5).collect::<Vec<_>>());
            let back = times(&matrix, &solve(&matrix, &right));
            assert!(back.iter().zip(&right).all(|(x, y)| (x - y).abs() < 1e-12));
        }
    }

    #[test]
    fn eigenvectors_are_what_they_should_be() {
        for size in [1, 2, 5, 20] {
            let matrix = symmetric(size);
            let found = eigenvectors(matrix.clone(), size);
            for (k, (value, vector)) in found.iter().enumerate() {
                assert!(
                    times(&matrix, vector).iter().zip(vector).all(|(x, y)| (x - value * y).abs() < 1e-12 * size as f64)
                );
                for (other, (_, second)) in found.iter().enumerate() {
                    let product: f64 = vector.iter().zip(second).map(|(x, y)| x * y).sum();
                    assert!((product - f64::from(u8::from(k == other))).abs() < 1e-13 * size as f64);
                }
            }
        }
    }
}
