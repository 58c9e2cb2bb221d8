graph [
  node [ id 0 Longitude "east" Latitude 1 ]
  node [ id 1 Longitude 1 Latitude 91.5 ]
  node [ id 2 pos 1 ]
  node [ id 3 Longitude 1 Longitude 2 Latitude 3 ]
  edge [ source 0 target 1 ]
  edge [ source 2 target 3 ]
]
