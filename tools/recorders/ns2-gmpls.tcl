# ns-2.35 on the scenarios of sections 5 and 6 of the GMPLS paper: prints the in-order bytes of all receivers in
# (5 s, 6.5 s]. ns2_gmpls.py calls it and writes the draws to standard input, one line each: delays of the hosts' links
# in s, start times of the flows in s, and for each flow a seed whose first random number is its clock phase.
# usage: ns ns2-gmpls.tcl <5|6> <d in s> <delta in s> <syn: 0|1> <rate of hosts' links> <rate of other access> < draws
# d only applies to section 6.
lassign $argv section d delta syn host_rate access
set backbone 10e6
gets stdin delays; gets stdin starts; gets stdin clocks
set ns [new Simulator]
# NewReno as in the profile ns2-2001. The first packet of a connection is data, or a SYN of 40 bytes.
foreach {name value} {packetSize_ 1000 useHeaders_ false window_ 30 windowInit_ 1 tcpTick_ 0.1 minrto_ 0.2
    rtxcur_init_ 6.0 maxrto_ 64 singledup_ 0 precisionReduce_ false bugfix_ss_ 0} { Agent/TCP set $name $value }
Agent/TCP set syn_ $syn; Agent/TCP set delay_growth_ $syn
Agent/TCP/Newreno set newreno_changes1_ 0
Agent/TCP/Newreno set partial_window_deflation_ 0
# An agent draws its clock phase when `run` resets it.
Agent/TCP/Newreno instproc reset {} { global defaultRNG clock; $defaultRNG seed $clock($self); $self cmd reset }

foreach name {A B C D L0 L1 L2 L3 L4 L5 L6 L7} { set $name [$ns node] }
proc link {a b rate delay} {
  global ns
  $ns duplex-link $a $b $rate $delay DropTail
  $ns queue-limit $a $b 50; $ns queue-limit $b $a 50
}
proc chain {rate delay args} {
  foreach a [lrange $args 0 end-1] b [lrange $args 1 end] { link $a $b $rate $delay }
}
chain $backbone 1ms $L0 $L1 $L2 $L3
link $A $L0 $access 1ms; link $L3 $B $access 1ms
if {$section == 5} {
  chain $backbone 1ms $L4 $L5 $L6 $L7
  chain $backbone 1ms $L1 $L5; chain $backbone 1ms $L6 $L2
  link $C $L4 $access 1ms; link $L7 $D $access 1ms
  set there [list $L5 $L6]
} else {
  chain $backbone [expr $d / 3] $L1 $L4 $L5 $L2
  set there [list $L4 $L5]
}
[$ns link $L1 $L2] dynamic; [$ns link $L2 $L1] dynamic
set sources {}; set sinks {}
set per_host [expr [llength $starts] / [llength $delays]]
for {set i 0} {$i < [llength $starts]} {incr i} {
  set of_host [expr $i / $per_host]
  # Section 5 has equally many hosts of fixed flows after those of switched ones.
  lassign [expr {$of_host < 10 ? [list $A $B] : [list $C $D]}] near far
  if {$i % $per_host == 0} {
    set host [$ns node]
    link $host $near $host_rate [lindex $delays $of_host]
    if {$of_host < 10} { lappend sources $host }
  }
  set tcp [new Agent/TCP/Newreno]; set sink [new Agent/TCPSink]
  set clock($tcp) [lindex $clocks $i]
  $ns attach-agent $host $tcp; $ns attach-agent $far $sink; $ns connect $tcp $sink
  set ftp [new Application/FTP]; $ftp attach-agent $tcp
  $ns at [lindex $starts $i] "$ftp start"
  lappend sinks $sink
}

# Sets the next hop at `at` for packets to `to`, from now on.
proc via {at to next} { global ns; $at add-route [$to id] [[$ns link $at $next] head] }
proc data {to at next} { via $at $to $next }
proc acks {at next} { global sources; foreach host $sources { via $at $host $next } }
proc total {} { global sinks; set sum 0; foreach sink $sinks { incr sum [expr int([$sink set bytes_])] }; return $sum }
lassign $there first last
$ns at 0.1 { data $B $first $last; data $B $last $L2; acks $last $first; acks $first $L1 }
$ns at 5.0 { [$ns link $L1 $L2] down; [$ns link $L2 $L1] down; set before [total] }
$ns at [expr 5 + $delta] { data $B $L1 $first; acks $L2 $last }
$ns at 6.5 { puts [expr [total] - $before]; exit 0 }
$ns run
