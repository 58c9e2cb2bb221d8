graph [ node [ id 1 ] node [ id 1e999 ] edge [ source 1 target 1e999 ] ]
