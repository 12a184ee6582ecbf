# Mixed models by lme4, of the data in mixed_lme4.csv:
# Rscript tests/reference/mixed_lme4.R tests/reference/mixed_lme4.csv > tests/reference/mixed_lme4.json
# The slopes are those of numeric dummies, because || does not part a factor.
suppressMessages(library(lme4))
set.seed(20261122)
all <- read.csv(commandArgs(trailingOnly = TRUE)[1])
formulas <- list(
  plain = y ~ basic + normative + (1 | topic) + (1 + basic + normative || model),
  paired = y ~ basic + normative + (1 | topic) + (1 + basic + normative || model) + (1 | topic:replicate)
)
control <- lmerControl(optimizer = "bobyqa", calc.derivs = FALSE,
  optCtrl = list(rhoend = 1e-10, maxfun = 1e6), check.conv.singular = "ignore")
values <- function(fit) c(fixef(fit), as.data.frame(VarCorr(fit))$vcov)
found <- list()
for (case in unique(all$case)) {
  data <- all[all$case == case, ]
  data$basic <- as.numeric(data$treatment == "basic")
  data$normative <- as.numeric(data$treatment == "normative")
  for (name in names(formulas)) {
    fit <- lmer(formulas[[name]], data, REML = TRUE, control = control)
    parts <- as.data.frame(VarCorr(fit))
    one <- list(
      formula = paste(deparse(formulas[[name]]), collapse = ""), n = nrow(data),
      estimates = unname(fixef(fit)), errors = unname(sqrt(diag(as.matrix(vcov(fit))))),
      groups = parts$grp, terms = parts$var1, variances = parts$vcov,
      log_likelihood = as.numeric(logLik(fit))
    )
    if (case == "unbalanced" && name == "paired") {
      boot <- bootMer(fit, values, nsim = 1000, use.u = FALSE, type = "parametric")
      limits <- apply(boot$t, 2, quantile, c(.025, .975))
      one$boot <- list(draws = 1000, low = unname(limits[1, ]), high = unname(limits[2, ]))
    }
    found[[paste(case, name)]] <- one
  }
}
versions <- paste0(R.version.string, ", lme4 ", packageVersion("lme4"))
cat(jsonlite::toJSON(list(source = versions, fits = found), auto_unbox = TRUE, digits = 12, pretty = TRUE), "\n")
