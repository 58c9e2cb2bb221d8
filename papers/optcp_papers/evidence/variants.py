"""Senders whose long runs are compared. Each line adds one."""

VARIANTS = {
    f"{profile} {recovery}": {"parameters.profile": profile, "parameters.recovery": recovery}
    for profile, recovery in (
        ("ns2-2.35", "newreno"),
        ("ns2-2.35", "sack1"),
        ("rfc", "newreno"),
        ("rfc", "sack"),
    )
}
"""Parameters of ``tcp-*`` by name in rows and figures: a profile with one of its loss recoveries."""
