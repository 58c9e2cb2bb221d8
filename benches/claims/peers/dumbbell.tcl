# Dumbbell of N NewReno flows for ns-2.35, as described in docs/developers/performance.md ("Other simulators").
# Usage: ns dumbbell.tcl FLOWS SECONDS. Prints packet-hops, and the utilisation of the second half.

proc frac {x} { expr {$x - floor($x)} }

set flows [lindex $argv 0]
set seconds [lindex $argv 1]
set rate [expr {$flows * 1e7}]
set buffer [expr {int($rate * 0.1 / 12000 / 10)}]

set ns [new Simulator]
$ns use-scheduler Calendar
Agent/TCP set packetSize_ 1460
Agent/TCP set window_ 1000000
Agent/TCP set maxcwnd_ 0
Agent/TCP set windowInit_ 10
Agent/TCP set minrto_ 0.25
Queue set limit_ 10000

set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right [expr {$rate}]b 48ms DropTail
$ns queue-limit $left $right $buffer
for {set i 0} {$i < $flows} {incr i} {
    set source [$ns node]
    set sink [$ns node]
    $ns duplex-link $source $left [expr {10 * $rate}]b [expr {0.5 + [frac [expr {$i * 0.7549}]]}]ms DropTail
    $ns duplex-link $right $sink [expr {10 * $rate}]b 1ms DropTail
    set sender [new Agent/TCP/Newreno]
    set receiver [new Agent/TCPSink]
    $ns attach-agent $source $sender
    $ns attach-agent $sink $receiver
    $ns connect $sender $receiver
    set data [new Application/FTP]
    $data attach-agent $sender
    set start [frac [expr {$i * 0.6180}]]
    $ns at $start "$sender set ssthresh_ 64; $data start"
}
set forth [$ns monitor-queue $left $right ""]
set back [$ns monitor-queue $right $left ""]
$ns at [expr {$seconds / 2.0}] {set half [$forth set bdepartures_]}
$ns at $seconds {
    set hops [expr {3 * [$forth set pdepartures_] + [$forth set pdrops_] + 3 * [$back set pdepartures_]}]
    set share [expr {([$forth set bdepartures_] - $half) * 8 / ($rate * $seconds / 2)}]
    puts "$hops $share"
    exit 0
}
$ns run
