# The reference values of tests/measures: the published formulas written in R with base R's cor(), so that they owe nothing to delibsim.
#
#   Rscript dri.R                       writes dri.json beside this script
#   Rscript dri.R <human_data.csv>      also writes dri_human.json from the data set of the R package deliberr
#
# Formulas: Niemeyer and Veri (2022), Niemeyer et al. (2024); adjusted index as in deliberr 0.1.0. Needs the package jsonlite.

suppressPackageStartupMessages(library(jsonlite))
arguments <- commandArgs(trailingOnly = FALSE)
here <- dirname(sub("^--file=", "", grep("^--file=", arguments, value = TRUE)))
data_file <- commandArgs(trailingOnly = TRUE)

spearman <- function(ratings) cor(t(ratings), method = "spearman")
pairs_of <- function(matrix) matrix[lower.tri(matrix)]

distance <- function(rc, rp, adjusted) {
  d <- abs(rc - rp) / sqrt(2)
  if (!adjusted) return(mean(d))
  m <- pmax(abs(rc), abs(rp))
  1 - mean((1 - d) * ifelse(m <= 0.2, m / 0.2, 1))
}

index <- function(rc, rp, adjusted = FALSE) {
  lambda <- sqrt(2) / 2
  (lambda - 2 * distance(rc, rp, adjusted)) / lambda
}

dri <- function(C, P, adjusted = FALSE) index(pairs_of(spearman(C)), pairs_of(spearman(P)), adjusted)

individual <- function(C, P, adjusted = FALSE) {
  RC <- spearman(C)
  RP <- spearman(P)
  sapply(seq_len(nrow(C)), function(i) index(RC[i, -i], RP[i, -i], adjusted))
}

relative <- function(pre, post) if (post >= pre) (post - pre) / (1 - pre) else (post - pre) / (1 + pre)

diversity <- function(X) mean(dist(X))

standardised <- function(X, population, ddof) {
  n <- nrow(population)
  spread <- apply(population, 2, sd) * sqrt((n - 1) / (n - ddof))
  if (any(spread == 0)) return(NA)  # dist() would quietly leave the item out
  diversity(sweep(X, 2, spread, "/"))
}

range_normalised <- function(X, lows, highs) {
  scaled <- sweep(sweep(X, 2, lows, "-"), 2, highs - lows, "/")
  mean(combn(nrow(X), 2, function(pair) sqrt(mean((scaled[pair[1], ] - scaled[pair[2], ])^2))))
}

stability <- function(pre, post) {
  mean(sapply(seq_len(nrow(pre)), function(i) cor(pre[i, ], post[i, ], method = "kendall")))
}

phase <- function(C, P) list(
  considerations = C, preferences = P, rc = spearman(C), rp = spearman(P),
  dri = dri(C, P), dri_adjusted = dri(C, P, TRUE),
  individual = individual(C, P), individual_adjusted = individual(C, P, TRUE),
  consideration_agreement = mean(pairs_of(spearman(C))), preference_agreement = mean(pairs_of(spearman(P))),
  diversity = diversity(cbind(C, P))
)

permutations_of <- function(x) {
  if (length(x) < 2) return(list(x))
  do.call(c, lapply(seq_along(x), function(i) lapply(permutations_of(x[-i]), function(rest) c(x[i], rest))))
}

every_shuffle <- function(C, P, adjusted) {
  sort(sapply(permutations_of(seq_len(nrow(P))), function(order) dri(C, P[order, ], adjusted)))
}

toy <- list(
  C = cbind(c(1, 2, 3, 4), c(2, 3, 4, 3), c(3, 2, 4, 2), c(4, 3, 3, 1)),
  P = cbind(c(1, 2, 3, 3), c(2, 3, 1, 2), c(3, 1, 2, 1))
)
toy_out <- phase(toy$C, toy$P)
toy_out$every_shuffle <- every_shuffle(toy$C, toy$P, FALSE)
toy_out$every_shuffle_adjusted <- every_shuffle(toy$C, toy$P, TRUE)
toy_out$p <- mean(toy_out$every_shuffle >= toy_out$dri - 1e-10)
toy_out$p_adjusted <- mean(toy_out$every_shuffle_adjusted >= toy_out$dri_adjusted - 1e-10)

set.seed(20261121)
group_of_seven <- function() {
  C <- matrix(sample(1:7, 7 * 12, replace = TRUE), 7)
  C2 <- pmin(pmax(C + matrix(sample(-2:2, 7 * 12, replace = TRUE), 7), 1), 7)
  P <- t(replicate(7, sample(5)))
  P2 <- P
  for (i in 1:7) { swap <- sample(5, 2); P2[i, swap] <- P2[i, rev(swap)] }
  pre <- phase(C, P)
  post <- phase(C2, P2)
  X <- cbind(C, P)
  lows <- rep(1, 17)
  highs <- c(rep(7, 12), rep(5, 5))
  list(
    pre = pre, post = post, relative = relative(pre$dri, post$dri), relative_adjusted = relative(pre$dri_adjusted, post$dri_adjusted),
    opinion_change_c = mean(abs(C2 - C)), opinion_change_p = mean(abs(P2 - P)), rank_stability = stability(P, P2),
    consideration_stability = stability(C, C2),
    standardised_own = standardised(X, X, 0), standardised_own_sample = standardised(X, X, 1),
    standardised_first_three = standardised(X[1:3, ], X, 0),
    lows = lows, highs = highs, range_normalised = range_normalised(X, lows, highs)
  )
}
groups <- lapply(1:6, function(i) group_of_seven())

vectors <- lapply(c(2, 3, 4, 6, 9, 15, 43), function(k) {
  repeat {
    x <- sample(1:4, k, replace = TRUE)
    y <- sample(1:7, k, replace = TRUE)
    if (sd(x) > 0 && sd(y) > 0) break
  }
  list(x = x, y = y, spearman = cor(x, y, method = "spearman"), kendall = cor(x, y, method = "kendall"))
})

save_json <- function(values, name) {
  write_json(values, file.path(here, name), digits = NA, auto_unbox = TRUE)
}

made_by <- paste0(R.version.string, ", tests/reference/dri.R: base R cor() and the published formulas")
save_json(list(source = made_by, toy = toy_out, groups = groups, vectors = vectors), "dri.json")

if (length(data_file) == 1) {
  human <- read.csv(data_file)
  surveys <- lapply(split(human, human$survey), function(survey) {
    survey <- Filter(function(column) !all(is.na(column)), survey)
    phases <- lapply(1:2, function(stage) {
      rows <- survey[survey$stage_id == stage, ]
      C <- as.matrix(rows[grep("^C[0-9]+$", names(rows))])
      P <- as.matrix(rows[grep("^P[0-9]+$", names(rows))])
      X <- cbind(C, P)
      list(n = nrow(C), dri = dri(C, P), dri_adjusted = dri(C, P, TRUE), diversity = diversity(X),
           diversity_standardised = standardised(X, X, 0),
           consideration_agreement = mean(pairs_of(spearman(C))), preference_agreement = mean(pairs_of(spearman(P))))
    })
    list(pre = phases[[1]], post = phases[[2]])
  })
  save_json(list(source = paste0(made_by, " on human_data of deliberr 0.1.0"), surveys = surveys), "dri_human.json")
}
