# The reference values of tests/measures/inference/test_intraclass.py: intraclass correlations by R's
# analysis of variance and by the package psych, so that they owe nothing to delibsim.
#
#   Rscript intraclass.R                writes intraclass.json beside this script
#
# Without fixed effects: ICC1 of psych::ICC (Shrout and Fleiss 1979) where clusters have equal sizes; from the
# mean squares of aov() with Donner's mean size of a cluster (1986) where they do not. After fixed effects:
# Henderson's method III, from the residual sums of squares of two fits of lm() and the trace of Z'MZ, M being
# the projection away from the fixed effects (Searle, Casella and McCulloch 1992, section 5.5).
# Needs the packages jsonlite and psych.

suppressPackageStartupMessages({
  library(jsonlite)
  library(psych)
})
arguments <- commandArgs(trailingOnly = FALSE)
here <- dirname(sub("^--file=", "", grep("^--file=", arguments, value = TRUE)))

one_way <- function(value, cluster) {
  squares <- summary(aov(value ~ factor(cluster)))[[1]][["Mean Sq"]]
  n <- as.numeric(table(cluster))
  size <- (sum(n) - sum(n^2) / sum(n)) / (length(n) - 1)
  list(between = squares[1], within = squares[2], size = size,
       icc = (squares[1] - squares[2]) / (squares[1] + (size - 1) * squares[2]))
}

adjusted <- function(value, cluster, fixed) {
  d <- data.frame(value, cluster = factor(cluster), fixed)
  formula <- reformulate(names(fixed), "value")
  without <- lm(formula, d)
  with <- lm(update(formula, . ~ . + cluster), d)
  X <- model.matrix(without)
  Z <- model.matrix(~ cluster - 1, d)
  trace <- sum(diag(crossprod(Z, Z - X %*% qr.solve(crossprod(X), crossprod(X, Z)))))
  error <- deviance(with) / df.residual(with)
  reduction <- deviance(without) - deviance(with)
  between <- (reduction - (df.residual(without) - df.residual(with)) * error) / trace
  list(error = error, between = between, icc = between / (between + error))
}

set.seed(20)
# Table 2 of Shrout and Fleiss (1979): six targets, four judges.
ratings <- rbind(c(9, 2, 5, 8), c(6, 1, 3, 2), c(8, 4, 6, 8), c(7, 1, 2, 6), c(10, 5, 6, 9), c(6, 2, 4, 7))
balanced <- list(
  value = as.vector(t(ratings)), cluster = rep(1:6, each = 4),
  icc = ICC(ratings, lmer = FALSE)$results["Single_raters_absolute", "ICC"]
)

sizes <- c(3, 7, 5, 9, 2, 4)
cluster <- rep(seq_along(sizes), sizes)
value <- round(rnorm(length(cluster)) + rnorm(length(sizes), sd = 0.8)[cluster], 3)
unequal <- c(list(value = value, cluster = cluster), one_way(value, cluster))

alternating <- rep(c(-1, 1), 9) + round(rnorm(18, sd = 0.1), 3)
below_zero <- c(list(value = alternating, cluster = rep(1:9, each = 2)), one_way(alternating, rep(1:9, each = 2)))

grid <- expand.grid(replicate = 1:3, treatment = c("basic", "none", "normative"), model = c("a", "b", "c", "d"), topic = 1:5)
grid <- grid[-sample(nrow(grid), 31), ]
moved <- rnorm(5, sd = 0.5)[grid$topic] + c(a = 0, b = 0.4, c = -0.3, d = 0.9)[grid$model]
grid$value <- round(moved + 0.2 * (grid$treatment == "normative") + rnorm(nrow(grid)), 3)
fixed <- data.frame(model = grid$model, treatment = grid$treatment)
crossed <- c(
  list(value = grid$value, cluster = grid$topic, model = as.character(grid$model), treatment = as.character(grid$treatment)),
  adjusted(grid$value, grid$topic, fixed),
  list(raw = one_way(grid$value, grid$topic)$icc)
)

found <- list(
  source = paste("intraclass.R with", R.version.string, "and psych", packageVersion("psych")),
  balanced = balanced, unequal = unequal, below_zero = below_zero, crossed = crossed
)
write_json(found, file.path(here, "intraclass.json"), auto_unbox = TRUE, digits = NA)
