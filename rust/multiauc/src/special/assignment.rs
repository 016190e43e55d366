//! The linear assignment problem.

use crate::error::Result;
use crate::parallel::Workers;

/// The permutation p with the largest Σ gains\[i, p(i)\], of a square matrix row by row: O(K³) at worst, little more than
/// O(K²) as a rule.
///
/// Shortest augmenting paths: R. Jonker and A. Volgenant, "A shortest augmenting path algorithm for dense and sparse
/// linear assignment problems", Computing 38 (1987), 325-340.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
///
/// # Panics
/// Unless there are `size` × `size` gains.
pub fn best_assignment(gains: &[f64], size: usize, workers: &Workers<'_>) -> Result<Vec<usize>> {
    let most = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let costs: Vec<f64> = gains.iter().map(|gain| most - gain).collect();
    let mut found = Matching::new(&costs, size);
    found.match_cheapest();
    for row in 0..size {
        if found.column_of[row].is_none() {
            workers.check()?;
            found.augment(row);
        }
    }
    Ok(found.column_of.into_iter().map(|column| column.expect("every row was given a column")).collect())
}

/// Rows and columns that belong together, and the prices that prove no other choice is cheaper.
struct Matching<'c> {
    costs: &'c [f64],
    size: usize,
    of_rows: Vec<f64>,
    of_columns: Vec<f64>,
    column_of: Vec<Option<usize>>,
    row_of: Vec<Option<usize>>,
}

impl<'c> Matching<'c> {
    fn new(costs: &'c [f64], size: usize) -> Self {
        let of_rows: Vec<f64> =
            costs.chunks_exact(size.max(1)).map(|row| row.iter().copied().fold(f64::INFINITY, f64::min)).collect();
        let mut of_columns = vec![f64::INFINITY; size];
        for (row, price) in costs.chunks_exact(size.max(1)).zip(&of_rows) {
            for (least, cost) in of_columns.iter_mut().zip(row) {
                *least = least.min(cost - price);
            }
        }
        Self { costs, size, of_rows, of_columns, column_of: vec![None; size], row_of: vec![None; size] }
    }

    fn row(&self, row: usize) -> &'c [f64] {
        &self.costs[row * self.size..][..self.size]
    }

    /// Gives rows the first free column that costs them no more than its price.
    fn match_cheapest(&mut self) {
        for row in 0..self.size {
            let price = self.of_rows[row];
            let is_cheapest = |&column: &usize| {
                self.row_of[column].is_none() && self.row(row)[column] - price == self.of_columns[column]
            };
            if let Some(column) = (0..self.size).find(is_cheapest) {
                (self.column_of[row], self.row_of[column]) = (Some(column), Some(row));
            }
        }
    }

    /// Gives a row without a column one, by the cheapest chain of rows that each pass their column on (Dijkstra).
    fn augment(&mut self, start: usize) {
        let (mut distance, mut came_from) = (vec![f64::INFINITY; self.size], vec![start; self.size]);
        let mut is_open = vec![true; self.size];
        let (mut row, mut reached) = (start, 0.0);
        let mut column = loop {
            let (costs, price) = (self.row(row), self.of_rows[row]);
            let mut nearest = None;
            for column in (0..self.size).filter(|&column| is_open[column]) {
                let through = reached + costs[column] - price - self.of_columns[column];
                if through < distance[column] {
                    (distance[column], came_from[column]) = (through, row);
                }
                if nearest.is_none_or(|nearest: usize| distance[column] < distance[nearest]) {
                    nearest = Some(column);
                }
            }
            let column = nearest.expect("a column is free as long as a row is");
            reached = distance[column];
            match self.row_of[column] {
                None => break column, // the end of the path keeps its price
                Some(next) => row = next,
            }
            is_open[column] = false;
        };
        self.of_rows[start] += reached;
        for passed in (0..self.size).filter(|&column| !is_open[column]) {
            let change = reached - distance[passed];
            self.of_rows[self.row_of[passed].expect("it was passed on")] += change;
            self.of_columns[passed] -= change;
        }
        loop {
            let row = came_from[column];
            self.row_of[column] = Some(row);
            match self.column_of[row].replace(column) {
                Some(before) if row != start => column = before,
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;

    fn largest(gains: &[f64], size: usize, row: usize, used: &mut Vec<bool>) -> f64 {
        if row == size {
            return 0.0;
        }
        let mut best = f64::NEG_INFINITY;
        for column in 0..size {
            if !used[column] {
                used[column] = true;
                best = best.max(gains[row * size + column] + largest(gains, size, row + 1, used));
                used[column] = false;
            }
        }
        best
    }

    #[test]
    fn no_permutation_is_better() {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let mut state = 1_u64;
        for trial in 0..600 {
            let size = 1 + trial % 6;
            let levels = [2, 5, 1000][trial / 6 % 3];
            let gains: Vec<f64> = (0..size * size)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    ((state >> 33) % levels) as f64
                })
                .collect();
            let found = best_assignment(&gains, size, &workers).expect("not cancelled");
            let mut columns = found.clone();
            columns.sort_unstable();
            assert_eq!(columns, (0..size).collect::<Vec<_>>());
            let sum: f64 = found.iter().enumerate().map(|(row, column)| gains[row * size + column]).sum();
            assert_eq!(sum, largest(&gains, size, 0, &mut vec![false; size]), "{gains:?}");
        }
        assert_eq!(best_assignment(&[], 0, &workers), Ok(Vec::new()));
    }

    /// An assignment is best if and only if no rows gain by passing their columns round among each other.
    #[test]
    fn no_cycle_of_many_rows_gains() {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let (size, mut state) = (60, 3_u64);
        for levels in [3, 1000, 1 << 20] {
            let mut random = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 33) % levels) as f64
            };
            let gains: Vec<f64> = (0..size * size).map(|_| random()).collect();
            let found = best_assignment(&gains, size, &workers).expect("not cancelled");
            // What row j gains by taking the column of row k; then, step by step, over paths of rows.
            let at = |j: usize, k: usize| gains[j * size + found[k]] - gains[j * size + found[j]];
            let mut most: Vec<f64> = (0..size * size).map(|place| at(place / size, place % size)).collect();
            for via in 0..size {
                for j in 0..size {
                    for k in 0..size {
                        most[j * size + k] = most[j * size + k].max(most[j * size + via] + most[via * size + k]);
                    }
                }
            }
            assert!((0..size).all(|j| most[j * size + j] <= 0.0));
        }
    }
}
