package io.regatta.core.file;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * Names of files that stand in other files (manifests, descriptions) or come from peers. Whoever wrote them must not be able to
 * have another file read or written than one that lies directly in the directory that the reader was told. Stateless.
 */
public final class FileNames {

  /** What files of ours are called; {@code %} is in those of tables whose names have other characters. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9._%-]{1,255}");
  /** Characters of a refused name that a message shows. */
  private static final int SHOWN = 80;

  private FileNames() {}

  /**
   * Returns the name, if it is one of a file directly in a directory.
   *
   * @param name may be null
   * @throws InvalidInput if it is a path, empty, too long, or has characters that no file of ours has
   */
  public static String check(String name) {
    if (name == null || !PLAIN.matcher(name).matches() || name.equals(".") || name.equals("..")) {
      throw new InvalidInput("'" + shown(name) + "' is not the name of a file within the directory (letters, digits, '.', '_', '-' "
          + "and '%'): what names it has been changed, or comes from another program. Do not use it; take it from whoever made it");
    }
    return name;
  }

  /**
   * Returns the path of such a file. Looks at the file system, so that it may block.
   *
   * @throws InvalidInput as {@link #check} does, and if it is a link that leads out of the directory
   */
  public static Path in(Path directory, String name) throws IOException {
    Path path = directory.resolve(check(name));
    if (Files.isSymbolicLink(path) && Files.exists(path) && !path.toRealPath().startsWith(directory.toRealPath())) {
      throw new InvalidInput(path + " is a link to a file outside of its directory, and is not followed: put the file itself there");
    }
    return path;
  }

  private static String shown(String name) {
    String plain = String.valueOf(name).replaceAll("[^ -~]", "?");
    return plain.length() > SHOWN ? plain.substring(0, SHOWN) + "..." : plain;
  }
}
