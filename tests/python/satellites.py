"""Satellite files for tests, in the formats of Hypatia and others."""


def tle(number, inclination_deg, node_deg, anomaly_deg, revs_a_day, epoch="00001.00000000", perigee_deg=0.0):
    """Return two-line elements of a circular orbit, with the columns of the SGP-4 report."""
    first = f"1 {number:05}U 00000ABC {epoch}  .00000000  00000-0  00000+0 0    0"
    second = f"2 {number:05} {inclination_deg:8.4f} {node_deg:8.4f} 0000001 {perigee_deg:8.4f} {anomaly_deg:8.4f} "
    second += f"{revs_a_day:11.8f}    0"
    return [line + checksum(line) for line in (first, second)]


def checksum(line):
    """Return the last digit of the sum of all digits, in which a minus counts as one."""
    return str((sum(int(item) for item in line if item.isdigit()) + line.count("-")) % 10)


def kuiper(planes=34, satellites=34, names=True):
    """Return Kuiper-630 as in Hypatia's tles.txt: every second plane is shifted by half a distance."""
    lines = [f"{planes} {satellites}"]
    for number in range(planes * satellites):
        plane, place = divmod(number, satellites)
        lines += [f"Kuiper-630 {number}"] if names else []
        ahead = 180 / satellites if plane % 2 else 0
        lines += tle(number + 1, 51.9, 360 * plane / planes, ahead + 360 * place / satellites, 14.8)
    return "\n".join([*lines, ""])
