# The clusters of forty invented people by base R: Rscript tests/reference/clusters.R > tests/reference/clusters.json
# Items are z-scored; kmeans with thirty random starts, Lloyd's algorithm. Sample and population deviations give the same clusters.
set.seed(20261121)
centres <- matrix(sample(2:6, 4 * 8, replace = TRUE), nrow = 4)
people <- t(sapply(rep(1:4, times = c(14, 11, 9, 6)), function(g) pmin(7, pmax(1, round(centres[g, ] + rnorm(8, 0, 0.8))))))
fit <- kmeans(scale(people), centers = 4, nstart = 30, iter.max = 300, algorithm = "Lloyd")
n <- nrow(people)
centroids <- fit$centers * sqrt(n / (n - 1))
row <- function(x) paste0("[", paste(x, collapse = ", "), "]")
cat("{\n\"source\": \"", R.version.string, ", tests/reference/clusters.R\",\n", sep = "")
cat("\"people\": [", paste(apply(people, 1, row), collapse = ",\n"), "],\n", sep = "")
cat("\"labels\": ", row(fit$cluster), ",\n", sep = "")
cat("\"centroids\": [", paste(apply(signif(centroids, 15), 1, row), collapse = ",\n"), "]\n}\n", sep = "")
