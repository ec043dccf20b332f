package io.regatta.collective;

import io.regatta.core.collective.Tensor;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.regatta.node.admin.Waits;
import io.regatta.protocol.rank.CollectiveFrames;
import io.regatta.protocol.tensor.CollectiveOpen;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The generations formed at a port: the newest of each group, and how the one before has ended. Assigns the streams
 * that ranks open to them. Owned by the port's loop.
 */
final class Generations {
  /** Number of ended groups that are remembered; a rank that arrives after more of them waits in vain. */
  private static final int MAX_PAST = 1000;

  private final Loop loop;
  private final CollectiveOptions options;
  private final Waits waits;
  private final Tensor.Workspace workspace = new Tensor.Workspace();
  /** Formed generations by group. */
  private final Map<String, Mesh> formed = new HashMap<>();
  /** The last generation of each group that was formed here and has been closed. */
  private final Map<String, Past> past = new LinkedHashMap<>() {
    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Past> eldest) {
      return size() > MAX_PAST;
    }
  };

  /** A group's former generation. */
  private record Past(long generation, RegattaException why, List<Integer> unreachable) {}

  /** @param waits registers calls under way */
  Generations(Loop loop, CollectiveOptions options, Waits waits) {
    this.loop = loop;
    this.options = options;
    this.waits = waits;
  }

  /** Returns the workspace of the port's loop. */
  Tensor.Workspace workspace() {
    return workspace;
  }

  /** Returns how long ranks wait for each other to form a generation. */
  long patienceMillis() {
    return options.formMillis();
  }

  /** Returns the generation of a group that is formed here, null if none is. */
  Mesh of(String group) {
    return formed.get(group);
  }

  List<Mesh> all() {
    return List.copyOf(formed.values());
  }

  /**
   * Begins to form a generation in place of the one before. It fails if some rank has not said in time that it forms it
   * as well.
   *
   * @param process see {@link CollectiveFrames#open}
   * @param memory in which an aggregator sums; null for a rank
   * @param closing called once, when its streams have ended
   */
  Mesh form(Membership ranks, long process, VectorMemory memory, Supplier<Future<Void>> closing) {
    Waits.Source[] shown = new Waits.Source[1];
    Mesh[] made = new Mesh[1];
    Mesh now = new Mesh(loop, ranks, options, process, workspace, memory, () -> {
      shown[0].close();
      remove(made[0]);
      return closing.get();
    });
    made[0] = now;
    shown[0] = waits.source(loop, now::waits);
    formed.put(ranks.group(), now);
    Timer timer = loop.after(patienceMillis(), () -> {
      now.missing().forEach(now::unreachable);
      now.fail(new PeerLost(now.where() + ": " + now.missingNames() + " have not said within " + patienceMillis()
          + " ms that they form it, to " + ranks.name(ranks.rank()) + "; join again, with those who are left"));
    });
    now.formed().onComplete(done -> timer.cancel());
    return now;
  }

  private void remove(Mesh mesh) {
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
   * Returns the generation that a stream is for, which another rank has opened; null if it is not formed here yet.
   *
   * @param opening the stream's first message
   * @throws RegattaException if it cannot belong to any
   */
  Mesh of(CollectiveOpen opening) {
    long generation = opening.getGeneration();
    Mesh now = formed.get(opening.getGroup());
    Past before = past.get(opening.getGroup());
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
    int aggregators = now.follows() ? now.ranks().aggregators().size() : 0;
    if (from < 0 || from >= Math.min(now.rank(), opening.getWorldSize()) || opening.getWorldSize() != now.ranks().worldSize()
        || opening.getAggregators() != aggregators
        || now.follows() && opening.getAggregator() != now.rank() - now.ranks().worldSize()) {
      throw new InvalidInput(now.where() + ": rank " + from + " of " + opening.getWorldSize() + (opening.getAggregators() == 0 ? ""
          : ", with " + opening.getAggregators() + " aggregators,") + " opens no stream to " + now.ranks().name(now.rank()) + " of "
          + now.ranks().worldSize());
    }
    if (now.link(from).stream().isThere()) {
      throw new Conflict(now.where() + ": rank " + from + " has opened its stream already");
    }
    return now;
  }

  /** Returns the error for a peer: a generation that was cancelled here is lost for the peer. */
  private static RegattaException refusal(RegattaException why) {
    return why instanceof Cancelled ? new PeerLost(why.getMessage()) : why;
  }
}
