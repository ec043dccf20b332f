package io.regatta.training.config;

import io.regatta.collective.store.EtcdEndpoints;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The place where the trainers of a collective job find each other: the parsed key {@code collective.store}. Immutable.
 *
 * @param directory of files; otherwise null
 * @param server of an HTTP store; otherwise null
 * @param etcd cluster and prefix of a store in etcd; otherwise null
 */
public record MeetingStore(Kind kind, Path directory, HostPort server, EtcdEndpoints etcd) {
  private static final String KEY = "collective: store";

  /** The kind of place, in the order of the table in docs/launching.md, which says what each requires. */
  public enum Kind {
    /** The rendezvous service decides who is in the job. */
    SERVICE("service"),
    /** Files in a directory that all trainers see. */
    FILE("file:DIRECTORY"),
    /** A server that speaks gloo's key-value protocol with conditions, such as a rendezvous at its gloo port. */
    HTTP("http://HOST:PORT"),
    /** Keys below a prefix of an etcd cluster. */
    ETCD(EtcdEndpoints.FORM),
    /** The shared map of the cluster that the trainers form. */
    HAZELCAST("hazelcast");

    private final String form;

    Kind(String form) {
      this.form = form;
    }

    /** Returns the form of the key's text, with placeholders in upper case. */
    public String form() {
      return form;
    }

    /** Returns the part of the form before the first placeholder. */
    private String scheme() {
      return form.substring(0, (int) form.chars().takeWhile(c -> !Character.isUpperCase(c)).count());
    }

    private boolean isNamedBy(String text) {
      return scheme().equals(form) ? text.equals(form) : text.startsWith(scheme()) && text.length() > scheme().length();
    }
  }

  /** Creates one of a kind other than ETCD. */
  public MeetingStore(Kind kind, Path directory, HostPort server) {
    this(kind, directory, server, null);
  }

  /**
   * Parses the key's text.
   *
   * @throws InvalidInput if it is none of the kinds
   */
  static MeetingStore parse(String text) {
    for (Kind kind : Kind.values()) {
      if (kind.isNamedBy(text)) {
        return parse(kind, text, text.substring(kind.scheme().length()));
      }
    }
    throw new InvalidInput(KEY + " is '" + text + "'; give one of "
        + Stream.of(Kind.values()).map(Kind::form).collect(Collectors.joining(", ")));
  }

  /** @param rest after the scheme */
  private static MeetingStore parse(Kind kind, String text, String rest) {
    return switch (kind) {
      case SERVICE, HAZELCAST -> new MeetingStore(kind, null, null);
      case FILE -> new MeetingStore(kind, directory(rest), null);
      case HTTP -> new MeetingStore(kind, null,
          HostPort.parse(rest.endsWith("/") ? rest.substring(0, rest.length() - 1) : rest, KEY));
      case ETCD -> new MeetingStore(kind, null, null, EtcdEndpoints.parse(text, KEY));
    };
  }

  private static Path directory(String name) {
    try {
      return Path.of(name);
    } catch (InvalidPathException e) {
      throw new InvalidInput(KEY + " names no directory: " + e.getMessage(), e);
    }
  }
}
