//! The hypervolume under the ROC manifold of nominal classes: Mossman's three-way volume and its form for any number.

use super::amounts::{Amount, Wide};
use super::distinct::Distinct;
use super::drawn::{Drawing, draw};
use super::enumerated::enumerate;
use super::triples::{Point, UNIT, count_triples};
use super::whole_scores::{HumRule, ReadScores, WholeScores};
use crate::error::Result;
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::{ClassRows, ScoredSample};

/// All tuples of four classes or more are gone through up to this many, unless their ties take too long to count.
const MOST_TUPLES: f64 = 1e7;
/// Of three classes they are counted while the smallest class times the rows of the others is at most this.
const MOST_PAIRS: f64 = 1e10;
/// Tuples, equal rows counted apart, stay below this as whole numbers.
const MOST_COUNTED: f64 = 1e36;

/// The mean credit of tuples, one row of each class.
#[derive(Debug, Clone)]
pub(crate) struct Hum {
    pub value: f64,
    /// By position, the mean credit of the tuples through each row; empty if not wanted.
    pub components: Vec<f64>,
    /// The standard error of drawing tuples instead of counting all.
    pub monte_carlo_error: f64,
    /// Whether all were counted.
    pub is_exact: bool,
}

/// HUM: the probability that, of K rows, one of each class, giving each its own class is the best assignment of rows to
/// classes; where m assignments are equally good, a tuple's credit is 1/m.
///
/// # Errors
/// [`Error::NegativeScore`](crate::Error::NegativeScore), [`Error::TooManyTies`](crate::Error::TooManyTies),
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn hum<T: Score>(
    sample: &ScoredSample<'_, T>,
    rows: &ClassRows,
    rule: HumRule,
    drawing: Drawing,
    wants_components: bool,
    workers: &Workers<'_>,
) -> Result<Hum> {
    let read = ReadScores::new(sample, rows, rule, workers)?;
    let task = Task { rows, drawing, wants_components, workers };
    match (rule, read.bits()) {
        (HumRule::Product, _) => task.run(&read.logarithms(workers)?),
        (HumRule::Distance, _) => task.run(&read.negative_distances(workers)?),
        (HumRule::Sum, ..=64) => task.run(&read.exactly::<i64>()),
        (HumRule::Sum, ..=128) => task.run(&read.exactly::<i128>()),
        (HumRule::Sum, ..=256) => task.run(&read.exactly::<Wide<4>>()),
        (HumRule::Sum, ..=576) => task.run(&read.exactly::<Wide<9>>()),
        (HumRule::Sum, _) => task.run(&read.exactly::<Wide<35>>()),
    }
}

/// What is asked, whatever the numbers are that scores are compared in.
struct Task<'t> {
    rows: &'t ClassRows,
    drawing: Drawing,
    wants_components: bool,
    workers: &'t Workers<'t>,
}

impl Task<'_> {
    fn run<A: Amount>(&self, whole: &WholeScores<A>) -> Result<Hum> {
        let Self { rows, drawing, wants_components, workers } = *self;
        let classes: Vec<Distinct<'_, A>> =
            rows.present().iter().map(|&class| Distinct::new(whole, rows.range(class))).collect();
        let mut sizes: Vec<f64> = classes.iter().map(|class| class.len() as f64).collect();
        sizes.sort_by(f64::total_cmp);
        let of_positions = |means: Vec<Vec<f64>>| {
            let of_class = |(class, means): (&Distinct<'_, A>, Vec<f64>)| {
                class.of_positions.iter().map(|&row| means[row as usize]).collect::<Vec<_>>()
            };
            classes.iter().zip(means).flat_map(of_class).collect::<Vec<_>>()
        };
        let exact =
            |value: f64, components: Vec<f64>| Hum { value, components, monte_carlo_error: 0.0, is_exact: true };
        match &classes[..] {
            [first, second] => {
                let (value, means) = count_pairs(first, second);
                return Ok(exact(value, of_positions(means)));
            }
            [_, _, _] if sizes[0] * (sizes[1] + sizes[2]) <= MOST_PAIRS => {
                let (value, means) = count_three(&classes, wants_components, workers)?;
                return Ok(exact(value, of_positions(means)));
            }
            [_, _, _, _, ..]
                if sizes.iter().product::<f64>() <= MOST_TUPLES
                    && classes.iter().map(Distinct::rows).product::<f64>() < MOST_COUNTED =>
            {
                if let Some(found) = enumerate(&classes, workers)? {
                    return Ok(exact(found.value, of_positions(found.means)));
                }
            }
            _ => {}
        }
        let found = draw(whole, rows, drawing, workers)?;
        let (value, monte_carlo_error) = (found.value, found.monte_carlo_error);
        Ok(Hum { value, components: found.means, monte_carlo_error, is_exact: false })
    }
}

/// Two classes: rows are right if the difference of their scores is larger in the first class.
fn count_pairs<A: Amount>(first: &Distinct<'_, A>, second: &Distinct<'_, A>) -> (f64, Vec<Vec<f64>>) {
    let keys =
        |class: &Distinct<'_, A>| -> Vec<A> { class.scores.iter().map(|scores| scores[0] - scores[1]).collect() };
    // Distinct rows of two classes have distinct differences, in rising order.
    let (of_first, of_second) = (keys(first), keys(second));
    let doubled_below = |keys: &[A], others: &[A], counts: &[u64]| -> Vec<u64> {
        let (mut place, mut below) = (0, 0);
        let one = |&key: &A| {
            while place < others.len() && others[place].is_below(key) {
                below += counts[place];
                place += 1;
            }
            let tied = if place < others.len() && others[place].is_tied(key) { counts[place] } else { 0 };
            2 * below + tied
        };
        keys.iter().map(one).collect()
    };
    let won = doubled_below(&of_first, &of_second, &second.counts);
    let total: u128 = won.iter().zip(&first.counts).map(|(won, &count)| u128::from(*won) * u128::from(count)).sum();
    let lost = doubled_below(&of_second, &of_first, &first.counts);
    let (n_first, n_second) = (first.rows(), second.rows());
    let means = vec![
        won.iter().map(|&won| won as f64 / (2.0 * n_second)).collect(),
        lost.iter().map(|&lost| 1.0 - lost as f64 / (2.0 * n_first)).collect(),
    ];
    (total as f64 / (2.0 * n_first * n_second), means)
}

/// Three classes, the smallest of them outside. A second pass, with the others' parts exchanged, has the third's means;
/// there are none unless they are wanted.
fn count_three<A: Amount>(
    classes: &[Distinct<'_, A>],
    wants_means: bool,
    workers: &Workers<'_>,
) -> Result<(f64, Vec<Vec<f64>>)> {
    let mut order = [0, 1, 2];
    order.sort_by_key(|&class| (classes[class].len(), class));
    let [outer, inner, third] = order;
    let points = |of: usize, inner: usize, third: usize| -> Vec<Point<A>> {
        let Distinct { scores, counts, .. } = &classes[of];
        let point = |(scores, &count): (&&[A], &u64)| Point {
            x: scores[outer] - scores[third],
            y: scores[inner] - scores[third],
            count,
        };
        scores.iter().zip(counts).map(point).collect()
    };
    let pass = |inner: usize, third: usize| {
        let [a, b, c] = [outer, inner, third].map(|of| points(of, inner, third));
        count_triples(&a, &b, &c, workers)
    };
    let won = pass(inner, third)?;
    let counted = won.outer.iter().zip(&classes[outer].counts);
    let total: u128 = counted.map(|(&won, &count)| u128::from(won) * u128::from(count)).sum();
    let sizes: Vec<u128> = classes.iter().map(|class| class.of_positions.len() as u128).collect();
    let all = u128::from(UNIT) * sizes.iter().product::<u128>();
    let mut means = Vec::new();
    if wants_means {
        let mean = |of: usize, won: Vec<u64>| -> Vec<f64> {
            won.into_iter().map(|won| won as f64 / (all / sizes[of]) as f64).collect()
        };
        let exchanged = pass(third, inner)?;
        means.resize(3, Vec::new());
        means[third] = mean(third, exchanged.inner);
        means[inner] = mean(inner, won.inner);
        means[outer] = mean(outer, won.outer);
    }
    Ok((total as f64 / all as f64, means))
}
