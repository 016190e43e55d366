//! Evaluates predictions in a CSV file: AUC_mu, Hand & Till's M and one-vs-rest, each with a 95% interval.
//!
//! ```console
//! cargo run --release --example evaluate_csv                    # thirteen rows that come with it
//! cargo run --release --example evaluate_csv predictions.csv
//! zcat predictions.csv.gz | cargo run --release --example evaluate_csv -
//! ```
//!
//! The first line names the columns: that of the labels, then one for each class, under the name that the class has
//! among the labels. Cells are separated by commas and have no quotes.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Read as _;

use multiauc::{
    Cancel, ClassCodes, Design, Estimate, Metric, MetricOptions, Sampling, ScoreMatrix, ScoredSample, Workers,
    evaluate, moments,
};

const BUILT_IN: &str = "\
label,ant,bee,cat
ant,0.5,0.25,0.25
ant,0.3125,0.375,0.3125
ant,0.625,0.25,0.125
ant,0.375,0.25,0.375
bee,0.25,0.5,0.25
bee,0.4375,0.375,0.1875
bee,0.125,0.625,0.25
bee,0.25,0.5,0.25
cat,0.25,0.25,0.5
cat,0.5,0.125,0.375
cat,0.4375,0.1875,0.375
cat,0.125,0.4375,0.4375
cat,0.0625,0.125,0.8125
";

const METRICS: [(Metric, &str); 3] =
    [(Metric::AucMu, "AUC_mu"), (Metric::HandTill, "Hand & Till's M"), (Metric::OneVsRest, "one-vs-rest (macro)")];

/// Predictions: a row of scores for every label, one score for each class.
struct Predictions {
    classes: Vec<String>,
    codes: Vec<u16>,
    scores: Vec<f64>,
}

/// What is found for them, in the order in which it is printed.
struct Findings {
    class_sizes: Vec<u64>,
    metrics: Vec<Estimate>,
    per_class: Vec<Estimate>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let text = match std::env::args().nth(1).as_deref() {
        None => BUILT_IN.to_owned(),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            text
        }
        Some(path) => std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?,
    };
    let predictions = read(&text)?;
    print!("{}", table(&predictions, &find(&predictions)?)?);
    Ok(())
}

fn read(text: &str) -> Result<Predictions, Box<dyn Error>> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (_, header) = lines.next().ok_or("there is no line that names the columns")?;
    let classes: Vec<String> = header.split(',').skip(1).map(|name| name.trim().to_owned()).collect();
    let mut predictions = Predictions { classes, codes: Vec::new(), scores: Vec::new() };
    for (index, line) in lines {
        let number = index + 1;
        let mut cells = line.split(',').map(str::trim);
        let label = cells.next().unwrap_or_default();
        let class = predictions.classes.iter().position(|class| class == label);
        let class = class.ok_or_else(|| format!("line {number}: there is no column for the label {label:?}"))?;
        let before = predictions.scores.len();
        for cell in cells {
            let score = cell.parse().map_err(|_| format!("line {number}: {cell:?} is not a number"))?;
            predictions.scores.push(score);
        }
        let (found, expected) = (predictions.scores.len() - before, predictions.classes.len());
        if found != expected {
            return Err(format!("line {number} has {found} scores, not one for each of the {expected} classes").into());
        }
        predictions.codes.push(u16::try_from(class)?);
    }
    Ok(predictions)
}

fn find(predictions: &Predictions) -> multiauc::Result<Findings> {
    // Another thread could raise this flag to stop the work.
    let cancel = Cancel::new();
    let workers = Workers::for_cells(predictions.scores.len(), &cancel);
    let scores = ScoreMatrix::from_rows(&predictions.scores, predictions.classes.len())?;
    let sample = ScoredSample::new(scores, ClassCodes::Words(&predictions.codes), None, &workers)?;
    let design = Design::new(&sample, Sampling::Stratified, &workers)?;
    let options = MetricOptions::default();
    let found = evaluate(&sample, &design, &METRICS.map(|(metric, _)| metric), options, &workers)?;
    let metrics = moments(&design, &found.statistics, &workers)?.estimates;
    Ok(Findings { class_sizes: sample.sizes().rows.clone(), metrics, per_class: found.per_class })
}

fn table(predictions: &Predictions, findings: &Findings) -> Result<String, std::fmt::Error> {
    let mut page = String::new();
    let sizes = predictions.classes.iter().zip(&findings.class_sizes);
    let sizes: Vec<String> = sizes.map(|(class, size)| format!("{class} {size}")).collect();
    let (rows, classes) = (predictions.codes.len(), predictions.classes.len());
    writeln!(page, "{rows} rows, {classes} classes ({})", sizes.join(", "))?;
    writeln!(page, "{:28}{:>9}  {:>18}", "", "value", "95% interval")?;
    let metrics = METRICS.iter().map(|&(_, title)| title.to_owned()).zip(&findings.metrics);
    let per_class = predictions.classes.iter().map(|class| format!("  {class} against the rest"));
    for (title, estimate) in metrics.chain(per_class.zip(&findings.per_class)) {
        let limits = interval(estimate).map_or("none".to_owned(), |[low, high]| format!("{low:.4} to {high:.4}"));
        writeln!(page, "{title:28}{:>9.4}  {limits:>18}", estimate.value)?;
    }
    Ok(page)
}

/// The limits on the scale of the logit, where the distance to 1 counts by its factor; `None` if nothing varies.
fn interval(estimate: &Estimate) -> Option<[f64; 2]> {
    let Estimate { value, variance, degrees_of_freedom, .. } = *estimate;
    if variance.is_nan() || variance <= 0.0 || value <= 0.0 || value >= 1.0 {
        return None;
    }
    let slope = 1.0 / (value * (1.0 - value));
    let reach = student_quantile(degrees_of_freedom) * variance.sqrt() * slope;
    let middle = (value / (1.0 - value)).ln();
    Some([middle - reach, middle + reach].map(|logit| 1.0 / (1.0 + (-logit).exp())))
}

/// The 97.5% quantile of Student's t, from its expansion round the normal distribution's: right to 0.2% from four degrees
/// of freedom on.
fn student_quantile(degrees_of_freedom: f64) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    let terms = [
        (Z.powi(3) + Z) / 4.0,
        (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / 96.0,
        (3.0 * Z.powi(7) + 19.0 * Z.powi(5) + 17.0 * Z.powi(3) - 15.0 * Z) / 384.0,
        (79.0 * Z.powi(9) + 776.0 * Z.powi(7) + 1482.0 * Z.powi(5) - 1920.0 * Z.powi(3) - 945.0 * Z) / 92_160.0,
    ];
    // Horner's rule in 1/ν.
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / degrees_of_freedom) + Z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_rows_have_the_values_of_the_definitions() {
        let found = find(&read(BUILT_IN).unwrap()).unwrap();
        for (estimate, expected) in found.metrics.iter().zip([73.0 / 80.0, 883.0 / 960.0, 991.0 / 1080.0]) {
            assert!((estimate.value - expected).abs() < 1e-15, "{} is not {expected}", estimate.value);
        }
    }

    #[test]
    fn intervals_are_those_of_the_python_package() {
        let found = find(&read(BUILT_IN).unwrap()).unwrap();
        let expected = [[0.566_474, 0.988_128], [0.665_556, 0.985_093], [0.669_708, 0.983_909]];
        for (estimate, expected) in found.metrics.iter().zip(expected) {
            let limits = interval(estimate).unwrap();
            for (limit, expected) in limits.iter().zip(expected) {
                assert!((limit - expected).abs() < 2e-4, "{limits:?}, not {expected}");
            }
        }
    }

    #[test]
    fn quantiles_are_those_of_tables() {
        for (freedom, expected) in [(4.0, 2.776_445), (5.0, 2.570_582), (10.0, 2.228_139), (100.0, 1.983_972)] {
            let found = student_quantile(freedom);
            assert!((found / expected - 1.0).abs() < 2e-3, "{found} is not {expected}");
        }
    }

    #[test]
    fn scores_that_separate_all_classes_have_no_interval() {
        let predictions = read("label,a,b\na,0.9,0.1\na,0.8,0.2\nb,0.3,0.7\nb,0.1,0.9\n").unwrap();
        let page = table(&predictions, &find(&predictions).unwrap()).unwrap();
        assert!(page.contains("AUC_mu                         1.0000                none\n"), "{page}");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let refusal = |text: &str| read(text).err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(refusal(""), "there is no line that names the columns");
        assert_eq!(refusal("y,a,b\nc,1,0\n"), "line 2: there is no column for the label \"c\"");
        assert_eq!(refusal("y,a,b\na,1,0\nb,0,x\n"), "line 3: \"x\" is not a number");
        assert_eq!(refusal("y,a,b\na,1\n"), "line 2 has 1 scores, not one for each of the 2 classes");
    }
}
