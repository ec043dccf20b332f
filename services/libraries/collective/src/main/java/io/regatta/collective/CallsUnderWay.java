package io.regatta.collective;

import io.regatta.core.collective.Operation;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.WireType;
import io.regatta.core.collective.schedule.Algorithm;
import io.regatta.core.collective.schedule.Choices.Choice;
import io.regatta.core.collective.schedule.Schedule;
import io.regatta.core.collective.schedule.Schedules;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Wait;
import io.regatta.protocol.rank.CollectiveFrames;
import io.regatta.protocol.tensor.CollectiveCall;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The calls that one rank has under way in one generation. Each has its steps with the {@link Link}s of a {@link Mesh},
 * and ends when all of them are done. Owned by the rank's loop.
 */
final class CallsUnderWay {
  /**
   * Limit of calls under way, whose schedules are kept here: a rank that makes calls faster than they are carried out
   * has an error.
   */
  private static final int MAX_CALLS = 10_000;
  /**
   * Longest vectors for which the loop polls. Longer ones hide the time of waking a loop behind their copies, and a
   * polling loop takes a core from others.
   */
  private static final long POLLED_BYTES = 4 << 20;

  private final Mesh mesh;
  private final CollectiveOptions options;
  private final Set<CollectiveRun> runs = new LinkedHashSet<>();
  /** Memory of an aggregator; null at a rank. */
  private final VectorMemory memory;
  private final BusyPoll poll;
  /** Bytes of the vectors of all calls, as they travel. */
  private long bytes;
  /** Number of the next call. */
  private long made;

  /** @param memory in which an aggregator sums; null for a rank */
  CallsUnderWay(Mesh mesh, CollectiveOptions options, VectorMemory memory) {
    this.mesh = mesh;
    this.options = options;
    this.memory = memory;
    Membership ranks = mesh.ranks();
    boolean hasCore = memory == null && ranks.onHost() <= Runtime.getRuntime().availableProcessors();
    poll = new BusyPoll(mesh.loop() instanceof VertxLoop loop ? loop.netty() : null, hasCore ? options.busyPollNanos() : 0,
        () -> !runs.isEmpty() && bytes <= POLLED_BYTES && mesh.broken() == null, mesh.loop().clock());
  }

  boolean isEmpty() {
    return runs.isEmpty();
  }

  /**
   * Begins a call; the tensor is the call's until the future completes.
   *
   * @param placement of the ranks
   * @throws RegattaException if this rank cannot make the call
   */
  Future<Void> start(Operation operation, Tensor tensor, ReduceOp op, int root, Placement placement) {
    int ranks = mesh.ranks().worldSize();
    if (root < 0 || root >= ranks) {
      throw new InvalidInput(mesh.where() + ": " + operation.word() + " with root " + root + ", but there are ranks 0 to "
          + (ranks - 1));
    }
    if (runs.size() >= MAX_CALLS) {
      throw new Overloaded(mesh.where() + ": " + mesh.ranks().name(mesh.rank()) + " has " + MAX_CALLS + " calls under way; wait for some "
          + "before the next one");
    }
    if (operation.reduces()) {
      tensor.check(op);
    }
    Choice choice = options.choices().choose(operation, (long) tensor.size() * tensor.wire().bytes(), tensor.wire(),
        placement.reach(), placement.near());
    boolean aggregated = operation == Operation.ALL_REDUCE && ranks > 1 && !mesh.ranks().aggregators().isEmpty();
    if (aggregated) {
      choice = new Choice(Algorithm.AGGREGATED, choice.chunkBytes());
    }
    int most = Math.max(1, choice.chunkBytes() / tensor.wire().bytes());
    return begin(new CollectiveRun(mesh, CollectiveFrames.call(made++, operation, op, root, tensor, choice),
        aggregated ? aggregated(tensor.size(), most)
            : Schedules.of(operation, choice.algorithm(), tensor.size(), mesh.rank(), root, most, placement.near()),
        tensor, operation, op));
  }

  private Schedule aggregated(int size, int most) {
    Membership ranks = mesh.ranks();
    return Schedules.aggregated(size, ranks.worldSize(), ranks.aggregators().size(), mesh.rank(), most);
  }

  /**
   * Takes part, as an aggregator, in a call that rank 0 has made. The call's first elements in every sum identify it.
   * Earlier calls, in which this aggregator had no elements, are unknown to it.
   *
   * @throws RegattaException if the call is not by aggregators, or is an earlier one, or too large
   */
  void follow(CollectiveCall call) {
    WireType wire = WireType.values()[Math.max(0, call.getDtypeValue()) % WireType.values().length];
    if (call.getAlgorithm() != CollectiveCall.Algorithm.AGGREGATED || call.getNumber() < made || call.getLength() < 0
        || call.getLength() * (wire == WireType.INT64 ? Long.BYTES : Float.BYTES) > Integer.MAX_VALUE || call.getChunkBytes() < 1) {
      throw new InvalidInput(mesh.where() + ": " + CollectiveFrames.words(call) + " came where a call by aggregators from "
          + made + " on was to come; all ranks must run the same version");
    }
    ReduceOp op = ReduceOp.values()[Math.max(0, call.getReductionValue()) % ReduceOp.values().length];
    VectorMemory.Vector vector = memory.take((int) call.getLength(), wire, mesh.where());
    made = call.getNumber() + 1;
    begin(new CollectiveRun(mesh, call, aggregated(vector.tensor().size(), Math.max(1, call.getChunkBytes() / wire.bytes())),
        vector.tensor(), Operation.ALL_REDUCE, op)).onComplete(done -> {
          memory.giveBack(vector);
          mesh.link(0).pump(); // which may have waited for this memory
        });
  }

  /** Returns true if an aggregator has memory for one more call. */
  boolean hasRoom() {
    return memory.hasRoom();
  }

  private Future<Void> begin(CollectiveRun run) {
    if (run.isOver()) {
      return Future.succeededFuture();
    }
    runs.add(run);
    bytes += run.bytes();
    for (int i = 0; i < run.steps() && mesh.broken() == null; i++) {
      Link link = mesh.link(run.step(i).peer());
      link.add(run, i);
      if (!run.links.contains(link)) {
        run.links.add(link);
      }
    }
    pump(run);
    poll.progress();
    return run.promise.future();
  }

  private static void pump(CollectiveRun run) {
    for (int i = 0; i < run.links.size(); i++) {
      run.links.get(i).pump();
    }
  }

  /** Notes that a step of a call has been done. */
  void done(CollectiveRun run, int index) {
    run.done(index);
    if (run.isOver()) {
      runs.remove(run);
      bytes -= run.bytes();
      run.promise.complete();
    } else {
      pump(run);
    }
    poll.progress();
  }

  /** Notes that elements of a step begin to arrive. */
  void coming() {
    poll.progress();
  }

  /** Fails all calls. */
  void fail(RegattaException why) {
    List<CollectiveRun> failed = List.copyOf(runs);
    runs.clear();
    bytes = 0;
    failed.forEach(run -> run.promise.fail(why));
  }

  /** Returns each call with the peers that it waits for. */
  List<Wait> waits() {
    List<Wait> waits = new ArrayList<>();
    for (CollectiveRun run : runs) {
      List<Wait.Peer> peers = run.links.stream().filter(link -> link.waitsFor(run))
          .map(link -> new Wait.Peer(mesh.ranks().name(link.peer()), -2, link.stream().lastSeenMillis())).toList();
      waits.add(new Wait(mesh.ranks().name(mesh.rank()), CollectiveFrames.words(run.call), mesh.where(), run.sinceMillis, peers));
    }
    return waits;
  }
}
