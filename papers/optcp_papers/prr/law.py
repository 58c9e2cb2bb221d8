"""Shares of flows that still use failed paths, in closed form and without the simulator."""


def stuck_one_way(p: float, k: int) -> float:
    """Return the share of flows with at least ``k`` RTOs if a share ``p`` of the paths drops all data.

    Each RTO draws the path again, so that ``k`` transmissions fail independently.
    """
    return p**k


def stuck_both_ways(p: float, k: int, draws_at: int = 3) -> float:
    """Return the share of flows with at least ``k`` RTOs if data and ACKs fail on a share ``p`` of the paths each.

    The sender draws its path at each RTO. The receiver draws the path of its ACKs from a given arrival of the segment
    on. The third arrival is the second duplicate.

    Parameters
    ----------
    draws_at
        Number of this arrival. Kernels that compare flow labels draw at the second one; the share is then
        ``(1 - (1 - p)**2)**k``.
    """
    # Shares of flows by number of arrivals, up to this one, and whether the path of ACKs works.
    waiting = {(0, True): 1 - p, (0, False): p}
    for _ in range(k):
        after: dict[tuple[int, bool], float] = {}

        def add(arrived: int, works: bool, share: float, to: dict[tuple[int, bool], float] = after) -> None:
            to[arrived, works] = to.get((arrived, works), 0.0) + share

        for (arrived, works), share in waiting.items():
            add(arrived, works, share * p)
            more = min(arrived + 1, draws_at)
            if more == draws_at:
                add(more, False, share * (1 - p) * p)
            elif not works:
                add(more, False, share * (1 - p))
        waiting = after
    return sum(waiting.values())
