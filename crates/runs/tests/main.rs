//! Every test file of the crate, in one binary: each binary is linked with all that it uses.

mod bundles;
mod bursts;
mod circuits;
mod copies;
mod core;
mod cuts;
mod engines;
mod failing_fibres;
mod forwarding;
mod found;
mod lightpaths;
mod live;
mod losses;
mod mahimahi;
mod multipath;
mod out_of_service;
mod pcapng;
mod protected_bundles;
mod protected_links;
mod random_failures;
mod routed_bundles;
mod routing;
mod schemes;
mod segments;
mod switches;
mod traffic;
