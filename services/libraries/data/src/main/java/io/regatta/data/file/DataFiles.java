package io.regatta.data.file;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Finds data files, and turns failures to read them into one clear line. Stateless; any thread may use it. */
public final class DataFiles {

  /** Scheme of a URI; a single letter would be a drive. */
  private static final Pattern SCHEME = Pattern.compile("[a-z][a-z0-9+.-]+:");

  /** Suffix of a part's name after the file's name and a hyphen. */
  private static final Pattern PART = Pattern.compile("[0-9]+(\\.gz)?");
  /** Suffix of the file in which {@code regatta prepare} lists the parts that it has made. */
  private static final String PARTS = ".parts.json";

  private static final String PARQUET = ".parquet";
  /** A directory or file that Spark and Hive do not count as data. */
  private static final Pattern HIDDEN = Pattern.compile("(^|/)[._]");

  private DataFiles() {}

  /**
   * Returns a file as a configuration names it: a path of this machine, or a URI ({@code file:}, {@code s3:}). For a
   * URI, a {@link java.nio.file.spi.FileSystemProvider} must be on the class path.
   */
  public static Path path(String name) {
    return isUri(name) ? ofUri(name) : Path.of(name);
  }

  /** Returns the same; a path that is not absolute is relative to {@code directory}. */
  public static Path path(Path directory, String name) {
    return isUri(name) ? ofUri(name) : directory.resolve(name);
  }

  private static boolean isUri(String name) {
    return SCHEME.matcher(name).lookingAt();
  }

  private static Path ofUri(String uri) {
    try {
      return Path.of(URI.create(uri));
    } catch (FileSystemNotFoundException e) {
      throw new InvalidInput("data file " + uri + ": no file system provider on the class path reads "
          + uri.substring(0, uri.indexOf(':')) + ": files; add a library that does, for s3: "
          + "software.amazon.nio.s3:aws-java-nio-spi-for-s3", e);
    } catch (IllegalArgumentException e) {
      throw new InvalidInput("data file " + uri + " is not a valid file name: " + e.getMessage(), e);
    }
  }

  /**
   * Returns a file's name in messages and cursors: its path, or its URI if it is on another file system than this
   * machine's.
   */
  public static String name(Path file) {
    return file.getFileSystem() == FileSystems.getDefault() ? file.toString() : file.toUri().toString();
  }

  /** Returns the absolute form of {@link #name}. */
  public static String fullName(Path file) {
    return name(file.toAbsolutePath());
  }

  /** Returns the bytes of a file, on any file system. */
  public static long size(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  /**
   * Returns the file itself.
   *
   * @throws InvalidInput naming the file if it is missing, a directory or unreadable
   */
  public static Path readable(Path file) {
    Path parent = file.toAbsolutePath().getParent();
    if (parent != null && Files.isRegularFile(parent)) {
      throw new InvalidInput(parent + " is a file, not the directory of " + file.getFileName());
    }
    if (Files.isDirectory(file)) {
      throw new InvalidInput("data file " + fullName(file) + " is a directory; give the name of a file");
    }
    if (!Files.exists(file)) {
      throw new InvalidInput("data file " + fullName(file) + " does not exist; check its name and directory");
    }
    if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
      throw new InvalidInput("data file " + fullName(file) + " is not a readable file; check its permissions");
    }
    return file;
  }

  /**
   * Returns the regular files of a directory whose names start with {@code prefix}, in name order; at least one. A
   * compressed file beside its decompressed copy is left out, and so are the lists of parts that
   * {@code regatta prepare} writes.
   */
  public static List<Path> withPrefix(Path directory, String prefix) {
    try (Stream<Path> entries = Files.list(directory)) {
      List<Path> files = entries
          .filter(file -> file.getFileName().toString().startsWith(prefix) && Files.isRegularFile(file)
              && !file.getFileName().toString().endsWith(PARTS)).sorted().toList();
      if (files.isEmpty()) {
        throw new InvalidInput("no file " + prefix + "* in " + fullName(directory)
            + "; give the directory that holds some with --data (data.dir), or name other files in data.files");
      }
      Set<Path> there = Set.copyOf(files);
      return files.stream().filter(file -> !FileBytes.packed(file) || !there.contains(unpackedName(file))).toList();
    } catch (IOException e) {
      throw unreadable(directory, e);
    } catch (UnsupportedOperationException e) {
      throw unlisted(directory, e);
    }
  }

  /**
   * Returns the error for a directory whose file system cannot list it: object stores report a missing prefix this way.
   */
  private static InvalidInput unlisted(Path directory, UnsupportedOperationException e) {
    return new InvalidInput("directory " + fullName(directory) + " does not exist, or cannot be listed; check its name", e);
  }

  private static Path unpackedName(Path packed) {
    String name = packed.getFileName().toString();
    return packed.resolveSibling(name.substring(0, name.length() - FileBytes.PACKED.length()));
  }

  /** Returns true if a directory does not exist, or holds only hidden files. */
  public static boolean isEmpty(Path directory) {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.allMatch(file -> file.getFileName().toString().startsWith("."));
    } catch (NoSuchFileException e) {
      return true;
    } catch (IOException e) {
      throw unreadable(directory, e);
    } catch (UnsupportedOperationException e) {
      throw unlisted(directory, e);
    }
  }

  /**
   * Returns the parts {@code name-00000}, {@code name-00001} … of a file; if there are none, the file itself, or
   * {@code name.gz} if only that exists. A directory stands for the Parquet files in it and in its subdirectories.
   *
   * @param name as in {@link #path(Path, String)}
   */
  public static List<Path> parts(Path directory, String name) {
    Path file = path(directory, name);
    List<Path> within = parquetWithin(file);
    if (!within.isEmpty()) {
      return within;
    }
    String prefix = file.getFileName() + "-";
    Path first = file.resolveSibling(prefix + "00000");
    if (Files.exists(first) || Files.exists(first.resolveSibling(first.getFileName() + FileBytes.PACKED))) {
      return withPrefix(file.resolveSibling(""), prefix).stream()
          .filter(part -> PART.matcher(part.getFileName().toString().substring(prefix.length())).matches()).toList();
    }
    Path packed = file.resolveSibling(file.getFileName() + FileBytes.PACKED);
    return List.of(!Files.exists(file) && Files.exists(packed) ? packed : file);
  }

  /**
   * Returns the Parquet files of a data set that is a directory, in name order, without hidden ones; empty if there are
   * none.
   */
  private static List<Path> parquetWithin(Path directory) {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(file -> file.getFileName() != null && file.getFileName().toString().endsWith(PARQUET)
          && !HIDDEN.matcher(directory.relativize(file).toString()).find() && Files.isRegularFile(file)).sorted().toList();
    } catch (IOException e) {
      throw unreadable(directory, e);
    } catch (UncheckedIOException e) {
      throw unreadable(directory, e.getCause());
    } catch (UnsupportedOperationException e) {
      throw unlisted(directory, e);
    }
  }

  /**
   * Returns the files of one of {@code count} workers that read whole files: contiguous runs in the given order. The
   * first {@code files % count} workers get one more (the rule of Paddle's {@code get_file_shard}).
   *
   * @param files names or paths
   */
  public static <T> List<T> shard(List<T> files, int index, int count) {
    checkShard(index, count);
    int each = files.size() / count;
    int more = files.size() % count;
    int from = index * each + Math.min(index, more);
    return List.copyOf(files.subList(from, from + each + (index < more ? 1 : 0)));
  }

  /**
   * Returns the files of one of {@code count} workers when files are assigned one by one. These are the files whose
   * number in the given order is {@code index} modulo {@code count} (the rule of PaddlePaddle's v2 cluster guide).
   *
   * @param files names or paths
   */
  public static <T> List<T> modulo(List<T> files, int index, int count) {
    checkShard(index, count);
    return IntStream.range(0, files.size()).filter(i -> i % count == index).mapToObj(files::get).toList();
  }

  private static void checkShard(int index, int count) {
    if (index < 0 || index >= count) {
      throw new InvalidInput("shard " + index + " of " + count + " does not exist");
    }
  }

  public static InvalidInput unreadable(Path file, IOException e) {
    String reason = e instanceof NoSuchFileException ? "does not exist" : "cannot be read (" + e + ")";
    return new InvalidInput(fullName(file) + " " + reason, e);
  }
}
