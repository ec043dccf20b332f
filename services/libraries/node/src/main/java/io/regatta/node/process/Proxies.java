package io.regatta.node.process;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Proxies that the environment names: no call and no tensor uses one. A note, logged once, lists the variables that are
 * set.
 */
public final class Proxies {

  private static final Logger LOG = LoggerFactory.getLogger(Proxies.class);
  private static final List<String> NAMES = List.of("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY");
  private static final AtomicBoolean LOGGED = new AtomicBoolean();

  private Proxies() {}

  /** Returns true if a variable of this name gives one. */
  public static boolean isOne(String variable) {
    return NAMES.contains(variable);
  }

  /** Returns the variables that are set. */
  public static List<String> set(Map<String, String> environment) {
    return NAMES.stream().filter(name -> !environment.getOrDefault(name, "").isBlank()).toList();
  }

  /** Returns the note on the variables that are set; empty if none is. */
  public static Optional<String> note(Map<String, String> environment) {
    List<String> set = set(environment);
    return set.isEmpty() ? Optional.empty()
        : Optional.of(String.join(", ", set) + (set.size() > 1 ? " are" : " is") + " set: no proxy is used for data");
  }

  /** Logs the note on this process's environment, the first time that it is called. Any thread. */
  public static void log() {
    if (!LOGGED.getAndSet(true)) {
      note(System.getenv()).ifPresent(LOG::info);
    }
  }
}
