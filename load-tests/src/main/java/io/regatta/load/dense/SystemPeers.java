package io.regatta.load.dense;

import io.regatta.load.process.Iperf3;
import io.regatta.load.process.MpiProgram;
import io.regatta.load.process.OpenMpi;
import io.regatta.load.process.Sample;
import io.regatta.load.process.Scale;
import java.io.IOException;
import java.util.Optional;
import java.util.function.BiConsumer;

/** Peers that are programs of the system, if they are installed. Used by the coordinator's main thread. */
final class SystemPeers implements AutoCloseable {
  private final Optional<Iperf3> iperf3 = Iperf3.find();
  private final Optional<OpenMpi> openMpi = OpenMpi.find();

  /** Reports on standard error which program is missing and how to get it. */
  SystemPeers() throws IOException {
    if (iperf3.isEmpty()) {
      missing("iperf3", "no iperf3 in PATH; Debian's package is iperf3");
    }
    if (openMpi.isEmpty()) {
      missing("OpenMPI", MpiProgram.missing().orElse("it could not be compiled"));
    }
  }

  private static void missing(String peer, String why) {
    System.err.println("drivers: " + peer.toUpperCase() + " IS NOT MEASURED: " + why);
  }

  /** Runs one round. OpenMPI's two ranks are alike, so there is no pull of it. */
  void measure(Scale scale, int bytes, BiConsumer<DenseResult.Key, Sample> samples) throws IOException {
    if (iperf3.isPresent()) {
      int seconds = (int) Math.ceil(scale.blockSeconds());
      samples.accept(new DenseResult.Key(DenseResult.IPERF3, 0, "push"), iperf3.get().run(seconds, false));
      samples.accept(new DenseResult.Key(DenseResult.IPERF3, 0, "pull"), iperf3.get().run(seconds, true));
    }
    if (openMpi.isPresent()) {
      samples.accept(new DenseResult.Key(DenseResult.OPENMPI, 0, "push"),
          openMpi.get().run(scale.blockSeconds(), bytes));
    }
  }

  @Override
  public void close() throws IOException {
    if (openMpi.isPresent()) {
      openMpi.get().close();
    }
  }
}
