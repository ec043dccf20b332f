package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Settings;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarFile;

/**
 * The command line of a process of the job: this Java with the options of this process, Regatta on its class path, and
 * the program. A job file is run by {@code regatta run}, a jar by its main class, a single .java file as Java runs
 * sources.
 */
final class ChildCommand {

  /** Packages that the manifest of Regatta's jar opens, which Java reads only after {@code -jar}. */
  private static final List<String> OPENED = List.of("java.base/java.lang", "java.base/java.nio", "java.base/sun.nio.ch",
      "java.management/sun.management", "jdk.management/com.sun.management.internal");

  private ChildCommand() {}

  /**
   * Returns the command line of a program.
   *
   * @param main class of Regatta's command line
   * @throws InvalidInput if the program is none of the three, or does not exist
   */
  static List<String> of(String program, List<String> arguments, String main) {
    Path file = Path.of(program);
    if (!Files.isRegularFile(file)) {
      throw new InvalidInput("program " + program + (Files.exists(file) ? " is no file" : " does not exist")
          + ": give a job file (.yaml, .yml, .json), a jar with a main class, or a .java file");
    }
    String path = System.getProperty("java.class.path");
    List<String> command = new ArrayList<>(java());
    if (program.endsWith(".jar")) {
      command.addAll(List.of("-cp", file.toAbsolutePath() + File.pathSeparator + path, mainClass(file)));
    } else if (program.endsWith(".java")) {
      command.addAll(List.of("-cp", path, file.toString()));
    } else if (Settings.isFile(program)) {
      command.addAll(List.of("-cp", path, main, "run", program));
    } else {
      throw new InvalidInput("program " + program + ": the launcher runs a job file (.yaml, .yml, .json), a jar with a main "
          + "class, or a single .java file");
    }
    command.addAll(arguments);
    return command;
  }

  /** Returns Regatta's command line on this Java, with this class path. */
  static List<String> regatta(String main, String... arguments) {
    List<String> command = new ArrayList<>(java());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main));
    command.addAll(List.of(arguments));
    return command;
  }

  private static List<String> java() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    OPENED.forEach(opened -> command.add("--add-opens=" + opened + "=ALL-UNNAMED"));
    command.add("--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED");
    if (Runtime.version().feature() >= 24) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(argument -> !argument.startsWith("--add-opens") && !argument.startsWith("--add-exports")
            && !argument.startsWith("--enable-native-access") && !argument.startsWith("-agentlib"))
        .forEach(command::add);
    return command;
  }

  private static String mainClass(Path jar) {
    try (JarFile open = new JarFile(jar.toFile())) {
      String name = open.getManifest() == null ? null
          : open.getManifest().getMainAttributes().getValue(Attributes.Name.MAIN_CLASS);
      if (name == null) {
        throw new InvalidInput("program " + jar + " has no Main-Class in its manifest: add one, or launch a job file "
            + "that names the jar (program_jar) and its program");
      }
      return name;
    } catch (IOException e) {
      throw new InvalidInput("program " + jar + " is no jar that can be read: " + e.getMessage());
    }
  }
}
