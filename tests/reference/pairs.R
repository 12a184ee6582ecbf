# Values of R's glm() for pairs.json: for the votes of judge 1 Davidson's model as a Poisson log-linear model with a factor
# per sheet, and plain Bradley-Terry as a logistic regression; the latter for citations between journals (Stigler 1994) and
# for baseball (the American League of 1987; Agresti 2002, table 10.10) too. Base R alone; run with R 4.2.2.
#
#   Rscript tests/reference/pairs.R
#
# Where MASS is at hand it also prints what polr() says: Rao-Kupper is an ordered logit with the thresholds -theta - delta
# and theta - delta. It was not at hand where this script was written: the values of polr in pairs.json are those of the
# definitions of the project, not of a run of this script.
options(digits = 13)
texts <- c("a", "b", "c", "d")
votes <- read.table(text = "
a b 9 3 4
a c 11 2 3
a d 12 3 1
b a 8 4 4
b c 10 4 2
b d 9 5 2
c a 5 3 8
c b 7 2 7
c d 8 4 4
d a 3 4 9
d b 6 3 7
d c 7 5 4", col.names = c("first", "second", "a", "tie", "b"))
difference <- function(rows) {
  sapply(texts[-1], function(text) (rows$first == text) - (rows$second == text))
}
show <- function(name, fit, extra = character()) {
  rows <- summary(fit)$coefficients
  keep <- rownames(rows) %in% c(texts[-1], extra)
  cat("\n", name, "\n", sep = "")
  print(rows[keep, 1:2])
}

n <- nrow(votes)
long <- data.frame(
  count = c(votes$a, votes$tie, votes$b), sheet = factor(rep(seq_len(n), 3)),
  tie = rep(c(0, 1, 0), each = n), first = rep(c(1, 0, 0), each = n), second = rep(c(0, 0, 1), each = n)
)
x <- difference(votes)
half <- rbind(x / 2, 0 * x, -x / 2)
place <- rep(c(0.5, 0, -0.5), each = n)
long <- cbind(long, half, place = place)
control <- glm.control(epsilon = 1e-14, maxit = 100)
show("davidson", glm(count ~ sheet + b + c + d + tie - 1, poisson, long, control = control), "tie")
show("davidson, order",
     glm(count ~ sheet + b + c + d + tie + place - 1, poisson, long, control = control), c("tie", "place"))

plain <- cbind(votes, x)
names(plain)[6:8] <- c("sb", "sc", "sd")
logistic <- function(won, lost, order) {
  formula <- if (order) cbind(won, lost) ~ sb + sc + sd else cbind(won, lost) ~ sb + sc + sd - 1
  environment(formula) <- environment()
  summary(suppressWarnings(glm(formula, binomial, plain, control = control)))$coefficients[, 1:2]
}
cat("\nbt, ties dropped\n"); print(logistic(plain$a, plain$b, FALSE))
cat("\nbt, ties dropped, order\n"); print(logistic(plain$a, plain$b, TRUE))
cat("\nbt, half\n"); print(logistic(plain$a + plain$tie / 2, plain$b + plain$tie / 2, FALSE))

citations <- rbind(c(0, 730, 498, 221), c(33, 0, 68, 17), c(320, 813, 0, 142), c(284, 276, 325, 0))
games <- t(combn(4, 2))
won <- citations[games]
lost <- citations[games[, 2:1]]
design <- sapply(2:4, function(i) (games[, 1] == i) - (games[, 2] == i))
fit <- glm(cbind(won, lost) ~ design - 1, binomial, control = control)
cat("\ncitations\n"); print(summary(fit)$coefficients[, 1:2]); print(c(logLik(fit), deviance(fit)))

teams <- c("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
home <- c("-   4-3 4-2 4-3 6-1 4-2 6-0", "3-3 -   4-2 4-3 6-0 6-1 4-3", "2-5 4-3 -   2-4 4-3 4-2 6-0",
          "3-3 5-1 2-5 -   4-3 4-2 6-1", "5-1 2-5 3-3 4-2 -   5-2 6-0", "2-5 3-3 3-4 4-3 4-2 -   2-4",
          "2-5 1-5 1-6 2-4 1-6 3-4 -")
cells <- do.call(rbind, strsplit(home, " +"))
played <- which(cells != "-", arr.ind = TRUE)
results <- do.call(rbind, strsplit(cells[played], "-"))
storage.mode(results) <- "numeric"
design <- sapply(1:6, function(i) (played[, 1] == i) - (played[, 2] == i))
colnames(design) <- teams[1:6]
fit <- glm(results ~ design, binomial, control = control)
cat("\nbaseball\n"); print(summary(fit)$coefficients[, 1:2])
fit <- glm(results ~ design - 1, binomial, control = control)
cat("\nbaseball, without at.home\n"); print(summary(fit)$coefficients[, 1:2])

if (requireNamespace("MASS", quietly = TRUE)) {
  outcome <- factor(rep(c("b", "tie", "a"), each = n), levels = c("b", "tie", "a"), ordered = TRUE)
  ordered <- data.frame(outcome, rbind(x, x, x), weight = c(votes$b, votes$tie, votes$a))
  print(summary(MASS::polr(outcome ~ b + c + d, ordered, weights = weight, Hess = TRUE)))
}
