package io.regatta.node.cluster;

import com.hazelcast.nio.serialization.HazelcastSerializationException;
import java.net.URL;
import java.util.Collections;
import java.util.Enumeration;
import java.util.Set;

/**
 * The class loader of a Hazelcast member's configuration. Hazelcast takes classes from it whose names come from another
 * member: those of {@code DataSerializable}, compact and Java objects, and those that a configuration names. Members
 * here exchange texts, numbers and Hazelcast's own operations, which have numbers instead of names. Two kinds of Java
 * objects are needed: the errors with which operations fail, and the state of a cluster, an enum that a cluster of
 * several members sends around before it merges with another one. This class loader admits them and their parts.
 * Thread-safe.
 *
 * <p>For any other class it throws an unchecked exception: after {@link ClassNotFoundException} Hazelcast would ask the
 * class loader of the thread.
 */
final class MemberClassLoader extends ClassLoader {

  static {
    registerAsParallelCapable();
  }

  private static final String HAZELCAST = "com.hazelcast.";
  private static final String LANG = "java.lang.";
  /** A class that a starting member looks for, to know whether there is an API of caches. It cannot be loaded. */
  private static final String PROBE = "javax.cache.Caching";
  /** The state of a cluster, and the superclass that its stream names. */
  private static final Set<String> STATE = Set.of("com.hazelcast.cluster.ClusterState", "java.lang.Enum");
  /** Parts of errors, and the errors of {@code java.util} and {@code java.io} that Hazelcast sends. */
  private static final Set<String> OTHERS = Set.of("java.lang.Throwable", "java.lang.StackTraceElement",
      "java.util.ArrayList", "java.util.Collections$EmptyList", "java.util.Collections$UnmodifiableList",
      "java.util.Collections$UnmodifiableCollection", "java.util.UUID", "java.util.concurrent.TimeoutException",
      "java.util.concurrent.ExecutionException", "java.util.concurrent.CancellationException",
      "java.util.concurrent.CompletionException", "java.io.IOException", "java.io.EOFException");

  /** @param parent has Hazelcast's classes */
  MemberClassLoader(ClassLoader parent) {
    super(parent);
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!admits(name)) {
      throw new HazelcastSerializationException("class " + name + " is refused: members of Regatta exchange texts and "
          + "numbers. Find out which other program writes to the Hazelcast cluster, and close its port to that "
          + "(docs/security.md)");
    }
    return super.loadClass(name, resolve);
  }

  private static boolean admits(String name) {
    return OTHERS.contains(name) || STATE.contains(name) || name.equals(PROBE) || isError(name)
        && (name.startsWith(HAZELCAST) || name.startsWith(LANG) && name.indexOf('.', LANG.length()) < 0);
  }

  private static boolean isError(String name) {
    return name.endsWith("Exception") || name.endsWith("Error");
  }

  /** Returns nothing: Hazelcast finds its own services through the class loader of its classes. */
  @Override
  public Enumeration<URL> getResources(String name) {
    return Collections.emptyEnumeration();
  }
}
