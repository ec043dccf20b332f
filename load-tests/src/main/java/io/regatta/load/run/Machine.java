package io.regatta.load.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Says where and when figures were measured. Stateless. */
public final class Machine {

  private Machine() {}

  /** One line: processor, cores, Java, time. */
  public static String describe() {
    return processor() + ", " + Runtime.getRuntime().availableProcessors() + " cores, " + System.getProperty("os.name")
        + " " + System.getProperty("os.version") + ", Java " + System.getProperty("java.vm.version") + ", "
        + Instant.now().truncatedTo(ChronoUnit.MINUTES);
  }

  private static String processor() {
    try {
      return Files.readAllLines(Path.of("/proc/cpuinfo")).stream().filter(l -> l.startsWith("model name"))
          .map(l -> l.substring(l.indexOf(':') + 2)).findFirst().orElse(System.getProperty("os.arch"));
    } catch (IOException e) { // not Linux
      return System.getProperty("os.arch");
    }
  }
}
