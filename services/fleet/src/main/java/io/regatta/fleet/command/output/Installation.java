package io.regatta.fleet.command.output;

import io.regatta.fleet.launch.Gpus;
import io.regatta.node.cluster.HazelcastMember;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A description of this installation and its platform from files and resources: no engine is started for it. Stateless.
 */
public final class Installation {

  /** The features of the CPU that decide how fast the engine's kernels and ours are. */
  private static final List<String> FEATURES = List.of("sse4_2", "avx", "f16c", "fma", "avx2", "avx512f", "avx512bw", "avx512_vnni",
      "avx512_bf16", "amx_tile", "asimd", "sve", "bf16");
  private static final String UNKNOWN = "unknown";

  private Installation() {}

  /** Returns a line for each component. */
  public static List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(Version.text());
    line(lines, "Java", System.getProperty("java.vm.name") + ", " + System.getProperty("java.vendor") + ", "
        + System.getProperty("os.name") + " " + System.getProperty("os.version") + " " + System.getProperty("os.arch"));
    line(lines, "Vert.x", text("META-INF/vertx/vertx-version.txt"));
    line(lines, "Hazelcast", HazelcastMember.version());
    line(lines, "DJL", properties("ai/djl/engine/api.properties").getProperty("djl_version", UNKNOWN));
    for (String engine : List.of("MXNet", "PyTorch")) {
      engine(lines, engine);
    }
    line(lines, "CPU", Runtime.getRuntime().availableProcessors() + " cores, " + cpu());
    List<String> gpus = Gpus.all();
    line(lines, "GPU", gpus.isEmpty() ? "none" : String.join(", ", gpus) + driver());
    return lines;
  }

  private static void engine(List<String> lines, String engine) {
    String name = engine.toLowerCase(Locale.ROOT);
    String version = properties(name + "-engine.properties").getProperty(name + "_version");
    if (version == null) {
      return;
    }
    Properties natives = properties("native/lib/" + name + ".properties");
    line(lines, engine, version + (natives.isEmpty() ? ", no native library on the class path"
        : ", native library " + natives.getProperty("version", UNKNOWN) + " for " + natives.getProperty("classifier", UNKNOWN)));
  }

  private static void line(List<String> lines, String what, String value) {
    lines.add(String.format("  %-10s %s", what, value));
  }

  private static String cpu() {
    try (Stream<String> info = Files.lines(Path.of("/proc/cpuinfo"))) {
      List<String> first = info.takeWhile(line -> !line.isBlank()).toList();
      String features = " " + value(first, "flags", "Features") + " ";
      return value(first, "model name", "CPU part") + ": " + FEATURES.stream().filter(name -> features.contains(" " + name + " "))
          .collect(Collectors.joining(" "));
    } catch (IOException e) {
      return UNKNOWN;
    }
  }

  private static String value(List<String> info, String... names) {
    for (String name : names) {
      for (String line : info) {
        if (line.startsWith(name) && line.contains(":")) {
          return line.substring(line.indexOf(':') + 1).strip();
        }
      }
    }
    return UNKNOWN;
  }

  private static String driver() {
    try {
      return "; " + Files.readAllLines(Path.of("/proc/driver/nvidia/version")).get(0).strip();
    } catch (IOException | IndexOutOfBoundsException e) {
      return "";
    }
  }

  private static String text(String resource) {
    try (InputStream in = Installation.class.getClassLoader().getResourceAsStream(resource)) {
      return in == null ? UNKNOWN : new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      return UNKNOWN;
    }
  }

  private static Properties properties(String resource) {
    Properties properties = new Properties();
    try (InputStream in = Installation.class.getClassLoader().getResourceAsStream(resource)) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      properties.clear(); // as if it were not there
    }
    return properties;
  }
}
