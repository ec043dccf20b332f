/*
 * Sends a buffer from rank 0 to rank 1 again and again until so many seconds are over and the last one has arrived.
 *   mpirun -n 2 oneway SECONDS BYTES
 * Rank 0 prints: bytes sent, seconds, CPU seconds of rank 0, CPU seconds of rank 1.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static double cpu_seconds(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3 || ranks != 2) {
    fprintf(stderr, "usage: mpirun -n 2 oneway SECONDS BYTES\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  double limit = atof(argv[1]);
  int bytes = atoi(argv[2]);
  char *buffer = malloc(bytes);
  memset(buffer, rank, bytes); /* its pages are there before the clock runs */

  long sent = 0;
  double begin = 0, cpu = 0, seconds = 0;
  for (int go = 2; go > 0; sent++) { /* the first one warms up */
    if (sent == 1) {
      begin = MPI_Wtime();
      cpu = cpu_seconds();
    }
    if (rank == 0) {
      go = sent == 0 || MPI_Wtime() - begin < limit;
      MPI_Send(&go, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
      if (go) MPI_Send(buffer, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (go) MPI_Recv(buffer, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD); /* the last one has arrived */
  seconds = MPI_Wtime() - begin;
  double own = cpu_seconds() - cpu, both[2];
  MPI_Gather(&own, 1, MPI_DOUBLE, both, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%.0f %.9f %.6f %.6f\n", (sent - 2) * (double) bytes, seconds, both[0], both[1]);
  }
  MPI_Finalize();
  return 0;
}
