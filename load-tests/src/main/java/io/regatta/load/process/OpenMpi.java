package io.regatta.load.process;

import io.regatta.core.error.RegattaException.PeerLost;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** One-way sends between two ranks of OpenMPI over TCP. Called by one thread. */
public final class OpenMpi implements AutoCloseable {
  private static final double GIGA = 1e9;

  private final MpiProgram program;

  private OpenMpi(MpiProgram program) {
    this.program = program;
  }

  /** Compiles the program; empty if OpenMPI is not installed. */
  public static Optional<OpenMpi> find() throws IOException {
    return MpiProgram.compile("oneway").map(OpenMpi::new);
  }

  /** Sends this number of bytes at a time for this number of seconds. */
  public Sample run(double seconds, int bytes) throws IOException {
    String[] told = program.run(2, List.of("--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"),
        List.of(Double.toString(seconds), Integer.toString(bytes))).trim().split("\\s+");
    if (told.length != 4) {
      throw new PeerLost("OpenMPI's program printed " + String.join(" ", told) + " where four numbers were expected");
    }
    return new Sample(Double.parseDouble(told[0]) / GIGA, Double.parseDouble(told[1]), Double.parseDouble(told[2]),
        Double.parseDouble(told[3]));
  }

  /** Removes the program. */
  @Override
  public void close() throws IOException {
    program.close();
  }
}
