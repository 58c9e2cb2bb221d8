graph [
  node [ id 0 label "Ulm" ]
  node [ id 1 label "Bonn" aliases "BN;Bundesstadt" ]
  edge [ source 0 target 1 length "300 km" capacity "10 Gbps" delay_ms 2.5 metric 7 loss "0.1 %" risks "duct 1;bridge" colour "red" ]
  edge [ source 0 target 1 length 310 capacity 40 ]
]
