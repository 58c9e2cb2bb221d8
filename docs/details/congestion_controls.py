"""Congestion controls in Python: examples for python-congestion.md, which tests compare with the built-in ones."""

import struct

import optcp

S = 10**12  # picoseconds


class Aimd(optcp.CongestionControl):
    """RFC 5681: one segment more per RTT, half after a loss."""

    def on_ack(self, ack):
        self.cwnd += min(ack.counted * self.mss * self.mss / self.cwnd, self.mss)

    def on_loss(self, basis):
        return basis / 2


class Cubic(optcp.CongestionControl):
    """RFC 9438, without fast convergence."""

    C = 0.4
    BETA = 0.7
    ALPHA = 9 / 17

    def __init__(self):
        self.prior = self.w_max = self.epoch = self.saved = None

    def on_ack(self, ack):
        if self.cwnd < self.ssthresh:
            self.epoch = None
            return
        if not ack.limited:
            if self.epoch:
                self.skip(self.epoch, self.now_ps - self.epoch["last"])
            return
        cwnd = self.cwnd / self.mss
        if self.epoch is None:
            w_max = max(cwnd if self.w_max is None else self.w_max, cwnd)
            k = cube_root((w_max - cwnd) / self.C)
            self.epoch = {"start": self.now_ps, "w_max": w_max, "k": k, "w_est": cwnd}
        epoch = self.epoch
        epoch["last"] = self.now_ps
        if self.prior is None:
            self.prior = cwnd
        share = min(ack.counted / cwnd, 1.0)
        epoch["w_est"] += (1.0 if epoch["w_est"] >= self.prior else self.ALPHA) * share
        t = (self.now_ps - epoch["start"]) / S
        if self.w_cubic(t) < epoch["w_est"]:
            grown = epoch["w_est"]
        else:
            target = min(max(self.w_cubic(t + (self.srtt_ps or 0) / S), cwnd), 1.5 * cwnd)
            grown = cwnd + (target - cwnd) * share
        self.cwnd = max(self.cwnd, grown * self.mss)

    def w_cubic(self, t):
        t -= self.epoch["k"]
        return self.C * (t * t * t) + self.epoch["w_max"]

    def skip(self, epoch, idle_ps):
        epoch["start"] += min(self.now_ps - epoch["last"], idle_ps)
        epoch["last"] = self.now_ps

    def on_loss(self, basis):
        self.prior = self.w_max = self.cwnd / self.mss
        self.epoch = None
        return basis * self.BETA

    def on_rto(self):
        self.w_max = self.epoch = None

    def on_restart(self, idle_ps):
        for epoch in (self.epoch, self.saved and self.saved[2]):
            if epoch:
                self.skip(epoch, idle_ps)

    def on_save(self):
        self.saved = (self.prior, self.w_max, self.epoch and dict(self.epoch))

    def on_undo(self):
        if self.saved:
            self.prior, self.w_max, self.epoch = self.saved
            self.saved = None


def cube_root(x):
    """Return the cube root with the same operations as the built-in control, and so with the same bits."""
    if x <= 0:
        return 0.0
    bits = struct.unpack("<Q", struct.pack("<d", x))[0]
    root = struct.unpack("<d", struct.pack("<Q", bits // 3 + (341 << 53)))[0]
    for _ in range(6):
        root = (2.0 * root + x / (root * root)) / 3.0
    return root


class Copa(optcp.CongestionControl):
    """Arun and Balakrishnan, NSDI 2018, section 2, in its default mode."""

    slow_start = False
    DELTA = 0.5

    def __init__(self):
        self.samples = []  # RTTs of the last 10 s
        self.starts = True
        self.velocity, self.grows, self.rounds = 1.0, True, 0
        self.round_end, self.round_cwnd = 0, 0.0

    def on_delivery(self, delivery):
        if delivery.rtt_ps is None or self.srtt_ps is None:
            return
        self.samples = [one for one in self.samples if one[0] > self.now_ps - 10 * S and one[1] < delivery.rtt_ps]
        self.samples.append((self.now_ps, delivery.rtt_ps))
        # The list is sorted by RTT: older samples that are not smaller have gone.
        standing_s = next(rtt for at, rtt in self.samples if at > self.now_ps - self.srtt_ps // 2) / S
        queueing_s = standing_s - self.samples[0][1] / S
        cwnd = self.cwnd / self.mss
        grows = cwnd / standing_s * self.DELTA * queueing_s <= 1
        if self.starts and grows:
            cwnd += delivery.delivered
        else:
            self.starts = False
            if delivery.total_delivered >= self.round_end:
                self.turn(cwnd)
                self.round_end = delivery.total_delivered + delivery.in_flight
            if grows != self.grows:
                self.velocity = 1.0
            step = self.velocity * delivery.delivered / (self.DELTA * cwnd)
            cwnd += step if grows else -step
        self.cwnd = max(cwnd, 2.0) * self.mss
        self.pacing_rate = 2 * self.cwnd / standing_s

    def turn(self, cwnd):
        """Double the velocity once per RTT, after three RTTs in one direction."""
        grows = cwnd > self.round_cwnd
        self.rounds = self.rounds + 1 if grows == self.grows else 0
        self.velocity = 2 * self.velocity if self.rounds >= 3 else 1.0
        self.grows, self.round_cwnd = grows, cwnd

    def on_loss(self, basis):
        return None  # Losses are no signal in the default mode.
