# RED of ns-2, for queue_ns2.py, which describes the recordings.
# usage: ns queue_ns2.tcl draws <how many>
#        ns queue_ns2.tcl defaults <variable of the queue>...
#        ns queue_ns2.tcl law   <bit/s> <file of arrivals: nanoseconds and bytes> <variable=value of the queue>...
#        ns queue_ns2.tcl flows <flows> <seed> <variable=value of the queue or, with tcp: before it, of the senders>...
# draws: numbers of the default generator of a fresh ns-2, which RED also uses.
# law:   one line per arrival: time, ave_, curq_, prob1_, cur_max_p_, early drops and forced drops so far.
#        The trace of the queue, which includes marks, goes to the file law.tr.
# flows: one line: arrived packets, early drops, forced drops, marks, mean queue in packets, transmitted bytes,
#        seconds, acknowledged segments of each flow.
set world [lindex $argv 0]
if {$world eq "draws"} {
  for {set k 0} {$k < [lindex $argv 1]} {incr k} { puts [$defaultRNG uniform 0 1] }
  exit 0
}
if {$world eq "defaults"} {
  set queue [new Queue/RED]
  foreach name [lrange $argv 1 end] { puts "$name [$queue set $name]" }
  exit 0
}
set ns [new Simulator]
# Agents use another generator, so only RED uses the default one.
set rng [new RNG]
proc configure {queue words} {
  foreach word $words {
    lassign [split $word =] name value
    if {[string match tcp:* $name]} { Agent/TCP set [string range $name 4 end] $value } else { $queue set $name $value }
  }
}
set early [new Agent/LossMonitor]; set full [new Agent/LossMonitor]
Agent/TCP set useHeaders_ false
Agent/TCP set syn_ false
switch $world {
  law {
    lassign [lrange $argv 1 2] rate arrivals
    set a [$ns node]; set b [$ns node]
    $ns simplex-link $a $b $rate 1ms RED
    $ns simplex-link $b $a $rate 1ms DropTail
    set queue [[$ns link $a $b] queue]
    configure $queue [lrange $argv 3 end]
    $ns trace-queue $a $b [open law.tr w]
    $queue early-drop-target $early
    $queue drop-target $full
    # Sender of ECT packets without window limit and without feedback: one packet per call.
    Agent/TCP set ecn_ 1
    Agent/TCP set window_ 1000000
    Agent/TCP set rtxcur_init_ 100000
    set tcp [new Agent/TCP]; set sink [new Agent/Null]
    $ns attach-agent $a $tcp; $ns attach-agent $b $sink; $ns connect $tcp $sink
    proc arrive {size} {
      global tcp queue early full ns
      $tcp set packetSize_ $size
      $tcp set cwnd_ 1000000
      $tcp advanceby 1
      puts "[$ns now] [$queue set ave_] [$queue set curq_] [$queue set prob1_] [$queue set cur_max_p_]\
        [$early set npkts_] [$full set npkts_]"
    }
    set file [open $arrivals]
    while {[gets $file line] >= 0} {
      lassign $line at size
      $ns at [expr {$at * 1e-9}] "arrive $size"
    }
    $ns at [expr {$at * 1e-9 + 1}] {exit 0}
  }
  flows {
    lassign [lrange $argv 1 2] flows seed
    set warm 20.0; set stop 120.0
    $defaultRNG seed $seed
    $rng seed [expr {$seed + 1000}]
    set u [new RandomVariable/Uniform]; $u use-rng $rng; $u set min_ 0; $u set max_ 1
    set l [$ns node]; set r [$ns node]
    $ns simplex-link $l $r 10Mb 20ms RED
    $ns simplex-link $r $l 10Mb 20ms DropTail
    $ns queue-limit $r $l 100000
    set queue [[$ns link $l $r] queue]
    Agent/TCP set packetSize_ 1000
    Agent/TCP set tcpip_base_hdr_size_ 0
    Agent/TCP set window_ 100000
    Agent/TCP set tcpTick_ 0.01
    configure $queue [lrange $argv 3 end]
    set trace [open "|awk {\$1 == \"-\" && \$2 >= $warm && \$7 ~ /E/ {n++} END {print n + 0}}" w+]
    $ns trace-queue $l $r $trace
    set monitor [$ns monitor-queue $l $r ""]
    # Count both kinds of drops separately, and keep them visible to the monitor.
    foreach {kind counter} [list early-drop-target $early drop-target $full] {
      set snoop [new SnoopQueue/Drop]
      $snoop set-monitor $monitor
      $snoop target $counter
      $queue $kind $snoop
    }
    set integral [new Integrator]
    $monitor set-pkts-integrator $integral
    set tcps {}
    for {set k 0} {$k < $flows} {incr k} {
      set a [$ns node]
      # Access links of 2 to 2 + 30 ms one way: round trips from 44 to 104 ms without queues.
      $ns duplex-link $a $l 100Mb [expr {2 + 30.0 * $k / $flows}]ms DropTail
      $ns queue-limit $a $l 100000; $ns queue-limit $l $a 100000
      set tcp [new Agent/TCP/Sack1]; set sink [new Agent/TCPSink/Sack1]
      $ns attach-agent $a $tcp; $ns attach-agent $r $sink; $ns connect $tcp $sink
      set ftp [new Application/FTP]; $ftp attach-agent $tcp
      $ns at [expr {5 * [$u value]}] "$ftp start"
      lappend tcps $tcp
    }
    proc state {} {
      global monitor early full tcps integral ns queue
      set acked {}; set cuts 0
      foreach tcp $tcps { lappend acked [$tcp set ack_]; incr cuts [$tcp set necnresponses_] }
      list [$monitor set parrivals_] [$early set npkts_] [$full set npkts_] $cuts [$integral set sum_]\
        [$monitor set bdepartures_] {*}$acked
    }
    $ns at $warm {
      $integral newpoint [$ns now] [$monitor set pkts_]
      set before [state]
    }
    $ns at $stop {
      $integral newpoint [$ns now] [$monitor set pkts_]
      $ns flush-trace
      close $trace w
      set i -1
      foreach now [state] then $before {
        if {[incr i] == 3} { puts -nonewline "[gets $trace] " }
        puts -nonewline "[expr {$now - $then}] "
      }
      puts ""
      exit 0
    }
  }
}
$ns run
