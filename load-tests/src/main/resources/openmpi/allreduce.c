/*
 * Sums vectors of zeros over all ranks, in place, again and again.
 *   mpirun -n RANKS allreduce BYTES:TIMES ...
 * Rank 0 prints a line for each size: bytes, median seconds of one call, seconds of all, CPU seconds of all ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static double cpu_seconds(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *) a, y = *(const double *) b;
  return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int a = 1; a < argc; a++) {
    int bytes, times;
    if (sscanf(argv[a], "%d:%d", &bytes, &times) != 2) {
      fprintf(stderr, "usage: mpirun -n RANKS allreduce BYTES:TIMES ...\n");
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    float *vector = malloc(bytes + 4);
    for (int i = 0; i < bytes / 4; i++) vector[i] = 0; /* its pages are there before the clock runs */
    double *each = malloc(times * sizeof(double));
    for (int i = 0; i < times / 4 + 2; i++) {
      MPI_Allreduce(MPI_IN_PLACE, vector, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double cpu = cpu_seconds(), begin = MPI_Wtime(), all;
    for (int i = 0; i < times; i++) {
      double start = MPI_Wtime();
      MPI_Allreduce(MPI_IN_PLACE, vector, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      each[i] = MPI_Wtime() - start;
    }
    double seconds = MPI_Wtime() - begin;
    cpu = cpu_seconds() - cpu;
    MPI_Reduce(&cpu, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      qsort(each, times, sizeof(double), ascending);
      printf("%d %.9f %.9f %.6f\n", bytes, each[times / 2], seconds, all);
    }
    free(vector);
    free(each);
  }
  MPI_Finalize();
  return 0;
}
