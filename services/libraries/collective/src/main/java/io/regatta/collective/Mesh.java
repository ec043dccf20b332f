package io.regatta.collective;

import io.regatta.core.collective.Operation;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Wait;
import io.regatta.core.loop.Loop;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.rank.CollectiveFrames;
import io.regatta.protocol.tensor.CollectiveCall;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * One rank's links to all others of one generation, from their opening to their end; {@link Collectives} is its public
 * side. Owned by the loop of its {@link CollectivePort}.
 */
final class Mesh {
  /** How long a failed generation waits until its streams have released their messages, before it cuts them off. */
  private static final long LINGER_MILLIS = 1000;

  private final Loop loop;
  private final Membership ranks;
  private final CollectiveOptions options;
  private final long process;
  private final Tensor.Workspace workspace;
  private final Supplier<Future<Void>> closing;
  /** Links by rank, and after the ranks those to aggregators; null for this one, and between aggregators. */
  private final Link[] links;
  /** Process of each rank, once its stream is open. */
  private final long[] processes;
  private final CallsUnderWay calls;
  private final Promise<Void> formed;
  private final OutstandingSends lent;
  private final long sinceMillis;
  /** Once formed. */
  private Placement placement;
  /** Ranks to which this one's own streams broke, or could not be made, before another cause ended this generation. */
  private final BitSet unreachable = new BitSet();
  /** The first failure to make a stream. */
  private PeerLost unmade;
  private RegattaException broken;
  private Future<Void> closed;

  /**
   * @param process of this rank, see {@link CollectiveFrames#open}
   * @param memory in which an aggregator sums; null for a rank
   * @param closing called once, on the loop, when this generation is over and its streams have ended
   */
  Mesh(Loop loop, Membership ranks, CollectiveOptions options, long process, Tensor.Workspace workspace,
      VectorMemory memory, Supplier<Future<Void>> closing) {
    this.loop = loop;
    sinceMillis = loop.clock().epochMillis();
    this.ranks = ranks;
    this.options = options;
    this.process = process;
    this.workspace = workspace;
    this.closing = closing;
    formed = Promise.promise();
    calls = new CallsUnderWay(this, options, memory);
    lent = new OutstandingSends(loop, () -> links().forEach(link -> link.stream().severIfLent()));
    links = new Link[ranks.worldSize() + ranks.aggregators().size()];
    processes = new long[links.length];
    processes[ranks.rank()] = process;
    for (int r = 0; r < links.length; r++) {
      boolean isPeer = r != ranks.rank() && (r < ranks.worldSize() || !ranks.isAggregator());
      links[r] = isPeer ? new Link(this, r, ranks.rank() < r) : null;
    }
    formedIfAllAreThere();
  }

  Membership ranks() {
    return ranks;
  }

  int rank() {
    return ranks.rank();
  }

  Loop loop() {
    return loop;
  }

  long process() {
    return process;
  }

  Tensor.Workspace workspace() {
    return workspace;
  }

  OutstandingSends lent() {
    return lent;
  }

  /** Returns the generation's name for messages. */
  String where() {
    return "group " + ranks.group() + ", generation " + ranks.generation();
  }

  /** Returns true if an error that a peer has sent already says what happened where. */
  boolean names(RegattaException e) {
    return String.valueOf(e.getMessage()).startsWith(where());
  }

  Link link(int peer) {
    return links[peer];
  }

  private Stream<Link> links() {
    return Stream.of(links).filter(Objects::nonNull);
  }

  /** Returns the reason for which every call fails, or null. */
  RegattaException broken() {
    return broken;
  }

  /** Completes when every rank has said that it forms this generation. */
  Future<Void> formed() {
    return formed.future();
  }

  /** Notes that elements of a step of a call begin to arrive. */
  void coming() {
    calls.coming();
  }

  /** Notes that a rank has said that it forms this generation. */
  void opened(int peer, long itsProcess) {
    processes[peer] = itsProcess;
    formedIfAllAreThere();
  }

  private void formedIfAllAreThere() {
    if (broken == null && missing().isEmpty()) {
      placement = Placement.of(ranks.endpoints(), Arrays.copyOf(processes, ranks.worldSize()));
      formed.tryComplete();
    }
  }

  /** Notes that this rank has seen itself that its stream to a peer broke; reports and ends by others do not count. */
  void unreachable(int peer) {
    if (broken == null) {
      unreachable.set(peer);
    }
  }

  /**
   * Notes that this rank's stream to a peer cannot be made. The others are still tried, so that the number of
   * unreachable ones is known.
   */
  void unreachable(int peer, PeerLost why) {
    unreachable(peer);
    unmade = unmade == null ? why : unmade;
    tried();
  }

  /** Notes that a stream has been made, or cannot be. */
  void tried() {
    if (unmade != null && links().allMatch(link -> link.peer() < rank() || link.stream().isThere() || unreachable.get(link.peer()))) {
      fail(unmade);
    }
  }

  /** See {@link CollectivePort#unreachable}. */
  List<Integer> unreachable() {
    return unreachable.stream().boxed().toList();
  }

  /** Returns the ranks and aggregators that have not said yet that they form this generation. */
  List<Integer> missing() {
    return links().filter(link -> !link.stream().isOpen()).map(Link::peer).toList();
  }

  /** Returns their names, for messages. */
  String missingNames() {
    List<Integer> those = missing();
    return those.stream().allMatch(r -> r < ranks.worldSize()) ? "ranks " + those
        : String.join(" and ", those.stream().map(ranks::name).toList());
  }

  /** Begins a call, see {@link CallsUnderWay#start}; the future reports any fault of the call. */
  Future<Void> start(Operation operation, Tensor tensor, ReduceOp op, int root) {
    if (broken != null) {
      return Future.failedFuture(broken);
    }
    try {
      return calls.start(operation, tensor, op, root, placement);
    } catch (RuntimeException | Error e) { // this rank does not make the call: the others must not wait for it
      fail(ErrorMapping.regatta(e));
      return Future.failedFuture(broken);
    }
  }

  /** Notes that a step of a call has been done. */
  void done(CollectiveRun run, int index) {
    if (broken == null) {
      calls.done(run, index);
    }
  }

  /** Returns true if this follows calls that others have made, rather than make its own: an aggregator does. */
  boolean follows() {
    return ranks.isAggregator();
  }

  /** See {@link CallsUnderWay#hasRoom}. */
  boolean hasRoom() {
    return calls.hasRoom();
  }

  /** Follows a call that rank 0 has made; see {@link CallsUnderWay#follow}. */
  void follow(CollectiveCall call) {
    calls.follow(call);
  }

  /**
   * Notes that a peer has ended its stream in order. When all have ended theirs, streams here that still wait are
   * useless.
   */
  void peerEnded() {
    if (follows() && links().allMatch(link -> link.stream().peerClosed())) {
      close();
    }
  }

  /**
   * Ends all calls, here and at the other ranks. The callers are notified when no stream uses their memory any more.
   */
  void fail(RegattaException why) {
    if (broken != null) {
      return;
    }
    broken = why;
    RegattaException told = why instanceof Cancelled ? new PeerLost(why.getMessage()) : why;
    links().forEach(link -> link.abort(told));
    lent.returned(LINGER_MILLIS).onComplete(done -> {
      calls.fail(why);
      formed.tryFail(why);
    });
    if (follows()) { // nobody here has an interest in how it ends
      close();
    }
  }

  /** Returns the calls under way with the peers that each waits for: the material of {@code /why}. */
  List<Wait> waits() {
    List<Wait> waits = new ArrayList<>(calls.waits());
    List<Integer> missing = broken == null ? missing() : List.of();
    if (!missing.isEmpty()) {
      waits.add(new Wait(ranks.name(rank()), "streams of the group", where(), sinceMillis,
          missing.stream().map(r -> Wait.Peer.named(ranks.name(r))).toList()));
    }
    return waits;
  }

  /** See {@link Collectives#close}. */
  Future<Void> close() {
    if (closed == null) {
      closed = end();
    }
    return closed;
  }

  private Future<Void> end() {
    if (broken == null && calls.isEmpty() && missing().isEmpty()) {
      broken = new Cancelled(where() + ": " + ranks.name(rank()) + " has been closed");
      return lent.returned(options.failureTimeoutMillis())
          .compose(v -> Future.join(links().map(link -> link.stream().close()).toList())).transform(v -> closing.get());
    }
    fail(new Cancelled(where() + ": " + ranks.name(rank()) + " has been closed with calls under way"));
    return lent.returned(LINGER_MILLIS).compose(v -> Future.join(links().map(link -> link.stream().aborted()).toList()))
        .transform(v -> closing.get());
  }
}
