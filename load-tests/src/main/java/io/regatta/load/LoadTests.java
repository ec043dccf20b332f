package io.regatta.load;

import io.regatta.load.process.LoadWorker;
import java.util.Arrays;

/**
 * The main class of the load tests' jar: {@code drivers} and {@code worker} are the multi-process drivers, everything
 * else is for JMH.
 */
public final class LoadTests {

  private LoadTests() {}

  public static void main(String[] args) throws Exception {
    String first = args.length == 0 ? "" : args[0];
    String[] others = args.length == 0 ? args : Arrays.copyOfRange(args, 1, args.length);
    switch (first) {
      case "drivers" -> System.exit(Drivers.execute(others));
      case "worker" -> LoadWorker.main(others, Drivers::task);
      default -> org.openjdk.jmh.Main.main(args);
    }
  }
}
