# bench_gpu.gp - the figure of bench.gp for a GPU.
bench = "bench_gpu"
load "plots/bench.gp"
