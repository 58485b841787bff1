"""From forks to figures that may be compared. Pure.

`intervals`: the 95 % interval of a mean. `forks`: figures of one fork, and over forks. `ratios`: two arms, paired in
blocks. `verdicts`: when a page may say "different". `dependence`: whether blocks are independent. `modes`: whether
forks are of two kinds. `percentiles`: latencies over forks. `stopping`: how many blocks. `protocols`: what that saves.
`capacity`: the highest rate that holds. `steady`: when a server is warm.

All but `change_points` and `histograms` import scipy and numpy only when needed: the command line responds at once.
"""
