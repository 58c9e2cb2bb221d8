#![no_main]

optcp_fuzz::fuzz!(Parquet);
