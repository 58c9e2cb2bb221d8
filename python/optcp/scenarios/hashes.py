"""Paths of flows in one run, as selected by the ECMP hashes of routers."""

from __future__ import annotations

from typing import Any


def with_hashes(resolved: dict[str, Any], hashed: dict[str, Any] | None) -> dict[str, Any]:
    """Return the scenario with one route per hashed flow: the path that the hashes of the run select."""
    if hashed is None:
        return resolved

    def spread(entry: dict[str, Any]) -> dict[str, Any]:
        routes = []
        for route in entry["routes"]:
            ways = [hashed["ways"].get(flow) for flow in route["flows"]]
            of_flows = [
                {**route, "flows": [flow], "path": way["path"], "ports": way["ports"]}
                for flow, way in zip(route["flows"], ways, strict=True)
                if way is not None
            ]
            routes += of_flows or [route]
        return {**entry, "routes": routes}

    return {key: [spread(entry) for entry in of] if key in ("flows", "traffic") else of for key, of in resolved.items()}
