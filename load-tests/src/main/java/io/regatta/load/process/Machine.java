package io.regatta.load.process;

import io.netty.util.Version;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Properties;

/** The place and time of measurements, and the other load of the machine. Stateless. */
public final class Machine {

  private Machine() {}

  /** Returns one line: processor, cores, system, Java, time, load. */
  public static String describe() {
    return processor() + ", " + cores() + " cores, " + system() + ", Java " + System.getProperty("java.vm.version")
        + ", " + Instant.now().truncatedTo(ChronoUnit.MINUTES) + ", load " + Table.number(load());
  }

  /** Returns the mean of runnable processes in the last minute, the drivers' own included. NaN if it is not known. */
  public static double load() {
    double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    return load < 0 ? Double.NaN : load;
  }

  /** Returns the bytes of this process's heap that are in use after a collection. */
  public static long usedHeapBytes() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /** Returns machine, Java with its options, and versions of the compared programs. */
  public static JsonObject json() {
    JsonObject versions = new JsonObject();
    libraries().forEach((name, version) -> versions.put(name.toString(), version));
    versions
        .put("netty", Version.identify().values().stream().map(Version::artifactVersion).findFirst().orElse("unknown"))
        .put("iperf3", Programs.version("iperf3").orElse("not present"))
        .put("openmpi", Programs.version("mpirun").orElse("not present"));
    return new JsonObject().put("processor", processor()).put("cores", cores()).put("system", system())
        .put("java", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"))
        .put("java_options", ManagementFactory.getRuntimeMXBean().getInputArguments()).put("versions", versions)
        .put("max_heap_bytes", Runtime.getRuntime().maxMemory()).put("time", Instant.now().toString());
  }

  private static Properties libraries() {
    Properties versions = new Properties();
    try (InputStream in = Machine.class.getResourceAsStream("/load-tests-versions.properties")) {
      versions.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return versions;
  }

  private static int cores() {
    return Runtime.getRuntime().availableProcessors();
  }

  private static String system() {
    return System.getProperty("os.name") + " " + System.getProperty("os.version");
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
