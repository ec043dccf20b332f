package io.regatta.collective;

import io.regatta.core.collective.TensorMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.loop.Loop;
import io.regatta.node.Node;
import io.regatta.node.address.HostPort;
import io.regatta.node.address.ServicePort;
import io.regatta.node.admin.Waits;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.collective.CollectiveGrpcService;
import io.regatta.protocol.memory.SharedMemory;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.stream.LocalStreams;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamServer;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The port at which the other ranks of a group reach this one: a free port, the same in all the group's generations.
 * Owned by an event loop of its own, which carries out the calls of the {@link Collectives} that are formed here. Its
 * methods may be called on any thread.
 *
 * <pre>{@code
 * PeerSecurity token = PeerSecurity.of(null, Token.of(text, "token.txt"));
 * CollectiveOptions options = CollectiveOptions.defaults().withStream(StreamOptions.defaults().withSecurity(token));
 * CollectivePort.listen(vertx, "10.0.0.7", options, waits)
 *     .compose(port -> rendezvous.join(Joining.fixed("means", 4, -1, "process 7", port.endpoint(), Duration.ofMinutes(1)))
 *         .compose(seat -> port.form(seat.membership())))
 *     .compose(ranks -> ranks.allReduce(Tensor.of(gradient), ReduceOp.MEAN));
 * }</pre>
 *
 * <p>The whole example, with the closing of everything, is in docs/algorithms.md, "In an application of one's own".
 */
public final class CollectivePort {
  private static final Logger LOG = LoggerFactory.getLogger(CollectivePort.class);
  private static final long CLOSE_MILLIS = 1000;

  private final Vertx vertx;
  private final String bind;
  private final String host;
  private final CollectiveOptions options;
  private final Waits waits;
  private VertxLoop loop;
  private CollectiveRank rank;
  private ServicePort port;
  private LocalStreams local;
  private final AtomicBoolean closing = new AtomicBoolean();
  private final Promise<Void> ended = Promise.promise();
  private String deployment;

  private CollectivePort(Vertx vertx, String bind, String host, CollectiveOptions options, Waits waits) {
    this.vertx = vertx;
    this.bind = bind;
    this.host = host;
    this.options = options;
    this.waits = waits;
  }

  /**
   * Listens on a free port of this host, where the other ranks must reach it. Fails with {@link InvalidInput} if the
   * host is not of loopback and the options have neither a token nor mutual TLS, nor {@code PeerSecurity.NONE.open()}.
   *
   * @param host e.g. {@code node.host()}, or the choice of {@link io.regatta.node.address.PublishedAddress#toward}
   * @param waits registers calls under way, e.g. {@code node.waits()}
   */
  public static Future<CollectivePort> listen(Vertx vertx, String host, CollectiveOptions options, Waits waits) {
    try {
      Node.refuseOpenPort(options.stream().security(), "a rank of collective calls", host);
    } catch (InvalidInput e) {
      return Future.failedFuture(e);
    }
    return new CollectivePort(vertx, host, host, options, waits).deploy();
  }

  /** Listens for a rank on a node: at the node's address, with its TLS and its token. */
  public static Future<CollectivePort> listen(Node node, CollectiveOptions options) {
    return listen(node, node.host(), options);
  }

  /**
   * Listens for a rank whose peers reach it at another address than the node's: one that routes to their meeting place.
   *
   * @param host an address of this machine, or {@code node.host()}
   */
  public static Future<CollectivePort> listen(Node node, String host, CollectiveOptions options) {
    String bind = host.equals(node.host()) || !node.config().bind().isBlank() ? node.bind() : host;
    try {
      node.refuseOpenPort(bind);
    } catch (InvalidInput e) {
      return Future.failedFuture(e);
    }
    return new CollectivePort(node.vertx(), bind, host, options.withStream(node.streams(options.stream())), node.waits()).deploy();
  }

  private Future<CollectivePort> deploy() {
    return vertx.deployVerticle(new Owner()).map(id -> {
      deployment = id;
      return this;
    });
  }

  /** The verticle that gives the port its loop. */
  private final class Owner extends VerticleBase {
    @Override
    public Future<?> start() {
      return listen(super.context);
    }

    @Override
    public Future<?> stop() {
      return end();
    }
  }

  /**
   * Returns zeroed memory for tensors that are exchanged repeatedly. Other processes of this machine read it in place,
   * if the options allow that and the system has enough; otherwise the memory is this process's alone. Blocks, so not
   * on an event loop.
   *
   * @param bytes at least 1
   */
  public TensorMemory memory(int bytes) {
    if (options.stream().transport().isSharedMemoryAllowed()) {
      try {
        return SharedMemory.allocate(bytes);
      } catch (IOException e) {
        LOG.debug("a tensor of {} bytes is copied for other processes of this machine: {}", bytes, e.toString());
      }
    }
    return TensorMemory.direct(bytes);
  }

  private Future<?> listen(Context owner) {
    loop = VertxLoop.of(owner);
    rank = new CollectiveRank(loop, host, new VertxNetwork(vertx, options.stream()), options, waits);
    StreamOptions stream = options.stream();
    Map<String, Handler<TensorStream>> paths = Map.of(StreamPaths.COLLECTIVE, rank::accept);
    GrpcCalls calls = new GrpcCalls(vertx);
    calls.service(CollectiveGrpcService.SERVICE_DESCRIPTOR, () -> port != null && !rank.isClosed());
    return ServicePort.listenForStreams(vertx, at -> TensorStreamServer.create(vertx, at).requestHandler(
        TensorStreamServer.handler(vertx, paths, calls, stream)),
        bind, 0, "collective calls", "port", stream, host).onSuccess(listening -> {
          port = listening;
          rank.listens(endpoint());
          local = LocalStreams.serve(loop, host, port.port(), paths, stream);
        });
  }

  /** Returns {@code host:port}, to be announced to the other ranks. */
  public String endpoint() {
    return new HostPort(host, port.port()).toString();
  }

  /** Returns the loop on which calls are carried out. */
  public Loop loop() {
    return loop;
  }

  /**
   * Forms a generation of a group with the other ranks, which do the same; the group's earlier generation is closed.
   *
   * @return completes when every other rank has said that it forms this generation; fails with {@code PeerLost} naming
   *     those that have not within the options' time, with {@code StaleGeneration} if a peer has a later generation
   */
  public Future<Collectives> form(Membership ranks) {
    return rank.form(ranks);
  }

  /**
   * Returns the ranks to which this one's own streams broke, or could not be made, in the generation that it formed
   * last, or tried to. Reports of other ranks do not count.
   */
  public Future<List<Integer>> unreachable(Membership ranks) {
    return rank.unreachable(ranks);
  }

  /** Returns true if nothing can be formed here any more: the port was closed, or its verticle is being undeployed. */
  public boolean isClosed() {
    return rank.isClosed();
  }

  /** Ends all generations that are formed here, and stops listening. */
  public Future<Void> close() {
    if (closing.compareAndSet(false, true)) {
      vertx.undeploy(deployment).onComplete(ended);
    }
    return ended.future();
  }

  private Future<Void> end() {
    return rank.close().transform(done -> {
      local.close();
      return port.shutdown(CLOSE_MILLIS);
    });
  }
}
