package io.regatta.core.exchange;

import io.regatta.core.error.PeerText;
import java.util.List;

/**
 * A wait of one process for others, with its start: the content of {@code /why}, and of the log line about a long wait.
 *
 * @param who e.g. {@code trainer 1}
 * @param operation e.g. {@code pull of step 418}
 * @param where e.g. {@code shard 0 of job census}
 * @param sinceMillis wall clock of the start, ms since the epoch
 * @param waitsFor the peers waited for
 */
public record Wait(String who, String operation, String where, long sinceMillis, List<Peer> waitsFor) {

  /**
   * @param name e.g. {@code trainer 3}
   * @param lastStep the last step seen from it, -1 if none, -2 if steps are not what it has or they are not known here
   * @param lastSeenMillis wall clock of the last message from it, 0 if none
   */
  public record Peer(String name, long lastStep, long lastSeenMillis) {

    /** Returns a peer of which this process knows no step, for example {@code the shards}. */
    public static Peer named(String name) {
      return new Peer(name, -2, 0);
    }

    private String described() {
      String shown = PeerText.of(name);
      return lastStep < -1 ? shown : shown + (lastStep < 0 ? " (nothing seen yet)" : " (last step " + lastStep + ")");
    }
  }

  /**
   * Returns one sentence, its texts as {@link PeerText} shows them. An example: {@code trainer 1 waits at shard 0 of
   * job census for trainer 3 (last step 402), pull of step 418, since 12.3 s}.
   */
  public String sentence(long nowMillis) {
    StringBuilder b = new StringBuilder(PeerText.of(who)).append(" waits at ").append(PeerText.of(where))
        .append(" for ");
    for (int i = 0; i < waitsFor.size(); i++) {
      b.append(i == 0 ? "" : ", ").append(waitsFor.get(i).described());
    }
    return b.append(", ").append(PeerText.of(operation)).append(", since ")
        .append(String.format(java.util.Locale.ROOT, "%.1f s", (nowMillis - sinceMillis) / 1000.0)).toString();
  }
}
