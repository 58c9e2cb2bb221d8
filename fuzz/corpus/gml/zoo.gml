Creator "Topology Zoo Toolset"
Version 1.0
graph [
  directed 0
  Network "small"
  node [
    id 0
    label "Z&#252;rich HB"
    Longitude 8.55
    Latitude 47.37
  ]
  node [
    id 1
    label "Bern"
    Longitude 7.45
    Latitude 46.95
  ]
  node [
    id 2
    label "Bern"
  ]
  edge [
    source 0
    target 1
    LinkLabel "Fibre"
  ]
  edge [
    source 0
    target 1
    dist 95.5
  ]
  edge [
    source 1
    target 2
    length 12
  ]
]
