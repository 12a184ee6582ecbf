# The script for the values of irrCAC in agreement.json: R 4.2.2, irrCAC 1.4. It prints one row a
# coefficient; irrCAC rounds to five digits, so the rounding of its functions is taken out first.
# The values in agreement.json are older than this script, which was not run where it was written,
# because irrCAC could not be had there: who has it may check them, and the script.
#
# Rscript tests/reference/agreement.R
library(irrCAC)

unrounded <- function(name) {
  f <- get(name, envir = asNamespace("irrCAC"))
  environment(f) <- list2env(list(round = function(x, ...) x), parent = asNamespace("irrCAC"))
  f
}

as_table <- function(rows) {
  cells <- strsplit(strsplit(rows, " ")[[1]], "")
  wide <- do.call(rbind, cells)
  wide[wide == "."] <- NA
  matrix(as.numeric(wide), nrow = length(cells))
}

raw <- list(
  ac = "gwet.ac1.raw", kappa = "conger.kappa.raw", fleiss = "fleiss.kappa.raw",
  brennan_prediger = "bp.coeff.raw", alpha = "krippen.alpha.raw", percent = "pa.coeff.raw"
)
cells <- list(ac = "gwet.ac1.table", kappa = "kappa2.table", alpha = "krippen2.table")
weightings <- list(
  identity = identity.weights, linear = linear.weights, quadratic = quadratic.weights,
  ordinal = ordinal.weights
)

show <- function(data, name, weighting, est) {
  cat(data, name, weighting, format(unlist(est)[1:6], digits = 12), "\n")
}

of_codes <- function(data, rows, levels) {
  table <- as_table(rows)
  for (name in names(raw)) {
    for (weighting in names(weightings)) {
      weights <- weightings[[weighting]](levels)
      found <- unrounded(raw[[name]])(table, weights = weights, categ.labels = levels)
      show(data, name, weighting, found$est)
    }
  }
}

of_cells <- function(data, counts) {
  for (name in names(cells)) {
    for (weighting in c("identity", "linear", "quadratic")) {
      weights <- weightings[[weighting]](seq_len(nrow(counts)))
      show(data, name, weighting, unrounded(cells[[name]])(counts, weights = weights))
    }
  }
}

of_codes("A", "11.1 2232 3333 3333 2222 1234 4444 1121 2222 .555 ..11 ..3.", 1:5)
of_codes("B", "000 112 222 010 212 00. 111 201 .11 000 2.. 122", 0:2)
of_codes("D", "00 01 11 11 12 22 22 11 00 21", 0:2)
of_codes("D4", "00 01 11 11 12 22 22 11 00 21", 0:3)
of_cells("X", matrix(c(13, 0, 0, 0, 20, 7, 0, 4, 56), 3, byrow = TRUE))
of_cells("P", matrix(c(118, 5, 2, 0), 2, byrow = TRUE))
of_cells("R", matrix(c(2, 3, 1, 4, 151, 23, 1, 8, 7), 3, byrow = TRUE))
of_cells("C", matrix(c(63, 38, 0, 0, 2, 2, 67, 3, 25), 3, byrow = TRUE))
print(landis.koch.bf(0.77544, 0.14295))
