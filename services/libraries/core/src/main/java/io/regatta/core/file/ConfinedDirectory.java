package io.regatta.core.file;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A directory that the user trusts, or one below it. It is the only way to a file by a name that stands in another
 * file, such as a manifest, or comes over the wire. The author of such a name reaches no file outside. A name is a
 * single part. A symbolic link on the way to a file is followed only for reading, and only if its target lies below the
 * trusted directory. Volumes of Kubernetes consist of such links. The trusted directory itself may be a
 * link, because the user has named it. Immutable, any thread; what opens, lists or looks blocks.
 *
 * <p>The way is walked when a file is opened, from one open directory to the next, where the platform has a {@link
 * SecureDirectoryStream} (Linux, macOS). A link is resolved first, and the way to its target is walked without links.
 * A link that is put there later is not followed. Elsewhere the real path is compared once the file is open.
 */
public final class ConfinedDirectory {

  /** Names of files of ours; {@code %} is in those of tables whose names have other characters. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9._%-]{1,255}");
  /** The longest path of Linux. */
  private static final int PATH_CHARACTERS_MAX = 4096;
  /** Characters of a refused name that a message shows. */
  private static final int SHOWN = 80;

  private final Path trusted;
  /** Names of the directories from the trusted one to this one. */
  private final List<String> below;
  /** Key of the configuration that names the trusted directory as the only place to read; empty for other ones. */
  private final String key;

  private ConfinedDirectory(Path trusted, List<String> below, String key) {
    this.trusted = trusted;
    this.below = List.copyOf(below);
    this.key = key;
  }

  /** Returns a directory that the user has named; it need not be there. */
  public static ConfinedDirectory of(Path trusted) {
    return new ConfinedDirectory(trusted, List.of(), "");
  }

  /**
   * Returns the directory that a peer names: one of the roots, or one below a root. If several roots match, it is below
   * the root with the longest name, since a root may be a link below another one. A directory is below a root by its
   * name, or else by the real paths of both: the two sides may know one place by several names. The disk is read for
   * the latter only.
   *
   * @param roots absolute and normalized, at least one
   * @param directory absolute, or relative to the first root
   * @param key of the configuration that names the roots, for the message
   * @throws InvalidInput naming the roots and the key if it is elsewhere, or the part that is no plain name
   */
  public static ConfinedDirectory within(List<Path> roots, String directory, String key) {
    ConfinedDirectory written = nearest(roots, roots, directory, directory, key);
    if (written != null) {
      return written;
    }
    Path real = realPath(directory);
    ConfinedDirectory resolved = real == null ? null
        : nearest(roots, roots.stream().map(ConfinedDirectory::realOrSame).toList(), real.toString(), directory, key);
    if (resolved != null) {
      return resolved;
    }
    throw new InvalidInput("directory '" + PeerText.of(directory) + "' is not below "
        + String.join(" or ", roots.stream().map(Path::toString).toList())
        + ", where this process reads and writes (" + key + "): name a directory there, or set " + key
        + " to another one");
  }

  /**
   * Returns the directory below one of the roots, or null.
   *
   * @param names of the roots, to which {@code directory} is compared
   * @param asked as the peer has named the directory, for the message
   */
  private static ConfinedDirectory nearest(List<Path> roots, List<Path> names, String directory, String asked,
      String key) {
    Path root = null;
    String rest = null;
    for (int i = 0; i < roots.size(); i++) {
      String below = rest(names.get(i), directory);
      if (below != null && (rest == null || below.length() < rest.length())) {
        root = roots.get(i);
        rest = below;
      }
    }
    if (rest == null) {
      return null;
    }
    List<String> parts = rest.isEmpty() ? List.of() : List.of(rest.split("/", -1));
    for (String part : parts) {
      if (!isPlain(part)) {
        throw new InvalidInput("directory '" + PeerText.of(asked) + "' has the part '" + PeerText.of(part, SHOWN)
            + "': below " + root + " use letters, digits, '.', '_', '-' and '%' alone, or name the directory itself in "
            + key);
      }
    }
    return new ConfinedDirectory(root, parts, key);
  }

  /** Returns the real path of what is there of a directory, with the rest of its name; null if it has no plain one. */
  private static Path realPath(String directory) {
    if (directory.isEmpty() || directory.length() > PATH_CHARACTERS_MAX) {
      return null;
    }
    Path path;
    try {
      path = Path.of(directory);
    } catch (InvalidPathException e) {
      return null;
    }
    if (!path.isAbsolute() || !path.equals(path.normalize())) {
      return null;
    }
    for (Path there = path; there != null; there = there.getParent()) {
      try {
        return there.toRealPath().resolve(there.relativize(path)).normalize();
      } catch (IOException e) { // it is not there, or not to be seen: one above it is
        continue;
      }
    }
    return null;
  }

  private static Path realOrSame(Path root) {
    Path real = realPath(root.toString());
    return real == null ? root : real;
  }

  /** Returns what follows a root in a directory's name; null if it is elsewhere. */
  private static String rest(Path root, String directory) {
    if (directory.isEmpty() || directory.length() > PATH_CHARACTERS_MAX) {
      return null;
    }
    try {
      if (!Path.of(directory).isAbsolute()) {
        return directory;
      }
    } catch (InvalidPathException e) {
      return null;
    }
    String prefix = root.toString();
    if (directory.equals(prefix)) {
      return "";
    }
    String slash = prefix.endsWith("/") ? prefix : prefix + "/";
    return directory.startsWith(slash) ? directory.substring(slash.length()) : null;
  }

  /**
   * Returns the name, if it is a plain one: letters, digits, {@code . _ - %}, and neither {@code .} nor {@code ..}.
   *
   * @param name may be null
   * @throws InvalidInput if it is a path, empty, too long, or has characters that no file of ours has
   */
  public static String checkName(String name) {
    if (name == null || !isPlain(name)) {
      throw new InvalidInput("'" + PeerText.of(name, SHOWN) + "' is not the name of a file within the directory "
          + "(letters, digits, '.', '_', '-' and '%'): what names it has been changed, or comes from another program. "
          + "Do not use it; take it from whoever made it");
    }
    return name;
  }

  private static boolean isPlain(String name) {
    return PLAIN.matcher(name).matches() && !name.equals(".") && !name.equals("..");
  }

  /** Returns its path, for messages and for those who make it. Files in it are opened by {@link #open} alone. */
  public Path path() {
    Path path = trusted;
    for (String name : below) {
      path = path.resolve(name);
    }
    return path;
  }

  /** Returns the path of a file in it, for messages. */
  public Path pathOf(String name) {
    return path().resolve(single(name));
  }

  /** Returns a directory in this one. The disk is not looked at. */
  public ConfinedDirectory in(String name) {
    List<String> names = new ArrayList<>(below);
    names.add(single(name));
    return new ConfinedDirectory(trusted, names, key);
  }

  /**
   * Returns a directory beside this one, such as the snapshot that a delta is relative to. The disk is not looked at.
   *
   * @throws InvalidInput if the name is not a plain one, or nothing is beside this directory, or it is one of the roots
   *     of {@link #within} and what is beside it lies outside
   */
  public ConfinedDirectory beside(String name) {
    checkName(name);
    if (!below.isEmpty()) {
      return new ConfinedDirectory(trusted, below.subList(0, below.size() - 1), key).in(name);
    }
    if (!key.isEmpty()) {
      throw new InvalidInput("'" + name + "' beside " + trusted + " is not read, because " + trusted + " is a root ("
          + key + "): set " + key + " to the directory that holds both");
    }
    Path parent = trusted.toAbsolutePath().normalize().getParent();
    if (parent == null) {
      throw new InvalidInput("nothing is beside " + trusted + ": name another directory");
    }
    return of(parent).in(name);
  }

  /** Names that the disk itself has listed may have more characters than plain ones; none leads elsewhere. */
  private static String single(String name) {
    if (name.isEmpty() || name.equals(".") || name.equals("..") || name.indexOf('/') >= 0 || name.indexOf('\\') >= 0
        || name.indexOf('\0') >= 0) {
      return checkName(name);
    }
    return name;
  }

  /**
   * Returns true if it is there, to be read.
   *
   * @throws InvalidInput if a link is on the way to it that leads out of the trusted directory
   */
  public boolean exists() throws IOException {
    try (Opened opened = forReading()) {
      return true;
    } catch (NoSuchFileException | NotDirectoryException e) {
      return false;
    }
  }

  /**
   * Returns true if it is there, to be written.
   *
   * @throws InvalidInput if any link is on the way to it
   */
  public boolean existsWithoutLinks() throws IOException {
    try (Opened opened = opened()) {
      return true;
    } catch (NoSuchFileException | NotDirectoryException e) {
      return false;
    }
  }

  /** Returns the names of its entries, in order. */
  public List<String> names() throws IOException {
    List<String> names = new ArrayList<>();
    try (Opened opened = forReading()) {
      for (Path entry : opened.stream) {
        names.add(entry.getFileName().toString());
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    Collections.sort(names);
    return names;
  }

  /**
   * Returns true if the directory lists an entry of this name. A client of a network file system asks its server for a
   * list, where it may believe for a while that a single name is missing.
   */
  public boolean lists(String name) throws IOException {
    try (Opened opened = forReading()) {
      for (Path entry : opened.stream) {
        if (entry.getFileName().toString().equals(single(name))) {
          return true;
        }
      }
      return false;
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  /**
   * Returns the attributes of an entry; null if there is none. Of a link to something below the trusted directory they
   * are those of its target, of another one those of the link.
   */
  public BasicFileAttributes attributes(String name) throws IOException {
    try (Opened opened = forReading()) {
      BasicFileAttributes found = opened.attributes(single(name));
      List<String> target = found.isSymbolicLink() ? target(opened.directory().pathOf(name)) : null;
      if (target == null || target.isEmpty()) {
        return found;
      }
      try (Opened above = aboveOf(target).opened()) {
        return above.attributes(last(target));
      }
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  /**
   * Opens a regular file for reading.
   *
   * @throws InvalidInput if it, or a directory on the way, is a symbolic link that leads out of the trusted directory
   * @throws NoSuchFileException if it is not there, or is no regular file
   */
  public FileChannel open(String name) throws IOException {
    try (Opened opened = forReading()) {
      if (!opened.attributes(single(name)).isSymbolicLink()) {
        return opened.openRegular(name, Set.of(StandardOpenOption.READ));
      }
      List<String> target = followed(opened.directory().pathOf(name));
      if (target.isEmpty()) {
        throw new NoSuchFileException(pathOf(name).toString(), null, "no regular file");
      }
      try (Opened above = aboveOf(target).opened()) {
        return above.openRegular(last(target), Set.of(StandardOpenOption.READ));
      }
    }
  }

  /**
   * Opens a regular file for reading and writing.
   *
   * @throws InvalidInput if it, or a directory on the way, is a symbolic link
   * @throws NoSuchFileException if it is not there, or is no regular file
   */
  public FileChannel update(String name) throws IOException {
    try (Opened opened = opened()) {
      return opened.openRegular(single(name), Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
    }
  }

  /**
   * Makes a file for writing, for its owner alone (0600), or for the group as well (0660) where the directory is
   * writable for its group. Another file of that name, or a link, is removed before.
   *
   * @throws InvalidInput if a directory on the way is a symbolic link
   */
  public FileChannel create(String name) throws IOException {
    try (Opened opened = opened()) {
      opened.delete(single(name));
      return opened.createNew(name, StandardOpenOption.WRITE);
    }
  }

  /**
   * Opens a regular file for reading and writing, and makes it, as {@link #create} does, if nothing has its name. Of
   * several processes that do so at once, all have the same file.
   *
   * @throws InvalidInput if it, or a directory on the way, is a symbolic link
   * @throws NoSuchFileException if it is no regular file
   */
  public FileChannel updateOrCreate(String name) throws IOException {
    try (Opened opened = opened()) {
      try {
        return opened.createNew(single(name), StandardOpenOption.READ, StandardOpenOption.WRITE);
      } catch (FileAlreadyExistsException e) {
        return opened.openRegular(name, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
      }
    }
  }

  /**
   * Gives a file of this directory another name, in one step for all who look. A file or link that has that name is
   * replaced.
   *
   * @throws InvalidInput if a directory on the way is a symbolic link
   */
  public void rename(String name, String other) throws IOException {
    try (Opened opened = opened()) {
      opened.rename(single(name), single(other));
    }
  }

  /**
   * Makes this directory, and those above it that are missing, with the permissions of the umask.
   *
   * @throws InvalidInput if a directory on the way from the trusted one is a symbolic link
   */
  public void make() throws IOException {
    if (!Files.isDirectory(trusted)) { // it may be a link to one
      Files.createDirectories(trusted);
    }
    for (int i = 1; i <= below.size(); i++) {
      ConfinedDirectory part = new ConfinedDirectory(trusted, below.subList(0, i), key);
      if (!part.existsWithoutLinks()) {
        try {
          Files.createDirectory(part.path());
        } catch (FileAlreadyExistsException e) {
          continue; // another process was faster, or it is a file: then whatever is opened below it fails
        }
      }
    }
  }

  /** Removes a file, or a link, if it is there. */
  public void delete(String name) throws IOException {
    try (Opened opened = opened()) {
      opened.delete(single(name));
    } catch (NoSuchFileException e) {
      // there is nothing
    }
  }

  private static InvalidInput link(Path path) {
    return new InvalidInput(path + " is a symbolic link, which is not followed there: put the file or directory itself "
        + "in its place");
  }

  /**
   * Returns the names from the trusted directory to what is there, without links; null if it leads out of the trusted
   * directory, or to nothing.
   */
  private List<String> target(Path way) throws IOException {
    Path real;
    try {
      real = way.toRealPath();
    } catch (AccessDeniedException e) {
      throw e;
    } catch (FileSystemException e) { // it leads to nothing, or to itself
      return null;
    }
    Path root = trusted.toRealPath();
    if (!real.startsWith(root)) {
      return null;
    }
    List<String> names = new ArrayList<>();
    for (int i = root.getNameCount(); i < real.getNameCount(); i++) {
      names.add(real.getName(i).toString());
    }
    return names;
  }

  /** Returns the same names, or refuses the first link on the way. */
  private List<String> followed(Path way) throws IOException {
    List<String> names = target(way);
    if (names != null) {
      return names;
    }
    Path link = trusted;
    for (Path part : trusted.relativize(way)) {
      link = link.resolve(part);
      if (Files.isSymbolicLink(link)) {
        break;
      }
    }
    throw new InvalidInput(link + " is a symbolic link that leads to nothing, or out of " + trusted
        + ", and is not followed: put the file or directory itself in its place, or name the directory in which that "
        + "lies");
  }

  private ConfinedDirectory aboveOf(List<String> names) {
    return new ConfinedDirectory(trusted, names.subList(0, names.size() - 1), key);
  }

  private static String last(List<String> names) {
    return names.get(names.size() - 1);
  }

  /** Walks to this directory, or to that to which links on the way lead, if it is below the trusted one. */
  private Opened forReading() throws IOException {
    try {
      return opened();
    } catch (InvalidInput e) { // a link
      return new ConfinedDirectory(trusted, followed(path()), key).opened();
    }
  }

  /** Walks to this directory, one open directory after the other, and through no link. */
  private Opened opened() throws IOException {
    Path at = trusted;
    DirectoryStream<Path> stream = Files.newDirectoryStream(trusted);
    for (String name : below) {
      Path next = at.resolve(name);
      try (DirectoryStream<Path> above = stream) {
        stream = above instanceof SecureDirectoryStream<Path> secure
            ? secure.newDirectoryStream(relative(name), LinkOption.NOFOLLOW_LINKS) : unsecured(next);
      } catch (FileSystemException e) {
        throw explained(next, e);
      }
      at = next;
    }
    return new Opened(stream);
  }

  private static DirectoryStream<Path> unsecured(Path directory) throws IOException {
    if (Files.isSymbolicLink(directory)) {
      throw link(directory);
    }
    return Files.newDirectoryStream(directory);
  }

  /** Names the link, and the whole path of what is not there: the system knows its last part only. */
  private static FileSystemException explained(Path path, FileSystemException e) {
    if (Files.isSymbolicLink(path)) {
      throw link(path);
    }
    return e instanceof NoSuchFileException ? new NoSuchFileException(path.toString())
        : e instanceof NotDirectoryException ? new NotDirectoryException(path.toString())
        : e instanceof AccessDeniedException ? new AccessDeniedException(path.toString())
        : e instanceof FileAlreadyExistsException ? new FileAlreadyExistsException(path.toString())
        : new FileSystemException(path.toString(), null, e.getReason() == null ? e.toString() : e.getReason());
  }

  private Path relative(String name) {
    return trusted.getFileSystem().getPath(name);
  }

  /** This directory while it is open. */
  private final class Opened implements AutoCloseable {

    private final DirectoryStream<Path> stream;
    /** Null: the platform has none. */
    private final SecureDirectoryStream<Path> secure;

    Opened(DirectoryStream<Path> stream) {
      this.stream = stream;
      secure = stream instanceof SecureDirectoryStream<Path> itself ? itself : null;
    }

    ConfinedDirectory directory() {
      return ConfinedDirectory.this;
    }

    BasicFileAttributes attributes(String name) throws IOException {
      try {
        return secure == null
            ? Files.readAttributes(pathOf(name), BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
            : secure.getFileAttributeView(relative(name), BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                .readAttributes();
      } catch (FileSystemException e) {
        throw explained(pathOf(name), e);
      }
    }

    FileChannel openRegular(String name, Set<? extends OpenOption> options) throws IOException {
      BasicFileAttributes found = attributes(name);
      if (found.isSymbolicLink()) {
        throw link(pathOf(name));
      }
      if (!found.isRegularFile()) { // a pipe would be waited for
        throw new NoSuchFileException(pathOf(name).toString(), null, "no regular file");
      }
      return open(name, options);
    }

    FileChannel open(String name, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
        throws IOException {
      Set<OpenOption> all = new HashSet<>(options);
      all.add(LinkOption.NOFOLLOW_LINKS);
      try {
        if (secure != null) {
          SeekableByteChannel opened = secure.newByteChannel(relative(name), all, attributes);
          if (opened instanceof FileChannel file) {
            return file;
          }
          opened.close();
          throw new IOException(pathOf(name) + " is in a file system that opens no file channels");
        }
        FileChannel file = FileChannel.open(pathOf(name), all, attributes);
        if (!pathOf(name).toRealPath().equals(real().resolve(name))) {
          file.close();
          throw link(pathOf(name));
        }
        return file;
      } catch (FileSystemException e) {
        throw explained(pathOf(name), e);
      }
    }

    /** Makes a file for its owner, and for the group where the directory is writable for it. */
    FileChannel createNew(String name, OpenOption... access) throws IOException {
      Set<OpenOption> options = new HashSet<>(List.of(access));
      options.add(StandardOpenOption.CREATE_NEW);
      if (!trusted.getFileSystem().supportedFileAttributeViews().contains("posix")) {
        return open(name, options);
      }
      FileChannel file = open(name, options,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      try {
        if (permissions().contains(PosixFilePermission.GROUP_WRITE)) {
          permit(name, PosixFilePermissions.fromString("rw-rw----"));
        }
        return file;
      } catch (IOException | RuntimeException e) {
        file.close();
        throw e;
      }
    }

    void rename(String name, String other) throws IOException {
      try {
        if (secure == null) {
          Files.move(pathOf(name), pathOf(other), StandardCopyOption.ATOMIC_MOVE);
        } else {
          secure.move(relative(name), secure, relative(other));
        }
      } catch (FileSystemException e) {
        throw explained(pathOf(other), e);
      }
    }

    private Path real() throws IOException {
      Path real = trusted.toRealPath();
      for (String name : below) {
        real = real.resolve(name);
      }
      return real;
    }

    void delete(String name) throws IOException {
      try {
        if (secure == null) {
          Files.deleteIfExists(pathOf(name));
        } else {
          secure.deleteFile(relative(name));
        }
      } catch (NoSuchFileException e) {
        // there is nothing
      } catch (FileSystemException e) {
        throw explained(pathOf(name), e);
      }
    }

    Set<PosixFilePermission> permissions() throws IOException {
      return secure == null ? Files.getPosixFilePermissions(path())
          : secure.getFileAttributeView(PosixFileAttributeView.class).readAttributes().permissions();
    }

    void permit(String name, Set<PosixFilePermission> permissions) throws IOException {
      if (secure == null) {
        Files.setPosixFilePermissions(pathOf(name), permissions);
      } else {
        secure.getFileAttributeView(relative(name), PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
            .setPermissions(permissions);
      }
    }

    @Override
    public void close() throws IOException {
      stream.close();
    }
  }

  @Override
  public String toString() {
    return path().toString();
  }
}
