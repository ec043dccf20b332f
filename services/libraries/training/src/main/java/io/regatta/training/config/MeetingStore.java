package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * Where the trainers of a collective job meet: what {@code collective.store} says. Immutable.
 *
 * @param directory of files; otherwise null
 * @param server of an HTTP store; otherwise null
 */
public record MeetingStore(Kind kind, Path directory, HostPort server) {
  private static final String FILE = "file:";
  private static final String HTTP = "http://";

  /**
   * How. SERVICE: the rendezvous service decides who is in the job. FILE: files in a directory that all see. HTTP: a server that speaks
   * gloo's key-value protocol with conditions, as a rendezvous does at {@code rendezvous.http.gloo_port}. HAZELCAST: the shared map of
   * the cluster that the trainers form.
   */
  public enum Kind { SERVICE, FILE, HTTP, HAZELCAST }

  /** @throws InvalidInput if it is none of them */
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
