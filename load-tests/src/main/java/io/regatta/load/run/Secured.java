package io.regatta.load.dense;

import io.regatta.node.NodeConfig;
import io.regatta.node.TlsConfig;
import io.regatta.node.admin.AdminConfig;
import io.regatta.node.settings.Secret;
import io.regatta.protocol.testing.Certificates;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The certificates of a run, made for it, and a node that has them. Stateless. */
final class Secured {
  private static final String TOKEN = "the-token-of-a-load-test";

  private Secured() {}

  /** A directory with a certificate for client and server, which goes with this process. */
  static Path directory() throws IOException {
    Path directory = Files.createTempDirectory("regatta-load-certificates");
    directory.toFile().deleteOnExit(); // behind what is in it: in the reverse order
    new Certificates(directory).issue("ca", "node");
    for (File file : directory.toFile().listFiles()) {
      file.deleteOnExit();
    }
    return directory;
  }

  /**
   * Mutual TLS and a token.
   *
   * @param directory with the certificate; null: neither
   */
  static NodeConfig node(Path directory) {
    NodeConfig d = NodeConfig.defaults();
    AdminConfig none = new AdminConfig(false, 0, "", d.admin().healthTimeoutMs());
    return directory == null
        ? new NodeConfig(d.cluster(), none, d.host(), d.readyTimeoutSeconds(), d.longWaitSeconds(), d.eventLoops(), false)
        : new NodeConfig(d.cluster(), none, d.host(), d.readyTimeoutSeconds(), d.longWaitSeconds(), d.eventLoops(), false, "",
            new TlsConfig(directory.resolve("node.crt").toString(), directory.resolve("node.key").toString(),
                directory.resolve("ca.pem").toString(), true, true, 0), new Secret(TOKEN), "", d.security(),
            d.connections());
  }
}
