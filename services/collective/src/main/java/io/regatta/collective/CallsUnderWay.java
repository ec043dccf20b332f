package io.regatta.collective;

import io.regatta.core.collective.Choices.Choice;
import io.regatta.core.collective.Operation;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Schedules;
import io.regatta.core.collective.Tensor;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Wait;
import io.regatta.protocol.CollectiveFrames;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The calls that one rank has under way in one generation: each has its steps with the {@link Link}s of a {@link Mesh}, and
 * ends when all of them are done. Owned by the rank's loop.
 */
final class CallsUnderWay {
  /** A rank that makes calls faster than they are carried out has an error; each keeps its schedule here. */
  private static final int MAX_CALLS = 10_000;

  private final Mesh mesh;
  private final CollectiveOptions options;
  private final Set<CollectiveRun> runs = new LinkedHashSet<>();
  private long made;

  CallsUnderWay(Mesh mesh, CollectiveOptions options) {
    this.mesh = mesh;
    this.options = options;
  }

  boolean isEmpty() {
    return runs.isEmpty();
  }

  /**
   * Begins a call; the tensor is the call's until the future completes.
   *
   * @param hostOf see {@link Placement}
   * @throws RegattaException if this rank cannot make the call
   */
  Future<Void> start(Operation operation, Tensor tensor, ReduceOp op, int root, int[] hostOf) {
    if (root < 0 || root >= hostOf.length) {
      throw new InvalidInput(mesh.where() + ": " + operation.word() + " with root " + root + ", but there are ranks 0 to "
          + (hostOf.length - 1));
    }
    if (runs.size() >= MAX_CALLS) {
      throw new Overloaded(mesh.where() + ": rank " + mesh.rank() + " has " + MAX_CALLS + " calls under way; wait for some "
          + "before the next one");
    }
    if (operation.reduces()) {
      tensor.check(op);
    }
    Choice choice = options.choices().choose(operation, (long) tensor.size() * tensor.wire().bytes(), tensor.wire(), hostOf);
    return begin(new CollectiveRun(mesh, CollectiveFrames.call(made++, operation, op, root, tensor, choice),
        Schedules.of(operation, choice.algorithm(), tensor.size(), mesh.rank(), root,
            Math.max(1, choice.chunkBytes() / tensor.wire().bytes()), hostOf), tensor, operation, op));
  }

  private Future<Void> begin(CollectiveRun run) {
    if (run.isOver()) {
      return mesh.context().succeededFuture();
    }
    runs.add(run);
    for (int i = 0; i < run.steps() && mesh.broken() == null; i++) {
      Link link = mesh.link(run.step(i).peer());
      link.add(run, i);
      if (!run.links.contains(link)) {
        run.links.add(link);
      }
    }
    pump(run);
    return run.promise.future();
  }

  private static void pump(CollectiveRun run) {
    for (int i = 0; i < run.links.size(); i++) {
      run.links.get(i).pump();
    }
  }

  /** A step of a call has been done. */
  void done(CollectiveRun run, int index) {
    run.done(index);
    if (run.isOver()) {
      runs.remove(run);
      run.promise.complete();
    } else {
      pump(run);
    }
  }

  /** Ends all with an error. */
  void fail(RegattaException why) {
    List<CollectiveRun> failed = List.copyOf(runs);
    runs.clear();
    failed.forEach(run -> run.promise.fail(why));
  }

  /** Each, and for whom it waits. */
  List<Wait> waits() {
    List<Wait> waits = new ArrayList<>();
    for (CollectiveRun run : runs) {
      List<Wait.Peer> peers = run.links.stream().filter(link -> link.waitsFor(run))
          .map(link -> new Wait.Peer("rank " + link.peer(), -2, link.stream().lastSeenMillis())).toList();
      waits.add(new Wait("rank " + mesh.rank(), CollectiveFrames.words(run.call), mesh.where(), run.sinceMillis, peers));
    }
    return waits;
  }
}
