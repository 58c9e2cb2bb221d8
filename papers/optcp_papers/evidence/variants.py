"""The senders whose long runs are compared: a line adds one."""

VARIANTS = {
    f"{profile} {recovery}": {"parameters.profile": profile, "parameters.recovery": recovery}
    for profile, recovery in (
        ("ns2-2.35", "newreno"),
        ("ns2-2.35", "sack1"),
        ("rfc", "newreno"),
        ("rfc", "sack"),
    )
}
"""By what rows and figures call them, a profile with one of the loss recoveries in it: parameters of ``tcp-*``."""
