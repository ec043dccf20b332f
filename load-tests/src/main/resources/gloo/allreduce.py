"""One rank of torch.distributed with the gloo backend: python3 allreduce.py RANK RANKS FILE

Answers each line "BYTES TIMES" of its standard input with "MEDIAN SECONDS CPU": the median of one call in seconds, the
seconds of all calls, and this process's CPU seconds. Ends with its standard input.
"""
import sys
import time

import torch
import torch.distributed as dist

torch.set_num_threads(1)
rank, ranks, file = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
dist.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=ranks)
print("ready", flush=True)
for line in sys.stdin:
    size, times = (int(word) for word in line.split())
    vector = torch.zeros(size // 4)
    for _ in range(times // 4 + 2):
        dist.all_reduce(vector)
    dist.barrier()
    each = []
    cpu, begin = time.process_time(), time.perf_counter()
    for _ in range(times):
        start = time.perf_counter()
        dist.all_reduce(vector)
        each.append(time.perf_counter() - start)
    seconds = time.perf_counter() - begin
    cpu = time.process_time() - cpu
    print(f"{sorted(each)[times // 2]:.9f} {seconds:.9f} {cpu:.6f}", flush=True)
