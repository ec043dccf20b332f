package io.regatta.load.run;

import io.regatta.node.NodeConfig;
import io.regatta.node.SecurityConfig;
import io.regatta.node.TlsConfig;
import io.regatta.node.admin.AdminConfig;
import io.regatta.node.settings.Secret;
import io.regatta.node.settings.Settings;
import io.regatta.protocol.testing.Certificates;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Certificates that are made for a run, and nodes with their protections. Stateless. */
public final class Secured {
  private static final String TOKEN = "the-token-of-a-load-test";

  private Secured() {}

  /** Makes a directory with a certificate for client and server, which is deleted when this process ends. */
  public static Path directory() throws IOException {
    Path directory = Files.createTempDirectory("regatta-load-certificates");
    directory.toFile().deleteOnExit(); // after its content: in the reverse order
    new Certificates(directory).issue("ca", "node");
    for (File file : directory.toFile().listFiles()) {
      file.deleteOnExit();
    }
    return directory;
  }

  /**
   * Returns a node with mutual TLS and a token, without an admin server.
   *
   * @param directory with the certificate; null: neither TLS nor token
   */
  public static NodeConfig node(Path directory) {
    NodeConfig d = NodeConfig.defaults();
    return directory == null ? node(d.host(), d.tls(), Secret.NONE) : node(d.host(), tls(directory, true),
        new Secret(TOKEN));
  }

  /** Returns a node at a host that others reach, with neither token nor TLS. */
  public static NodeConfig open(String host) {
    return node(host, Settings.defaults(TlsConfig.class), Secret.NONE)
        .withSecurity(new SecurityConfig(true, "", 0));
  }

  /**
   * Returns a node at a host that others reach, with a token.
   *
   * @param directory with the certificate for mutual TLS, which need not name the host; null: no TLS
   */
  public static NodeConfig locked(String host, Path directory) {
    return node(host, directory == null ? Settings.defaults(TlsConfig.class) : tls(directory, false),
        new Secret(TOKEN));
  }

  private static TlsConfig tls(Path directory, boolean verifyHost) {
    return new TlsConfig(directory.resolve("node.crt").toString(), directory.resolve("node.key").toString(),
        directory.resolve("ca.pem").toString(), true, verifyHost, 0);
  }

  private static NodeConfig node(String host, TlsConfig tls, Secret token) {
    return NodeConfig.defaults().with(c -> c.admin(new AdminConfig(false, 0, "", 2000)).host(host).tls(tls).token(token));
  }
}
