"""Having the texts of a study coded by a scheme: plan, estimate, ask, replay."""
