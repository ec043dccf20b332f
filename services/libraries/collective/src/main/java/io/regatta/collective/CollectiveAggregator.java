package io.regatta.collective;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Loop;
import io.regatta.node.admin.Waits;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.tensor.CollectiveOpen;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.Collections;
import java.util.List;

/**
 * All-reduce for groups of ranks that it is no member of: central all-reduce, for a service that has a port of its own.
 * A group is created by the first stream that one of its ranks opens here, and removed after the last one. Calls are
 * the ranks' own: it takes part in the calls that they have made, and sums in rank order, so all get the same bits in
 * every run. Owned by the service's loop, on which it is called.
 */
public final class CollectiveAggregator {
  private static final int MAX_RANKS = 4096;

  private final int maxGroups;
  private final long maxBytes;
  private final Generations generations;
  private final Arrivals arrivals;

  /**
   * Creates the aggregator of one service.
   *
   * @param context the service's, of an event loop
   * @param endpoint at which ranks reach it, for messages
   * @param waits registers calls under way
   * @param maxGroups groups at a time
   * @param maxBytes of the vectors of one group, those of all its calls under way
   */
  public CollectiveAggregator(Context context, String endpoint, CollectiveOptions options, Waits waits, int maxGroups,
      long maxBytes) {
    this.maxGroups = maxGroups;
    this.maxBytes = maxBytes;
    Loop loop = VertxLoop.of(context);
    generations = new Generations(loop, options, waits);
    arrivals = new Arrivals(loop, endpoint, generations.patienceMillis(), generations.workspace(), this::generation);
  }

  /** Accepts a stream that a rank has opened; its first message names the group. */
  public void accept(TensorStream stream) {
    arrivals.accept(stream);
  }

  /** Returns the generation that a stream is for; the first stream creates it. */
  private Mesh generation(CollectiveOpen opening) {
    Mesh there = generations.of(opening);
    if (there != null) {
      return there;
    }
    int ranks = opening.getWorldSize();
    int aggregators = opening.getAggregators();
    int index = opening.getAggregator();
    if (ranks < 2 || ranks > MAX_RANKS || aggregators < 1 || aggregators > MAX_RANKS || index < 0 || index >= aggregators
        || opening.getRank() < 0 || opening.getRank() >= ranks) {
      throw new InvalidInput("group " + opening.getGroup() + ": rank " + opening.getRank() + " of " + ranks + " takes this process for "
          + "aggregator " + index + " of " + aggregators + "; that is none");
    }
    Mesh before = generations.of(opening.getGroup());
    if (before == null && generations.all().size() >= maxGroups) {
      throw new Overloaded("the aggregator sums for " + maxGroups + " groups, the limit (gradient_aggregator.limits.jobs); wait until "
          + "one has ended, or raise it");
    }
    VectorMemory memory = new VectorMemory(maxBytes);
    Mesh now = generations.form(new Membership(opening.getGroup(), opening.getGeneration(), ranks + index, unknown(ranks),
        unknown(aggregators)), 0, memory, () -> {
          memory.close();
          return Future.succeededFuture();
        });
    if (before != null) {
      before.close();
    }
    return now;
  }

  /** Returns empty endpoints of the ranks: it never opens a stream to them. */
  private static List<String> unknown(int count) {
    return Collections.nCopies(count, "");
  }

  /** Returns the number of groups it sums for. */
  public int groups() {
    return generations.all().size();
  }

  /** Fails all calls under way, at all ranks. */
  public Future<Void> close(String why) {
    RegattaException reason = new PeerLost(why);
    arrivals.refuse(reason);
    List<Mesh> all = generations.all();
    all.forEach(mesh -> mesh.fail(reason));
    return Future.join(all.stream().map(Mesh::close).toList()).transform(done -> Future.succeededFuture());
  }
}
