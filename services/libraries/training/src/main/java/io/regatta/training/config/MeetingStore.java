package io.regatta.training.config;

import io.regatta.collective.store.EtcdEndpoints;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * The place where the trainers of a collective job find each other: the parsed key {@code collective.store}. Immutable.
 *
 * @param directory of files; otherwise null
 * @param server of an HTTP store; otherwise null
 * @param etcd cluster and prefix of a store in etcd; otherwise null
 */
public record MeetingStore(Kind kind, Path directory, HostPort server, EtcdEndpoints etcd) {
  private static final String FILE = "file:";
  private static final String HTTP = "http://";
  private static final String KEY = "collective: store";

  /**
   * The kind of place:
   * <ul>
   *   <li>SERVICE: the rendezvous service decides who is in the job.
   *   <li>FILE: files in a directory that all trainers see.
   *   <li>HTTP: a server that speaks gloo's key-value protocol with conditions, such as a rendezvous at
   *       {@code rendezvous.http.gloo_port}.
   *   <li>HAZELCAST: the shared map of the cluster that the trainers form.
   *   <li>ETCD: keys below a prefix of an etcd cluster.
   * </ul>
   */
  public enum Kind { SERVICE, FILE, HTTP, HAZELCAST, ETCD }

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
    if (text.equals("service") || text.equals("hazelcast")) {
      return new MeetingStore(text.equals("service") ? Kind.SERVICE : Kind.HAZELCAST, null, null);
    }
    if (text.startsWith(HTTP)) {
      String server = text.substring(HTTP.length());
      return new MeetingStore(Kind.HTTP, null,
          HostPort.parse(server.endsWith("/") ? server.substring(0, server.length() - 1) : server, KEY));
    }
    if (EtcdEndpoints.areNamedBy(text)) {
      return new MeetingStore(Kind.ETCD, null, null, EtcdEndpoints.parse(text, KEY));
    }
    if (text.startsWith(FILE) && text.length() > FILE.length()) {
      try {
        return new MeetingStore(Kind.FILE, Path.of(text.substring(FILE.length())), null);
      } catch (InvalidPathException e) {
        throw new InvalidInput(KEY + " names no directory: " + e.getMessage(), e);
      }
    }
    throw new InvalidInput(KEY + " is '" + text + "'; give service, file:DIRECTORY, http://HOST:PORT, "
        + "etcd:HOST:PORT[,HOST:PORT...]/PREFIX or hazelcast");
  }
}
