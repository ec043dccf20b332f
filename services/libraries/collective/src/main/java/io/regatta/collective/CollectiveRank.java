package io.regatta.collective;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.loop.Loop;
import io.regatta.node.address.HostPort;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.RepeatedCall;
import io.regatta.protocol.network.Network;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.stream.TensorStreams;
import io.regatta.protocol.stream.Transport;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/**
 * One process as a rank of groups. It forms their generations over streams to the other ranks, on any network. Owned by
 * a loop; its calls may be made on any thread, and complete on the loop.
 */
public final class CollectiveRank {
  /** Number that identifies this process, so that ranks of one process recognize each other; anything but 0. */
  private static final long PROCESS = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);

  private final Loop loop;
  private final Network network;
  private final CollectiveOptions options;
  private final Waits waits;
  private final Generations generations;
  /** Null until the endpoint is known. */
  private Arrivals arrivals;
  /** Address at which others reach this rank: the host, and the port once that is known. */
  private String endpoint;
  private volatile boolean closed;

  /**
   * Creates a rank that is in no group.
   *
   * @param host at which others reach this rank, for messages
   * @param network the way to the other ranks
   * @param waits registers calls under way
   */
  public CollectiveRank(Loop loop, String host, Network network, CollectiveOptions options, Waits waits) {
    this.loop = loop;
    endpoint = host;
    this.network = network;
    this.options = options;
    this.waits = waits;
    generations = new Generations(loop, options, waits);
  }

  /** Accepts streams from now on, which others open at this endpoint. On the loop. */
  public void listens(String at) {
    endpoint = at;
    arrivals = new Arrivals(loop, at, generations.patienceMillis(), generations.workspace(), generations::of);
  }

  /** Accepts a stream of {@link StreamPaths#COLLECTIVE} that another rank has opened. On the loop. */
  public void accept(TensorStream opened) {
    if (arrivals == null) { // the port listens but is not announced yet: the stream is for its former owner
      opened.fail(new PeerLost("the rank at " + endpoint + " is about to listen, and has joined no group; join again"));
    } else {
      arrivals.accept(opened);
    }
  }

  /** Forms a generation; see {@link CollectivePort#form}. */
  public Future<Collectives> form(Membership ranks) {
    Promise<Collectives> promise = Promise.promise();
    loop.execute(() -> {
      if (closed) {
        promise.fail(new Cancelled("the port for collective calls at " + endpoint + " has been closed"));
        return;
      }
      Mesh before = generations.of(ranks.group());
      if (before != null && before.ranks().generation() >= ranks.generation()) {
        promise.fail(new StaleGeneration("group " + ranks.group() + ": generation " + ranks.generation()
            + " comes after " + before.ranks().generation() + " here; join again"));
        return;
      }
      Mesh now;
      try {
        now = formNow(ranks);
      } catch (RegattaException e) {
        promise.fail(e);
        return;
      }
      (before == null ? Future.<Void>succeededFuture() : before.close())
          .transform(done -> now.formed()).onFailure(e -> now.close()).map(done -> new Collectives(now))
          .onComplete(promise);
    });
    return promise.future();
  }

  /** Returns the ranks that this one could not reach itself; see {@link CollectivePort#unreachable}. */
  Future<List<Integer>> unreachable(Membership ranks) {
    Promise<List<Integer>> promise = Promise.promise();
    loop.execute(() -> promise.complete(generations.unreachable(ranks)));
    return promise.future();
  }

  private Mesh formNow(Membership ranks) {
    List<HostPort> peers = new ArrayList<>();
    for (int r = ranks.rank() + 1; r < ranks.worldSize(); r++) {
      peers.add(HostPort.parse(ranks.endpoints().get(r), "endpoint of rank " + r));
    }
    for (String aggregator : ranks.aggregators()) {
      peers.add(HostPort.parse(aggregator, "endpoint of an aggregator"));
    }
    TensorStreams streams = network.streams();
    long process = options.stream().transport() == Transport.AUTO ? PROCESS : 0;
    Mesh now = generations.form(ranks, process, null, streams::close);
    for (int i = 0; i < peers.size(); i++) {
      open(streams, peers.get(i), now, ranks.rank() + 1 + i);
    }
    arrivals.place();
    return now;
  }

  private void open(TensorStreams streams, HostPort at, Mesh to, int rank) {
    connected(streams, at, to, rank)
        .onSuccess(opened -> {
          to.link(rank).stream().ask(opened);
          to.tried();
        })
        .onFailure(e -> to.unreachable(rank, new PeerLost(to.where() + ": " + to.ranks().name(rank) + " cannot be reached: "
            + e.getMessage() + "; join again, with those who are left", e)));
  }

  /**
   * Connects to a peer. If all ranks start at about the same time, an attempt that a busy machine does not answer is
   * repeated. A closed port is a lost rank.
   */
  private Future<TensorStream> connected(TensorStreams streams, HostPort at, Mesh to, int rank) {
    Supplier<Future<TensorStream>> open = () -> Future.succeededFuture()
        .compose(v -> streams.open(at.host(), at.port(), StreamPaths.COLLECTIVE));
    if (options.startTimeoutMillis() == 0) {
      return open.get();
    }
    RepeatedCall<TensorStream> call = new RepeatedCall<>(loop, waits, new RepeatedCall.Words(to.ranks().name(to.rank()) + " of "
        + to.ranks().group(), "stream to " + to.ranks().name(rank), "the rank at " + at), Duration.ofMillis(options.formMillis()),
        e -> e instanceof PeerLost && !TensorStreamClient.isNobody(e.getCause()), open);
    to.formed().onFailure(e -> call.giveUp(new Cancelled(to.where() + " is not formed")));
    return call.start();
  }

  /** Returns true once nothing can be formed any more. Any thread. */
  boolean isClosed() {
    return closed;
  }

  /** Ends all generations; accepts and opens no streams any more. On the loop. */
  public Future<Void> close() {
    closed = true;
    if (arrivals != null) {
      arrivals.refuse(new Cancelled("the rank at " + endpoint + " has been closed"));
    }
    return Future.join(generations.all().stream().map(Mesh::close).toList()).transform(done -> Future.succeededFuture());
  }
}
