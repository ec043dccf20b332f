package io.regatta.node;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.admin.AdminConfig;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.settings.Secret;
import io.regatta.node.settings.Setting;
import io.regatta.node.settings.Settings;
import io.regatta.protocol.file.SecretFile;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.security.Tokens;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/** Settings common to all processes: the section {@code node} of every service. Immutable. */
@RecordBuilder
public record NodeConfig(
    @Setting(doc = "How this process finds the others.")
    ClusterConfig cluster,

    @Setting(doc = "The admin server.")
    AdminConfig admin,

    @Setting(doc = "Host that services announce, and bind to unless bind says otherwise; empty: the address chosen for the "
        + "cluster, or, with fixed endpoints, that of the interface which routes to the rendezvous.")
    String host,

    @Setting(value = "120", unit = "s", doc = "How long to wait for other services, and a trainer for the others of its job, before giving up.")
    int readyTimeoutSeconds,

    @Setting(value = "10", unit = "s", doc = "A wait that lasts longer than this is logged.")
    int longWaitSeconds,

    @Setting(value = "0", doc = "Number of event loops; 0: twice the number of cores.")
    int eventLoops,

    @Setting(value = "false", doc = "Whether /metrics shows Vert.x's own metrics as well (HTTP, pools, event bus).")
    boolean vertxMetrics,

    @Setting(doc = "Address that services bind to where it is another than host, e.g. 0.0.0.0 in a container whose ports are published "
        + "under the machine's address; empty: host.")
    String bind,

    @Setting(doc = "TLS on all ports.")
    TlsConfig tls,

    @Setting(doc = "The job's token, without which no call is served: 16 or more characters, the same for all processes. In the "
        + "environment or a file, never on a command line. Empty: that of token_file, if there is one.")
    Secret token,

    @Setting(doc = "File that holds the token alone, or lines of NAME TOKEN [roles=member,monitor,predict] "
        + "[expires=DATE]. It is read again when it changes (security.token_poll_ms).")
    String tokenFile,

    @Setting(doc = "What protects the ports if there is neither a token nor mutual TLS.")
    SecurityConfig security,

    @Setting(doc = "How many connections a port accepts, and how long one may be without authentication.")
    ConnectionsConfig connections) implements NodeConfigBuilder.With {

  public NodeConfig {
    atLeast(1, "ready_timeout_seconds", readyTimeoutSeconds);
    atLeast(1, "long_wait_seconds", longWaitSeconds);
    atLeast(0, "event_loops", eventLoops);
    if (!token.isBlank() && !tokenFile.isBlank()) {
      throw new InvalidInput("token and token_file are given: give one");
    }
  }

  private static void atLeast(int least, String key, int value) {
    if (value < least) {
      throw new InvalidInput(key + " must be at least " + least + ", not " + value);
    }
  }

  /** Returns the defaults: a node alone, on loopback, any admin port. */
  public static NodeConfig defaults() {
    return Settings.defaults(NodeConfig.class);
  }

  /** Returns how long to wait for others before giving up. */
  public Duration readyTimeout() {
    return Duration.ofSeconds(readyTimeoutSeconds);
  }

  /**
   * Refuses a process that cannot work alone and has no way to find others.
   *
   * @param otherwise the alternative that the user may have meant, e.g. {@code , or --local to train here}; may be
   *     empty
   */
  public void requireOthers(String otherwise) {
    if (!cluster.canMeetOthers()) {
      throw new InvalidInput("no seeds: give --seeds HOST:PORT (node.cluster.seeds)" + otherwise);
    }
  }

  /**
   * Returns certificates and token, read from their files. Blocks while it reads.
   *
   * @throws InvalidInput one line that names the file and its fault
   */
  public PeerSecurity peerSecurity() {
    return PeerSecurity.of(tls.files(), secret(), hasTokenFile() ? this::secret : null, connections.limits());
  }

  /** Returns true if the token is in a file, which may change. */
  boolean hasTokenFile() {
    return token.isBlank() && !(tokenFile.isBlank() && security.launchTokenFile().isBlank());
  }

  /** Returns true if every caller of this process must show a token or a certificate. */
  boolean isAuthenticated() {
    return !token.isBlank() || !tokenFile.isBlank() || !security.launchTokenFile().isBlank() || tls.files() != null
        && tls.mutual();
  }

  private Tokens secret() {
    if (!token.isBlank()) {
      return Tokens.of(Token.of(token.text().strip(), "node.token"));
    }
    String key = tokenFile.isBlank() ? "node.security.launch_token_file" : "node.token_file";
    String file = tokenFile.isBlank() ? security.launchTokenFile() : tokenFile;
    return file.isBlank() ? Tokens.NONE
        : Tokens.parse(new String(SecretFile.read(key, Path.of(file)), StandardCharsets.UTF_8), key + " " + file);
  }
}
