Creator "a graph [
of two lines" # 5" of rain
graph [ directed 1
  node [ id 0 label "A" label "B" ]
  node [ id 1 graph [ node [ id 2 ] ] lat "x" ]
  edge [ source 0 target 1 dist "1,200" LinkSpeedRaw 1e9 ]
]
