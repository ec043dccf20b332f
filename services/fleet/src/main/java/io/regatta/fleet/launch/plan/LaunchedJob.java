package io.regatta.fleet.launch.plan;

import io.regatta.core.exchange.Mode;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The properties of a program that its launcher uses. Immutable.
 *
 * @param shards of each parameter server; each has a port. 0: not known
 * @param collective whether its mode is known to be collective
 * @param elastic whether its trainers continue without those that are lost
 * @param store through which they rendezvous without a server, as {@code collective.store} names it; empty: they need a
 *     master, which may be the server of a store over HTTP
 * @param settings arguments of the program that its rendezvous takes as well: {@code -conf}, and {@code --set} of the
 *     sections node and rendezvous
 * @param continues whether its trainers train on without one that is lost, as {@code on_trainer_lost: continue} says
 */
public record LaunchedJob(int shards, boolean collective, boolean elastic, String store, List<String> settings, boolean continues) {

  /** Ports from one server to the next if the number of shards is not known. */
  private static final int STRIDE = 8;
  private static final Pattern SHARDS = Pattern.compile("--(?:set=)?shards=(\\d{1,4})");
  private static final Pattern MODE = Pattern.compile("--(?:set=)?mode=([\\w-]+)");

  public LaunchedJob {
    settings = List.copyOf(settings);
  }

  /** Creates a job that ends with the first trainer that fails. */
  public LaunchedJob(int shards, boolean collective, boolean elastic, String store, List<String> settings) {
    this(shards, collective, elastic, store, settings, false);
  }

  /**
   * Returns the properties of a program in code, or of a job file that is not on this machine. They are read from its
   * arguments, as far as these are options of a job.
   */
  public static LaunchedJob ofArguments(List<String> arguments) {
    int shards = 0;
    boolean collective = false;
    for (int i = 0; i < arguments.size(); i++) {
      boolean apart = i + 1 < arguments.size() && arguments.get(i).matches("--(set|shards|mode)");
      String word = apart ? arguments.get(i) + "=" + arguments.get(i + 1) : arguments.get(i);
      Matcher count = SHARDS.matcher(word);
      shards = count.matches() ? Integer.parseInt(count.group(1)) : shards;
      Matcher mode = MODE.matcher(word);
      collective = mode.matches() ? Mode.find(mode.group(1)).filter(m -> !m.needsServers()).isPresent() : collective;
    }
    return new LaunchedJob(shards, collective, false, "", List.of());
  }

  /** Returns true if the trainers rendezvous without a master. */
  boolean masterless() {
    return !store.isEmpty();
  }

  /** Returns true if the number of shards is known. */
  boolean knowsShards() {
    return shards > 0;
  }

  /** Returns the number of ports from one server to the next. */
  public int stride() {
    return knowsShards() ? shards : STRIDE;
  }
}
