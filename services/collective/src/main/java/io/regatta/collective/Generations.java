package io.regatta.collective;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.protocol.tensor.TensorMessage;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What is formed at a {@link CollectivePort}: of each group the newest generation, and how the one before has ended. Tells the
 * streams that other ranks open where they belong. Owned by the port's loop.
 */
final class Generations {
  /** By group. */
  private final Map<String, Mesh> formed = new HashMap<>();
  /** By group: the last generation that was formed here and has been closed. */
  private final Map<String, Past> past = new HashMap<>();

  /** What was formed of a group before. */
  private record Past(long generation, RegattaException why, List<Integer> unreachable) {}

  /** The generation of a group that is formed here, null if none is. */
  Mesh of(String group) {
    return formed.get(group);
  }

  List<Mesh> all() {
    return List.copyOf(formed.values());
  }

  /** Takes the place of the generation before. */
  void add(Mesh mesh) {
    formed.put(mesh.ranks().group(), mesh);
  }

  /** It has been closed. */
  void remove(Mesh mesh) {
    String group = mesh.ranks().group();
    if (formed.remove(group, mesh)) {
      past.put(group, new Past(mesh.ranks().generation(), mesh.broken(), mesh.unreachable()));
    }
  }

  /** See {@link CollectivePort#unreachable}. */
  List<Integer> unreachable(Membership ranks) {
    Mesh now = formed.get(ranks.group());
    Past before = past.get(ranks.group());
    return now != null && now.ranks().generation() == ranks.generation() ? now.unreachable()
        : before != null && before.generation == ranks.generation() ? before.unreachable : List.of();
  }

  /**
   * The generation that a stream is for, which another rank has opened; null if it is not formed here yet.
   *
   * @param opening the stream's first message
   * @throws RegattaException if it cannot belong to any
   */
  Mesh of(TensorMessage opening) {
    long generation = opening.getGeneration();
    Mesh now = formed.get(opening.getJob());
    Past before = past.get(opening.getJob());
    if (now == null || now.ranks().generation() < generation) {
      if (before != null && before.generation >= generation) {
        throw refusal(before.why);
      }
      return null;
    }
    int from = opening.getRank();
    if (now.ranks().generation() > generation) {
      throw new StaleGeneration(now.where() + " is formed, but rank " + from + " has generation " + generation
          + "; join again");
    }
    if (now.broken() != null) {
      throw refusal(now.broken());
    }
    if (from < 0 || from >= now.rank() || opening.getRowCount() != now.ranks().worldSize()) {
      throw new InvalidInput(now.where() + ": rank " + from + " of " + opening.getRowCount()
          + " opens no stream to rank " + now.rank() + " of " + now.ranks().worldSize());
    }
    if (now.link(from).stream().isThere()) {
      throw new Conflict(now.where() + ": rank " + from + " has opened its stream already");
    }
    return now;
  }

  /** What was cancelled here is lost for a peer. */
  private static RegattaException refusal(RegattaException why) {
    return why instanceof Cancelled ? new PeerLost(why.getMessage()) : why;
  }
}
