package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * The place where the trainers of a collective job find each other: the parsed key {@code collective.store}. Immutable.
 *
 * @param directory of files; otherwise null
 * @param server of an HTTP store; otherwise null
 */
public record MeetingStore(Kind kind, Path directory, HostPort server) {
  private static final String FILE = "file:";
  private static final String HTTP = "http://";

  /**
   * The kind of place:
   * <ul>
   *   <li>SERVICE: the rendezvous service decides who is in the job.
   *   <li>FILE: files in a directory that all trainers see.
   *   <li>HTTP: a server that speaks gloo's key-value protocol with conditions, such as a rendezvous at
   *       {@code rendezvous.http.gloo_port}.
   *   <li>HAZELCAST: the shared map of the cluster that the trainers form.
   * </ul>
   */
  public enum Kind { SERVICE, FILE, HTTP, HAZELCAST }

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
          HostPort.parse(server.endsWith("/") ? server.substring(0, server.length() - 1) : server, "collective: store"));
    }
    if (text.startsWith(FILE) && text.length() > FILE.length()) {
      try {
        return new MeetingStore(Kind.FILE, Path.of(text.substring(FILE.length())), null);
      } catch (InvalidPathException e) {
        throw new InvalidInput("collective: store names no directory: " + e.getMessage(), e);
      }
    }
    throw new InvalidInput("collective: store is '" + text + "'; give service, file:DIRECTORY, http://HOST:PORT or hazelcast");
  }
}
