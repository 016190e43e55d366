use super::*;
use crate::parallel::Cancel;
use proptest::prelude::*;

const STOP: Stop = Stop { tolerance: 1e-8, max_iterations: 500, settle_curve: true };

/// The rates of the thirteen rows of the test vector at thresholds .55, .45, .35, .25, .15.
fn thirteen_rows() -> Problem {
    let rows: [(usize, [f64; 3]); 13] = [
        (0, [8., 4., 4.]),
        (0, [5., 6., 5.]),
        (0, [10., 4., 2.]),
        (0, [6., 4., 6.]),
        (1, [4., 8., 4.]),
        (1, [7., 6., 3.]),
        (1, [2., 10., 4.]),
        (1, [4., 8., 4.]),
        (2, [4., 4., 8.]),
        (2, [8., 2., 6.]),
        (2, [7., 3., 6.]),
        (2, [2., 7., 7.]),
        (2, [1., 2., 13.]),
    ];
    let rate = |class: usize, column: usize, threshold: f64| {
        let scores = rows.iter().filter(|row| row.0 == class).map(|row| row.1[column] / 16.0);
        let (above, all) = scores.fold((0, 0), |(above, all), score| (above + i32::from(score > threshold), all + 1));
        f64::from(above) / f64::from(all)
    };
    let pairs = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)];
    let thresholds = [0.55, 0.45, 0.35, 0.25, 0.15];
    let tp = thresholds.iter().flat_map(|&t| pairs.iter().map(move |&(c, _)| rate(c, c, t)));
    let fp = thresholds.iter().flat_map(|&t| pairs.iter().map(move |&(c, d)| rate(d, c, t)));
    let size = 3.0 / (1.0 / 4.0 + 1.0 / 4.0 + 1.0 / 5.0);
    Problem::new(&tp.chain(fp).collect::<Vec<_>>(), 0.1 / (size + 0.2), &[1.0; 6], &[1.0; 6])
}

fn area(fit: &Fit) -> f64 {
    let mut rates: Vec<f64> = fit.effects.iter().map(|&effect| expit(effect)).collect();
    let (tpr, fpr) = rates.split_at_mut(fit.effects.len() / 2);
    make_monotone(tpr);
    make_monotone(fpr);
    area_under(fpr, tpr)
}

#[test]
fn the_test_vector() {
    let fit = fit(&thirteen_rows(), Center::Intercept, STOP, None, &Workers::with_threads(1, &Cancel::new())).unwrap();
    assert!((fit.deviance() - 1.716_962_762).abs() < 1e-9, "{}", fit.deviance());
    assert!((area(&fit) - 0.913_066_849).abs() < 1e-9, "{}", area(&fit));
    assert!(fit.converged);
}

#[test]
fn a_warm_start_ends_in_the_same_place() {
    let problem = thirteen_rows();
    let cold = fit(&problem, Center::Intercept, STOP, None, &Workers::with_threads(1, &Cancel::new())).unwrap();
    let warm =
        fit(&problem, Center::Intercept, STOP, Some(&cold.factors), &Workers::with_threads(1, &Cancel::new())).unwrap();
    assert!(warm.deviances.len() <= 3);
    assert!((warm.deviance() - cold.deviance()).abs() < 1e-9);
}

#[test]
fn constant_rates_leave_the_intercept_alone() {
    let rates: Vec<f64> = [0.2, 0.7, 0.1, 0.4].iter().flat_map(|&rate| [rate; 6]).collect();
    for center in [Center::Intercept, Center::Projection] {
        let fit = fit(
            &Problem::new(&rates, 0.0, &[1.0; 6], &[1.0; 6]),
            center,
            STOP,
            None,
            &Workers::with_threads(1, &Cancel::new()),
        )
        .unwrap();
        assert!(fit.converged && fit.deviance() < 1e-9);
        for (effect, rate) in fit.effects.iter().zip([0.2, 0.7, 0.1, 0.4]) {
            assert!((expit(*effect) - rate).abs() < 1e-6, "{center:?} {effect} {rate}");
        }
    }
}

#[test]
fn a_raised_flag_stops_the_fit() {
    let cancel = Cancel::new();
    cancel.raise();
    assert!(fit(&thirteen_rows(), Center::Intercept, STOP, None, &Workers::with_threads(1, &cancel)).is_err());
}

/// Any rates at all, saturated ones included, any number of pairs, any positive weights.
fn any_problem() -> impl Strategy<Value = (Vec<f64>, Vec<f64>, Vec<f64>, f64)> {
    let rate = prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0_f64];
    (1_usize..5, 1_usize..12, prop_oneof![Just(0.0), Just(1e-9), 1e-4..0.2_f64]).prop_flat_map(
        move |(thresholds, pairs, epsilon)| {
            (
                prop::collection::vec(rate.clone(), 2 * thresholds * pairs),
                prop::collection::vec(0.01..100.0_f64, pairs),
                prop::collection::vec(0.01..100.0_f64, pairs),
                Just(epsilon),
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_deviance_never_rises_and_nothing_is_nan((rates, tp, fp, epsilon) in any_problem()) {
        for center in [Center::Intercept, Center::Projection] {
            let fit = fit(&Problem::new(&rates, epsilon, &tp, &fp), center, STOP, None, &Workers::with_threads(1, &Cancel::new())).unwrap();
            prop_assert!(fit.deviances.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-12) + 1e-9), "{:?}", fit.deviances);
            prop_assert!(fit.effects.iter().chain(&fit.slopes).chain(&fit.scores).all(|value| value.is_finite()));
            prop_assert!((0.0..=1.0).contains(&area(&fit)));
        }
    }

    #[test]
    fn the_gradient_vanishes((rates, tp, fp, _) in any_problem()) {
        let problem = Problem::new(&rates, 0.02, &tp, &fp);
        let stop = Stop { tolerance: 1e-13, max_iterations: 20_000, settle_curve: true };
        let fit = fit(&problem, Center::Intercept, stop, None, &Workers::with_threads(1, &Cancel::new())).unwrap();
        prop_assume!(fit.converged);
        let means = fit.means();
        let mut column_gradient = vec![0.0; problem.pairs()];
        for row in 0..problem.rows() {
            let residuals: Vec<f64> = (0..problem.pairs())
                .map(|j| problem.weights_of_row(row)[j] * (problem.rates_of_row(row)[j] - means[row * problem.pairs() + j]))
                .collect();
            let total: f64 = problem.weights_of_row(row).iter().sum();
            prop_assert!(residuals.iter().sum::<f64>().abs() < 1e-4 * total);
            for (sum, residual) in column_gradient.iter_mut().zip(&residuals) {
                *sum += residual * fit.slopes[row];
            }
        }
        let scale: f64 = fit.slopes.iter().map(|slope| slope.abs()).sum();
        prop_assert!(column_gradient.iter().all(|g| g.abs() < 1e-3 * (1.0 + scale) * 100.0));
    }
}
