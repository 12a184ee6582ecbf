"""What the codes of a study show: agreement, equivalence, calibration, corrected means, costs."""
