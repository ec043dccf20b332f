package io.regatta.fleet;

import io.regatta.fleet.command.Regatta;
import io.regatta.fleet.local.ScratchDirectory;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Class path of this JVM in the form that Java can archive, and the archive (JEP 350) of the classes that a short run loads. A process
 * that starts with it takes about half of the CPU time. Directories of classes become jars, because Java archives only classes of jars. All
 * forks of one build share the files in {@code target/class-archive}; the first that needs them makes them, under a file lock.
 */
final class ClassArchive {

  private static final Path HOME = Checkout.file("services/fleet/target/class-archive");
  /** Class paths whose files are kept. */
  private static final int KEPT = 3;
  /** Last modified when the files were used last; not there: a build was killed while it made them. */
  private static final String COMPLETE = "complete";

  /** Made at the first use. */
  private static final class Holder {
    private static final ClassArchive ARCHIVE = makeLocked();
  }

  private final String classPath;
  private final List<String> options;

  private ClassArchive(String classPath, List<String> options) {
    this.classPath = classPath;
    this.options = options;
  }

  /** Returns this JVM's class path, made of jars alone. */
  static String classPath() {
    return Holder.ARCHIVE.classPath;
  }

  /** Returns the options by which Java uses the archive with {@link #classPath()}; none if it could not be made. */
  static List<String> options() {
    return Holder.ARCHIVE.options;
  }

  private static ClassArchive makeLocked() {
    try {
      Files.createDirectories(HOME);
      try (FileChannel lock = FileChannel.open(HOME.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        lock.lock();
        return make(System.getProperty("java.class.path").split(File.pathSeparator));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ClassArchive make(String[] entries) throws IOException {
    StringBuilder state = new StringBuilder(System.getProperty("java.home"));
    for (String entry : entries) {
      state.append('\n').append(entry).append(' ').append(stateOf(Path.of(entry)));
    }
    Path dir = HOME.resolve(Integer.toHexString(state.toString().hashCode()));
    Path archive = dir.resolve("classes.jsa");
    Path complete = dir.resolve(COMPLETE);
    boolean known = Files.isRegularFile(complete);
    Files.createDirectories(dir);
    List<String> path = new ArrayList<>();
    for (String entry : entries) {
      Path classes = Path.of(entry);
      if (!Files.isDirectory(classes)) {
        path.add(entry);
        continue;
      }
      Path jar = dir.resolve(path.size() + "-" + classes.getFileName() + ".jar");
      if (!known) {
        pack(classes, jar);
      }
      path.add(jar.toString());
    }
    String classPath = String.join(File.pathSeparator, path);
    if (!known) {
      archive(classPath, archive, dir);
    }
    Files.writeString(complete, "used");
    removeOld(HOME);
    return new ClassArchive(classPath, Files.isRegularFile(archive)
        ? List.of("-XX:SharedArchiveFile=" + archive, "-Xshare:auto", "-Xlog:cds*=off") : List.of());
  }

  /** Removes the files of earlier builds, but for those that were used last: another kind of tests has its own class path. */
  static void removeOld(Path home) throws IOException {
    List<Path> all;
    try (Stream<Path> each = Files.list(home)) {
      all = each.filter(Files::isDirectory).sorted(Comparator.comparing(ClassArchive::usedMillis).reversed()).toList();
    }
    for (Path old : all.subList(Math.min(KEPT, all.size()), all.size())) {
      ScratchDirectory.remove(old);
    }
  }

  private static long usedMillis(Path dir) {
    return dir.resolve(COMPLETE).toFile().lastModified();
  }

  /** Returns size and time of the newest file, and how many there are. */
  private static String stateOf(Path entry) throws IOException {
    if (!Files.exists(entry)) {
      return "none";
    }
    try (Stream<Path> files = Files.walk(entry)) {
      return files.filter(Files::isRegularFile).map(file -> file.toFile().lastModified() + " " + file.toFile().length())
          .sorted().collect(Collectors.collectingAndThen(Collectors.toList(),
              all -> all.size() + " " + String.join(" ", all).hashCode()));
    }
  }

  private static void pack(Path classes, Path jar) throws IOException {
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar)); Stream<Path> files = Files.walk(classes)) {
      out.setLevel(1);
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        out.putNextEntry(new JarEntry(classes.relativize(file).toString().replace(File.separatorChar, '/')));
        Files.copy(file, out);
        out.closeEntry();
      }
    }
  }

  private static void archive(String classPath, Path archive, Path dir) throws IOException {
    try (ScratchDirectory scratch = ScratchDirectory.create("regatta-class-archive")) {
      archive(classPath, archive, dir, Files.createDirectory(scratch.next()));
    }
  }

  /** @param run working directory, and the one for temporary files */
  private static void archive(String classPath, Path archive, Path dir, Path run) throws IOException {
    List<String> command = JavaProcess.java("-Xmx512m", "-Djava.io.tmpdir=" + run, "-XX:ArchiveClassesAtExit=" + archive,
        "-Xlog:cds*=off", "-cp", classPath, Regatta.class.getName(), "simulate", Checkout.file("configs/wide-and-deep.yaml").toString(),
        "--set", "settings.train_rows=4000", "--set", "settings.test_rows=500", "--max-steps=1");
    Process process = new ProcessBuilder(command).directory(run.toFile()).redirectErrorStream(true)
        .redirectOutput(dir.resolve("archive.log").toFile()).start();
    try {
      process.getOutputStream().close();
      if (!process.waitFor(JavaProcess.SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        process.destroyForcibly().waitFor();
        Files.deleteIfExists(archive);
        System.err.println("No archive of classes: processes start slower. See " + dir.resolve("archive.log"));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      process.destroyForcibly();
    }
  }
}
