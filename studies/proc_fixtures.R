# What pROC says about the samples of tests/core/proc_samples.py, for the fixtures that the tests compare with:
#
#     python tests/core/proc_samples.py samples.csv && Rscript studies/proc_fixtures.R samples.csv tests/core/fixtures/proc.json

suppressPackageStartupMessages(library(pROC))

paths <- commandArgs(trailingOnly = TRUE)
lines <- strsplit(readLines(paths[1]), ",")
names_of_rows <- sapply(lines, `[[`, 1)
largest_with_coordinates <- 120 # rows

# pROC has no corrected partial area of a curve below chance.
number <- function(x) ifelse(is.na(as.numeric(x)), "null", sprintf("%.17g", as.numeric(x)))
numbers <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
object <- function(...) {
  fields <- c(...)
  paste0("{", paste(sprintf("\"%s\": %s", names(fields), fields), collapse = ", "), "}")
}

sample_of <- function(name) {
  rows <- lines[names_of_rows == name]
  list(
    codes = as.integer(sapply(rows, `[[`, 2)),
    scores = t(sapply(rows, function(row) as.numeric(row[-(1:2)])))
  )
}

curve_of <- function(sample, column) {
  roc(sample$codes, sample$scores[, column], levels = c(0, 1), direction = "<", quiet = TRUE)
}

area <- function(curve, focus, corrected) {
  auc(curve, partial.auc = c(1, 0.8), partial.auc.focus = focus, partial.auc.correct = corrected)
}

of_model <- function(curve, rows) {
  fields <- c(
    auc = number(auc(curve)),
    variance = number(var(curve, method = "delong")),
    partial_specificity = number(area(curve, "specificity", FALSE)),
    partial_specificity_corrected = number(suppressWarnings(area(curve, "specificity", TRUE))),
    partial_sensitivity = number(area(curve, "sensitivity", FALSE)),
    partial_sensitivity_corrected = number(suppressWarnings(area(curve, "sensitivity", TRUE)))
  )
  if (rows <= largest_with_coordinates) {
    fields <- c(
      fields,
      sensitivities = numbers(curve$sensitivities),
      specificities = numbers(curve$specificities)
    )
  }
  object(fields)
}

of_test <- function(test) {
  fields <- c(statistic = number(unname(test$statistic)), p_value = number(test$p.value))
  if (!is.null(test$parameter)) fields <- c(fields, degrees_of_freedom = number(unname(test$parameter)))
  object(fields)
}

of_binary <- function(name) {
  sample <- sample_of(name)
  curves <- lapply(1:2, function(column) curve_of(sample, column))
  # On other rows: the first model here against the first model of the next sample.
  other <- curve_of(sample_of(binary[match(name, binary) %% length(binary) + 1]), 1)
  object(c(
    first = of_model(curves[[1]], length(sample$codes)),
    second = of_model(curves[[2]], length(sample$codes)),
    covariance = number(cov(curves[[1]], curves[[2]], method = "delong")),
    paired = of_test(roc.test(curves[[1]], curves[[2]], method = "delong", paired = TRUE)),
    unpaired = of_test(roc.test(curves[[1]], other, method = "delong", paired = FALSE))
  ))
}

of_many <- function(name) {
  sample <- sample_of(name)
  scores <- sample$scores
  colnames(scores) <- as.character(seq_len(ncol(scores)) - 1)
  object(c(hand_till = number(multiclass.roc(sample$codes, scores, quiet = TRUE)$auc)))
}

all_names <- unique(names_of_rows)
widths <- sapply(all_names, function(name) ncol(sample_of(name)$scores))
binary <- all_names[widths == 2]
many <- all_names[widths > 2]
made <- c(
  made_by = object(c(
    R = sprintf("\"%s\"", paste(R.version$major, R.version$minor, sep = ".")),
    pROC = sprintf("\"%s\"", packageVersion("pROC"))
  )),
  binary = object(sapply(binary, of_binary)),
  many = object(sapply(many, of_many))
)
writeLines(object(made), paths[2])
