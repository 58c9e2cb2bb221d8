graph [ directed 1 multigraph 1
  node [ id 1 name "a" pos 8.5 pos 47.3 ]
  node [ id 2 name "b" lon 1 lat 2 ]
  edge [ source 1 target 2 key 0 LinkLength 3 ]
  edge [ source 2 target 1 key 0 LinkLength 3 ]
  edge [ source 2 target 2 key 0 ]
]
