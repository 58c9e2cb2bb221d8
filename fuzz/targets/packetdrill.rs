#![no_main]

optcp_fuzz::fuzz!(Packetdrill);
