"""The papers' exhibits: each is a study, the metric it reports, the printed values, and the rule that compares them."""
