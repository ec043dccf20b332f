package io.regatta.collective;

import io.regatta.core.collective.Tensor;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.node.address.HostPort;
import io.regatta.node.address.ServicePort;
import io.regatta.node.admin.Waits;
import io.regatta.protocol.CollectiveFrames;
import io.regatta.protocol.CollectiveReceiver;
import io.regatta.protocol.StreamPaths;
import io.regatta.protocol.stream.LocalStreams;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.stream.TensorStreamServer;
import io.regatta.protocol.tensor.Kind;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Where the other ranks of a group reach this one: a free port that stays the same over the group's generations. Owned by
 * an event loop of its own, which carries out the calls of the {@link Collectives} that are formed here; its methods may
 * be called on any thread.
 *
 * <pre>{@code
 * CollectivePort.listen(vertx, "10.0.0.7", CollectiveOptions.defaults(), waits)
 *     .compose(port -> join(port.endpoint()).compose(port::form))
 *     .compose(ranks -> ranks.allReduce(Tensor.of(gradient), ReduceOp.MEAN));
 * }</pre>
 */
public final class CollectivePort {
  private static final long CLOSE_MILLIS = 1000;
  /** Streams of generations that this rank has not formed yet. */
  private static final int MAX_EARLY = 4096;

  private final Vertx vertx;
  private final String host;
  private final CollectiveOptions options;
  private final Waits waits;
  /** By group. */
  private final Map<String, Formed> formed = new HashMap<>();
  private final Set<Incoming> early = new LinkedHashSet<>();
  private final Tensor.Workspace workspace = new Tensor.Workspace();
  private Context context;
  private ServicePort port;
  private LocalStreams local;
  private final AtomicBoolean closing = new AtomicBoolean();
  private final Promise<Void> ended = Promise.promise();
  private String deployment;
  private boolean closed;

  /** What is formed now of a group. */
  private record Formed(Membership ranks, Collectives collectives) {}

  private CollectivePort(Vertx vertx, String host, CollectiveOptions options, Waits waits) {
    this.vertx = vertx;
    this.host = host;
    this.options = options;
    this.waits = waits;
  }

  /**
   * Listens on a free port of this host, where the other ranks must reach it.
   *
   * @param waits where calls under way are shown, e.g. {@code node.waits()}
   */
  public static Future<CollectivePort> listen(Vertx vertx, String host, CollectiveOptions options, Waits waits) {
    CollectivePort port = new CollectivePort(vertx, host, options, waits);
    return vertx.deployVerticle(port.new Owner()).map(id -> {
      port.deployment = id;
      return port;
    });
  }

  /** Gives the port its loop. */
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

  private Future<?> listen(Context loop) {
    context = loop;
    StreamOptions stream = options.stream();
    Map<String, Handler<TensorStream>> paths = Map.of(StreamPaths.COLLECTIVE, Incoming::new);
    return ServicePort.listen(vertx, () -> TensorStreamServer.create(vertx, stream).requestHandler(
        TensorStreamServer.handler(vertx, paths, r -> r.response().setStatusCode(404).end(), stream)),
        host, 0, "collective calls", "port").onSuccess(listening -> {
          port = listening;
          local = LocalStreams.serve(context, host, port.port(), paths, stream);
        });
  }

  /** {@code host:port}, to be told to the other ranks. */
  public String endpoint() {
    return new HostPort(host, port.port()).toString();
  }

  /** The event loop on which calls are carried out. */
  public Context context() {
    return context;
  }

  /**
   * Forms a generation of a group with the other ranks, which do the same; what was formed of the group before is closed.
   *
   * @return completes when there is a stream to each rank; fails with {@code PeerLost} naming those who were not there within
   *     {@code stream.connect_timeout_ms} and a second, with {@code StaleGeneration} if a peer has a later generation
   */
  public Future<Collectives> form(Membership ranks) {
    Promise<Collectives> promise = Promise.promise();
    context.runOnContext(v -> {
      if (closed) {
        promise.fail(new Cancelled("the port for collective calls at " + endpoint() + " has been closed"));
        return;
      }
      Formed before = formed.get(ranks.group());
      if (before != null && before.ranks.generation() >= ranks.generation()) {
        promise.fail(new StaleGeneration("group " + ranks.group() + ": generation " + ranks.generation()
            + " comes after " + before.ranks.generation() + " here; join again"));
        return;
      }
      Collectives now = formNow(ranks);
      (before == null ? Future.succeededFuture() : before.collectives.close())
          .transform(done -> now.formed()).map(now).onComplete(promise);
    });
    return promise.future();
  }

  private Collectives formNow(Membership ranks) {
    TensorStreamClient client = new TensorStreamClient(vertx, options.stream());
    Waits.Source[] shown = new Waits.Source[1];
    Collectives now = new Collectives(context, ranks, options, workspace, () -> {
      shown[0].close();
      formed.computeIfPresent(ranks.group(), (group, of) -> of.ranks == ranks ? null : of);
      return client.close();
    });
    shown[0] = waits.source(context, now::waits);
    formed.put(ranks.group(), new Formed(ranks, now));
    for (int r = ranks.rank() + 1; r < ranks.worldSize(); r++) {
      open(client, ranks, now, r);
    }
    List.copyOf(early).forEach(Incoming::place);
    long timer = vertx.setTimer(options.stream().connectTimeoutMillis() + CLOSE_MILLIS, id -> {
      if (!now.missing().isEmpty()) {
        now.fail(new PeerLost(now.where() + ": ranks " + now.missing() + " have opened no stream to rank " + ranks.rank()
            + " within " + (options.stream().connectTimeoutMillis() + CLOSE_MILLIS) + " ms; join again"));
      }
    });
    now.formed().onComplete(done -> vertx.cancelTimer(timer));
    return now;
  }

  private void open(TensorStreamClient client, Membership ranks, Collectives to, int rank) {
    HostPort at = HostPort.parse(ranks.endpoints().get(rank), "endpoint of rank " + rank);
    client.open(at.host(), at.port(), StreamPaths.COLLECTIVE)
        .onSuccess(stream -> {
          stream.send(CollectiveFrames.open(ranks.group(), ranks.generation(), ranks.rank(), ranks.worldSize()))
              .onFailure(e -> { }); // told to the stream's exception handler as well
          to.link(rank).attach(stream);
          to.formedIfAllAreThere();
        })
        .onFailure(e -> to.fail(new PeerLost(to.where() + ": rank " + rank + " cannot be reached: " + e.getMessage()
            + "; join again, with those who are left", e)));
  }

  /** A stream that another rank has opened; which one, its first message says. */
  private final class Incoming implements CollectiveReceiver.Listener {
    private final TensorStream stream;
    private TensorMessage opened;
    private Link link;

    Incoming(TensorStream stream) {
      this.stream = stream;
      if (early.size() >= MAX_EARLY) {
        stream.fail(new Overloaded("rank at " + endpoint() + ": " + MAX_EARLY + " streams of others wait for generations "
            + "that are not formed here; join again later"));
        return;
      }
      early.add(this);
      stream.exceptionHandler(e -> early.remove(this));
      stream.endHandler(v -> {
        early.remove(this);
        stream.end();
      });
      stream.receiver(new CollectiveReceiver(this, workspace));
    }

    @Override
    public void told(TensorMessage message) {
      if (link != null || message.getKind() != Kind.COLLECTIVE_OPEN) {
        taker().told(message);
        return;
      }
      opened = message;
      stream.pause();
      place();
    }

    /** Finds the generation that it is for, if that is there. */
    void place() {
      if (opened == null) {
        return;
      }
      Formed of = formed.get(opened.getJob());
      long generation = opened.getGeneration();
      if (of == null || of.ranks.generation() < generation) {
        return; // not formed here yet
      }
      early.remove(this);
      if (of.ranks.generation() > generation) {
        stream.fail(new StaleGeneration(of.collectives.where() + " is formed, but rank " + opened.getRank()
            + " has generation " + generation + "; join again"));
        return;
      }
      int from = opened.getRank();
      if (from < 0 || from >= of.ranks.rank() || opened.getRowCount() != of.ranks.worldSize()) {
        stream.fail(new InvalidInput(of.collectives.where() + ": rank " + from + " of " + opened.getRowCount()
            + " opens no stream to rank " + of.ranks.rank() + " of " + of.ranks.worldSize()));
        return;
      }
      if (of.collectives.link(from).isOpen()) {
        stream.fail(new Conflict(of.collectives.where() + ": rank " + from + " has opened its stream already"));
        return;
      }
      link = of.collectives.link(from);
      link.attach(stream);
      of.collectives.formedIfAllAreThere();
    }

    private Link taker() {
      if (link == null) {
        throw new InvalidInput("a stream between ranks begins with COLLECTIVE_OPEN");
      }
      return link;
    }

    @Override
    public CollectiveReceiver.Target begin(TensorMessage header) {
      return taker().begin(header);
    }

    @Override
    public void taken() {
      taker().taken();
    }
  }

  /** Ends all that is formed here, and listens no more. */
  public Future<Void> close() {
    if (closing.compareAndSet(false, true)) {
      vertx.undeploy(deployment).onComplete(ended);
    }
    return ended.future();
  }

  private Future<Void> end() {
    closed = true;
    RegattaException why = new Cancelled("the rank at " + endpoint() + " has been closed");
    List.copyOf(early).forEach(incoming -> incoming.stream.fail(why));
    early.clear();
    List<Future<Void>> ends = new ArrayList<>();
    List.copyOf(formed.values()).forEach(of -> ends.add(of.collectives.close()));
    return Future.join(ends).transform(done -> {
      local.close();
      return port.shutdown(CLOSE_MILLIS);
    });
  }
}
