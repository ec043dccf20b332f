package io.regatta.trainer;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Timer;
import io.regatta.data.Layout;
import io.regatta.data.Parcel;
import io.regatta.node.address.ServicePort;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.gather.ExampleEndpoint;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.stream.TensorStreamServer;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.Examples;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.trainer.TrainerGrpcService;
import io.regatta.protocol.vertx.VertxLoop;
import io.regatta.training.dataset.ExampleBytes;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * One exchange of examples among the trainers of a job. Each opens a port and announces it to the others. Between every
 * two of them one tensor stream carries their batches both ways; a batch is encoded when the stream can take it. The
 * received batches count when every sender has confirmed their number and the end. A lost peer ends the exchange for
 * this trainer, whose broken streams end it for the others. Owned by {@link TrainerVerticle}, on its event loop; used
 * once.
 */
final class ExampleTransfer {

  private static final long CLOSE_MILLIS = 1000;

  private final Vertx vertx;
  private final Context context;
  private final String bind;
  private final String host;
  private final StreamOptions options;
  private final String name;
  private final int rank;
  private final String key;
  private final Layout layout;
  private final List<Deque<Parcel>> outgoing = new ArrayList<>();
  private final List<List<Parcel>> incoming = new ArrayList<>();
  private final Map<Integer, Peer> peers = new HashMap<>();
  private final List<TensorStream> streams = new ArrayList<>();
  private final Promise<List<List<Parcel>>> result = Promise.promise();
  private TensorStreamClient client;
  private Future<ServicePort> port;
  private Timer deadline = Timer.NONE;
  /** Streams that have ended normally. */
  private int finished;
  private boolean over;

  /** The stream to another trainer. */
  private static final class Peer {
    private final TensorStream stream;
    private final int rank;
    private long sent;
    private long received;
    private boolean sentAll;
    private boolean receivedAll;
    private boolean ended;

    private Peer(TensorStream stream, int rank) {
      this.stream = stream;
      this.rank = rank;
    }
  }

  /**
   * Creates an exchange.
   *
   * @param bind address on which this trainer listens
   * @param host under which the others reach it
   * @param name of this trainer, for messages
   * @param key of the exchange, the same for all
   * @param outgoing batches by rank; each is released when it has been sent
   */
  ExampleTransfer(Vertx vertx, String bind, String host, StreamOptions options, String name, int rank, String key, Layout layout,
      List<List<Parcel>> outgoing) {
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
    this.bind = bind;
    this.host = host;
    this.options = options;
    this.name = name;
    this.rank = rank;
    this.key = key;
    this.layout = layout;
    for (List<Parcel> parcels : outgoing) {
      this.outgoing.add(new ArrayDeque<>(parcels));
      incoming.add(new ArrayList<>());
    }
    incoming.set(rank, List.copyOf(outgoing.get(rank)));
  }

  /**
   * Runs the exchange.
   *
   * @param gather sends this trainer's endpoint to all, and returns those of all in rank order
   * @return the received batches, by rank
   */
  Future<List<List<Parcel>>> run(Function<ExampleEndpoint, Future<List<ExampleEndpoint>>> gather) {
    client = new TensorStreamClient(vertx, options);
    GrpcCalls calls = new GrpcCalls(vertx);
    calls.service(TrainerGrpcService.SERVICE_DESCRIPTOR, () -> !over);
    port = ServicePort.listenForStreams(vertx, at -> TensorStreamServer.create(vertx, at).requestHandler(TensorStreamServer.handler(vertx,
            Map.of(StreamPaths.TRAINER, this::accept), calls, options)),
            bind, 0, name, "port", options, host);
    port.compose(listening -> over ? Future.<List<ExampleEndpoint>>failedFuture(name + " has ended the exchange")
            : gather.apply(ExampleEndpoint.newBuilder().setRank(rank).setHost(host).setPort(listening.port()).build()))
        .onSuccess(this::connect)
        .onFailure(this::fail);
    return result.future().eventually(this::close);
  }

  /** Ends the exchange; the streams to the others break. */
  void abort(RegattaException why) {
    fail(why);
  }

  private void connect(List<ExampleEndpoint> addresses) {
    if (over) {
      return;
    }
    if (addresses.size() < outgoing.size()) {
      fail(new PeerLost(name + ": only " + addresses.size() + " of " + outgoing.size() + " trainers are left to exchange examples; "
          + "start the job again"));
      return;
    }
    deadline = VertxLoop.of(context).after(options.connectTimeoutMillis() + CLOSE_MILLIS, this::checkConnected);
    for (ExampleEndpoint address : addresses) {
      int to = address.getRank();
      if (to > rank && !over) {
        client.open(address.getHost(), address.getPort(), StreamPaths.TRAINER)
            .onSuccess(stream -> begin(new Peer(stream, to))).onFailure(e -> fail(lost(to, e)));
      }
    }
    endIfDone();
  }

  /** Returns the trainers to which there is no stream yet. */
  List<Integer> missing() {
    return IntStream.range(0, outgoing.size()).filter(r -> r != rank && !peers.containsKey(r)).boxed().toList();
  }

  private void checkConnected() {
    List<Integer> missing = missing();
    if (!missing.isEmpty()) {
      fail(new PeerLost(name + ": trainers " + missing + " have announced an exchange of examples, but opened no stream; start "
          + "the job again"));
    }
  }

  /** Accepts the stream of a trainer of lower rank; its first message names the rank. */
  private void accept(TensorStream stream) {
    streams.add(stream);
    Peer[] peer = new Peer[1];
    stream.exceptionHandler(e -> fail(lost(peer[0], e)));
    stream.endHandler(v -> ended(peer[0], false));
    stream.handler(frame -> {
      int from = frame.header().getExamples().getRank();
      if (peer[0] == null) {
        if (from < 0 || from >= rank || peers.containsKey(from)) {
          stream.fail(new InvalidInput(name + ": trainer " + from + " may not open a stream to it"));
          return;
        }
        peer[0] = new Peer(stream, from);
        begun(peer[0]);
      }
      take(peer[0], frame);
    });
  }

  /** Begins a stream that this trainer has opened. */
  private void begin(Peer peer) {
    if (over) {
      peer.stream.fail(new PeerLost(name + " has ended the exchange"));
      return;
    }
    streams.add(peer.stream);
    peer.stream.exceptionHandler(e -> fail(lost(peer, e)));
    peer.stream.endHandler(v -> ended(peer, true));
    begun(peer);
    peer.stream.handler(frame -> take(peer, frame));
  }

  private void begun(Peer peer) {
    peers.put(peer.rank, peer);
    peer.stream.drainHandler(v -> send(peer));
    send(peer);
  }

  /** Sends one batch per call while there is room in the stream. */
  private void send(Peer peer) {
    if (over || peer.sentAll || peer.stream.writeQueueFull()) {
      return;
    }
    Parcel parcel = outgoing.get(peer.rank).poll();
    peer.sentAll = parcel == null;
    try {
      peer.stream.send(frame(peer.sent++, parcel)).onFailure(e -> fail(lost(peer, e)));
    } catch (RuntimeException | Error e) { // no memory for a frame
      fail(e);
      return;
    }
    if (peer.sentAll) {
      endIfDone();
    } else {
      VertxLoop.of(context).defer(() -> send(peer));
    }
  }

  private TensorFrame frame(long number, Parcel parcel) {
    Examples.Builder body = Examples.newBuilder().setExchange(key).setRank(rank).setNumber(number);
    if (parcel == null) {
      return TensorFrame.of(TensorMessage.newBuilder().setExamples(body.setLast(true)).build());
    }
    body.setFromReplica(parcel.from()).setToReplica(parcel.to()).setExamples(parcel.examples().rows());
    return new TensorFrame(TensorMessage.newBuilder().setExamples(body).build(),
        ByteBuffer.wrap(ExampleBytes.of(parcel.examples())));
  }

  private void take(Peer peer, TensorFrame frame) {
    if (over) {
      return;
    }
    Examples h = frame.header().getExamples();
    try {
      if (!frame.header().hasExamples() || !h.getExchange().equals(key) || h.getNumber() != peer.received || peer.receivedAll) {
        throw new InvalidInput(name + ": expected message " + peer.received + " of " + key + " from trainer " + peer.rank
            + ", but received " + frame.header().getBodyCase() + " " + h.getNumber() + " of " + h.getExchange() + "; all trainers must "
            + "do the same");
      }
      peer.received++;
      peer.receivedAll = h.getLast();
      if (!h.getLast()) {
        incoming.get(peer.rank).add(new Parcel(h.getFromReplica(), h.getToReplica(),
            ExampleBytes.read(layout, h.getExamples(), frame.read())));
      }
    } catch (RuntimeException | Error e) { // a refusal, or no memory for the examples: the peers must know
      fail(e);
      return;
    }
    endIfDone();
  }

  /** Half-closes the streams of this trainer that are complete; the other side ends those that it has opened. */
  private void endIfDone() {
    for (Peer peer : peers.values()) {
      if (!over && peer.sentAll && peer.receivedAll && peer.rank > rank && !peer.ended) {
        peer.ended = true;
        peer.stream.end().onFailure(e -> fail(lost(peer, e)));
      }
    }
  }

  /** Ends a stream after the other side; a stream that ends before both sides are complete is an error. */
  private void ended(Peer peer, boolean opened) {
    if (over) {
      return;
    }
    if (peer == null || !peer.sentAll || !peer.receivedAll) {
      fail(new PeerLost(name + ": a stream of examples " + (peer == null ? "" : "with trainer " + peer.rank)
          + " ended before its last message; start the job again"));
      return;
    }
    (opened ? Future.<Void>succeededFuture() : peer.stream.end()).onSuccess(v -> finished())
        .onFailure(e -> fail(lost(peer, e)));
  }

  private void finished() {
    finished++;
    if (finished == outgoing.size() - 1 && !over) {
      over = true;
      result.complete(incoming);
    }
  }

  private PeerLost lost(Peer peer, Throwable why) {
    return lost(peer == null ? -1 : peer.rank, why);
  }

  /** @param who rank, or -1 if it is not known */
  private PeerLost lost(int who, Throwable why) {
    return new PeerLost(name + ": " + (who < 0 ? "a trainer" : "trainer " + who) + " was lost while examples were "
        + "exchanged: " + why.getMessage() + "; start the job again", why);
  }

  private void fail(Throwable why) {
    if (!over) {
      over = true;
      RegattaException reason = ErrorMapping.regatta(why);
      streams.forEach(stream -> stream.fail(reason));
      outgoing.forEach(Deque::clear);
      result.fail(reason);
    }
  }

  private Future<Void> close() {
    deadline.cancel();
    return client.close().eventually(() -> port.compose(listening -> listening.shutdown(CLOSE_MILLIS)))
        .otherwiseEmpty();
  }
}
