# ns-2.35 on the scenarios of `optcp evidence`: prints "<number>..." for one run.
# usage: ns ns2-runs.tcl loss   <variant> <receiver> <independent|periodic> <probability|period> <seed> <warm> <stop>
#        ns ns2-runs.tcl buffer <variant> <receiver> <packets of queue> <seed> <warm> <stop>
#        ns ns2-runs.tcl share  <variant> <receiver> <near delay> <far delay> <near start> <far start> <overhead>
#                               <seed> <warm> <stop>
# Delays are of the flows' own first links; times are in seconds. overhead: ns-2's random processing time of a sender
# per packet, uniform from 0.
# variant: Newreno or Sack1; receiver: TCPSink, TCPSink/DelAck, TCPSink/Sack1 or TCPSink/Sack1/DelAck.
# loss, share: segments acknowledged between `warm` and `stop`, per flow; timeouts; retransmitted segments.
# buffer: bytes of data that left the bottleneck between `warm` and `stop`.
set world [lindex $argv 0]; set variant [lindex $argv 1]; set receiver [lindex $argv 2]
set argv [lrange $argv 3 end]
set ns [new Simulator]
set rng [new RNG]
set u [new RandomVariable/Uniform]; $u use-rng $rng; $u set min_ 0; $u set max_ 1
Agent/TCP set packetSize_ [dict get {loss 1040 buffer 1000 share 1500} $world]
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set useHeaders_ false
Agent/TCP set window_ 1000000
Agent/TCP set tcpTick_ 0.01
Agent/TCP/Newreno set partial_window_deflation_ 1

proc link {a b rate delay limit} {
  global ns
  $ns duplex-link $a $b $rate $delay DropTail
  $ns queue-limit $a $b $limit; $ns queue-limit $b $a 1000000
}
proc flow {from to start} {
  global ns variant receiver
  set tcp [new Agent/TCP/$variant]; set sink [new Agent/$receiver]
  if {[string match *DelAck $receiver]} { $sink set interval_ 0.1 }
  $ns attach-agent $from $tcp; $ns attach-agent $to $sink; $ns connect $tcp $sink
  set ftp [new Application/FTP]; $ftp attach-agent $tcp
  $ns at $start "$ftp start; $tcp set ssthresh_ 20"
  return $tcp
}
set tcps {}
switch $world {
  loss {
    lassign $argv kind loss seed warm stop
    $rng seed $seed
    set a [$ns node]; set b [$ns node]
    link $a $b 1Gb 50ms 1000000
    if {$kind eq "periodic"} {
      set em [new ErrorModel/Periodic]; $em unit pkt; $em set period_ $loss
    } else {
      set em [new ErrorModel]; $em unit pkt; $em set rate_ $loss; $em ranvar $u
    }
    $em drop-target [new Agent/Null]
    $ns lossmodel $em $a $b
    lappend tcps [flow $a $b 0.0]
  }
  buffer {
    lassign $argv limit seed warm stop
    $rng seed $seed
    set a [$ns node]; set r [$ns node]; set b [$ns node]
    link $a $r 1Gb 10ms 1000000
    link $r $b 8Mb 40ms $limit
    lappend tcps [flow $a $b [$u value]]
    set monitor [$ns monitor-queue $r $b ""]
    $ns at $warm {set left [$monitor set bdepartures_]}
    $ns at $stop {puts [expr [$monitor set bdepartures_] - $left]; exit 0}
  }
  share {
    lassign $argv near far near_start far_start overhead seed warm stop
    Agent/TCP set overhead_ $overhead
    ns-random $seed
    $rng seed $seed
    set a [$ns node]; set l [$ns node]; set r [$ns node]; set b [$ns node]
    link $a $r 100Mb $near 1000000
    link $l $r 100Mb $far 1000000
    link $r $b 10Mb 10ms 84
    lappend tcps [flow $a $b $near_start] [flow $l $b $far_start]
  }
}
proc state {} {
  global tcps
  set acked {}; set timeouts 0; set again 0
  foreach tcp $tcps {
    lappend acked [$tcp set ack_]; incr timeouts [$tcp set nrexmit_]; incr again [$tcp set nrexmitpack_]
  }
  return [list $acked $timeouts $again]
}
$ns at $warm {set before [state]}
$ns at $stop {
  lassign [state] acked timeouts again
  foreach now $acked then [lindex $before 0] { puts -nonewline "[expr $now - $then] " }
  puts "[expr $timeouts - [lindex $before 1]] [expr $again - [lindex $before 2]]"
  exit 0
}
$ns run
