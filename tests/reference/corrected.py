"""Corrected contrasts and means by other programs: python tests/reference/corrected.py (3.12)

Needs ppi-python 0.2.3 and glide-py 0.11.0; the values stand in corrected.json. The data are those
of tests/corrected_data.py. ppi-python takes units that nobody coded as a second sample; here that
sample is all units, as in delibsim. glide-py takes whole clusters as coded or not.
"""

import json
import sys

import numpy as np
from glide.estimators import ClusteredPPIMeanEstimator
from ppi_py import ppi_ols_pointestimate

sys.path.insert(0, "tests")
from corrected_data import equal_chances, whole_clusters

x, proxy, people = equal_chances()
read = ~np.isnan(people)
parts = (x[read], people[read], proxy[read], x, proxy)
found = {
    f"contrast at {weight}": float(ppi_ols_pointestimate(*parts, lam=weight)[1])
    for weight in (0.0, 0.4, 1.0)
}
proxy, people, clusters = whole_clusters()
estimator = ClusteredPPIMeanEstimator()
mean = estimator.estimate(people, proxy, clusters, power_tuning=False).confidence_interval
found |= {"mean": float(mean.mean), "error of the mean": float(mean.std)}
sys.stdout.write(json.dumps(found, indent=1) + "\n")
