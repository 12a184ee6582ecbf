"""Having the texts of a study judged in pairs: plan, estimate, ask, replay."""
