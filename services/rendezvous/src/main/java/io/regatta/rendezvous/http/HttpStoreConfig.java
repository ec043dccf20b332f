package io.regatta.rendezvous.http;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;
import io.regatta.node.settings.Settings;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.Map;

/** Key-value servers of a rendezvous for processes of PaddlePaddle: section {@code rendezvous.http}. Immutable. */
@RecordBuilder
public record HttpStoreConfig(
    @Setting(value = "-1", doc = "Port of the server for PaddlePaddle's gloo (PADDLE_GLOO_HTTP_ENDPOINT), on the node's "
        + "host; 0: any free one; -1: none.")
    int glooPort,

    @Setting(value = "-1", doc = "Port of the server for PaddlePaddle's launch from 2.3 on (--master), on the node's host; "
        + "0: any free one; -1: none.")
    int launchPort,

    @Setting(doc = "Size of each of gloo's scopes, e.g. JOB_worker=4: when so many ranks have deleted their keys in "
        + "every one, PaddlePaddle's server would stop, and here the next job begins in empty scopes. Not needed for gloo's own ranks, "
        + "whose values tell when a run is over.")
    Map<String, Integer> glooSizes,

    @Setting(value = "65536", doc = "Keys of one server, deleted ones of gloo's too.")
    int keys,

    @Setting(value = "1048576", unit = "bytes", doc = "One value.")
    int valueBytes,

    @Setting(value = "67108864", unit = "bytes", doc = "All values of one server.")
    long storeBytes,

    @Setting(value = "3600", unit = "s", doc = "A scope of gloo's or a key of launch's that nobody asks for this long is "
        + "forgotten; PaddlePaddle's clients wait as long for each other.")
    int idleSeconds,

    @Setting(value = "false", doc = "Whether these servers take everybody's requests although the process has TLS or a token, which "
        + "PaddlePaddle's clients cannot give: for a private network.")
    boolean open) implements HttpStoreConfigBuilder.With {

  /** The port number of a server that is not started. */
  public static final int OFF = -1;

  public HttpStoreConfig {
    glooSizes = Map.copyOf(glooSizes);
    port("http.gloo_port", glooPort);
    port("http.launch_port", launchPort);
    glooSizes.forEach((scope, size) -> positive("http.gloo_sizes." + scope, size));
    positive("http.keys", keys);
    positive("http.value_bytes", valueBytes);
    positive("http.store_bytes", storeBytes);
    positive("http.idle_seconds", idleSeconds);
  }

  /** Returns the defaults: no server. */
  public static HttpStoreConfig defaults() {
    return Settings.defaults(HttpStoreConfig.class);
  }

  private static void port(String key, int port) {
    if (port < OFF || port > 65_535) {
      throw new InvalidInput(key + " must lie in 0..65535, or be -1 for none, got " + port);
    }
  }

  private static void positive(String key, long value) {
    if (value < 1) {
      throw new InvalidInput(key + " must be at least 1, got " + value);
    }
  }
}
