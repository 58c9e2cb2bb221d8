"""Files of satellites for tests, in the forms that Hypatia and others write."""


def tle(number, inclination_deg, node_deg, anomaly_deg, revs_a_day, epoch="00001.00000000", perigee_deg=0.0):
    """Two-line elements of a circular orbit, as the report on SGP-4 has their columns."""
    first = f"1 {number:05}U 00000ABC {epoch}  .00000000  00000-0  00000+0 0    0"
    second = f"2 {number:05} {inclination_deg:8.4f} {node_deg:8.4f} 0000001 {perigee_deg:8.4f} {anomaly_deg:8.4f} "
    second += f"{revs_a_day:11.8f}    0"
    return [line + checksum(line) for line in (first, second)]


def checksum(line):
    """The last digit of the sum of all digits, a minus being one."""
    return str((sum(int(one) for one in line if one.isdigit()) + line.count("-")) % 10)


def kuiper(planes=34, satellites=34, names=True):
    """Kuiper-630 as Hypatia's tles.txt: each second plane half a distance ahead."""
    lines = [f"{planes} {satellites}"]
    for number in range(planes * satellites):
        plane, place = divmod(number, satellites)
        lines += [f"Kuiper-630 {number}"] if names else []
        ahead = 180 / satellites if plane % 2 else 0
        lines += tle(number + 1, 51.9, 360 * plane / planes, ahead + 360 * place / satellites, 14.8)
    return "\n".join([*lines, ""])
