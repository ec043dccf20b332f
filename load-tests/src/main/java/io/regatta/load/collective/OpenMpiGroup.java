package io.regatta.load.collective;

import io.regatta.load.process.MpiProgram;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** OpenMPI's all-reduce, over TCP or shared memory. It waits by polling: its CPU seconds say little. */
final class OpenMpiGroup implements Contender {
  static final String TCP = "openmpi-tcp";
  static final String SHARED_MEMORY = "openmpi-sm";

  private final String kind;
  private final int ranks;
  private final MpiProgram program;

  private OpenMpiGroup(String kind, int ranks, MpiProgram program) {
    this.kind = kind;
    this.ranks = ranks;
    this.program = program;
  }

  /** Compiles the program; empty if OpenMPI is not installed. */
  static Optional<Contender> find(String kind, int ranks) throws IOException {
    return MpiProgram.compile("allreduce").map(program -> new OpenMpiGroup(kind, ranks, program));
  }

  @Override
  public String kind() {
    return kind;
  }

  @Override
  public int ranks() {
    return ranks;
  }

  @Override
  public Calls run(int bytes, int times) throws IOException {
    List<String> way = kind.equals(TCP) ? List.of("--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo")
        : List.of("--mca", "btl", "vader,self");
    String[] told = program.run(ranks, way, List.of(bytes + ":" + times)).trim().split("\\s+");
    return new Calls(Double.parseDouble(told[1]), Double.parseDouble(told[2]), Double.parseDouble(told[3]),
        bytes * (double) times / 1e9);
  }

  @Override
  public void close() throws IOException {
    program.close();
  }
}
