package io.regatta.protocol.testing;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Loop;
import io.regatta.core.testing.VirtualTime;
import io.regatta.protocol.network.Calls;
import io.regatta.protocol.network.Network;
import io.regatta.protocol.network.Watch;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPair;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreams;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.grpc.common.ServiceMethod;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * A network in virtual time: control calls travel as the bytes of their messages, tensor streams as frames, each
 * connection and each stream in order. A seed draws a new delay for everything that is sent, so messages on different
 * connections overtake each other. Confined to the thread of its time.
 */
public final class SimulatedNetwork {
  private static final long NANOS_PER_MICRO = 1_000;

  private final VirtualTime time;
  private final Random random;
  private final long minNanos;
  private final long maxNanos;
  private final StreamOptions options;
  private final Map<String, SimulatedPort> ports = new HashMap<>();
  private final List<Connection> connections = new ArrayList<>();
  private final Set<Loop> frozen = new HashSet<>();
  /** Processes that reach nobody and that nobody reaches. */
  private final Set<Loop> cutOff = new HashSet<>();

  /**
   * A stream or a call between two processes.
   *
   * @param lost tells the end that is not this process, that it is lost
   */
  private record Connection(Loop client, Loop server, BiConsumer<Loop, PeerLost> lost) {

    boolean isOf(Loop process) {
      return client == process || server == process;
    }
  }

  /**
   * Creates a network without ports.
   *
   * @param minMicros shortest delay of a message, µs
   * @param maxMicros longest delay of a message, µs
   */
  public SimulatedNetwork(VirtualTime time, long seed, long minMicros, long maxMicros, StreamOptions options) {
    this.time = time;
    random = new Random(seed);
    minNanos = minMicros * NANOS_PER_MICRO;
    maxNanos = maxMicros * NANOS_PER_MICRO;
    this.options = options;
  }

  /** Opens a port, whose calls and streams are served on a loop. */
  public SimulatedPort listen(Loop loop, String host, int port) {
    SimulatedPort opened = new SimulatedPort(loop);
    ports.put(host + ":" + port, opened);
    return opened;
  }

  /**
   * Ends the process of a loop, as SIGKILL does: its streams and calls break, and nobody listens at its ports. What is
   * left of it runs on without a network, so that memory which others have lent to it comes back.
   */
  public void kill(Loop process) {
    ports.values().removeIf(port -> port.loop() == process);
    lose(process, new PeerLost("its process has ended"));
  }

  /**
   * Stops the process of a loop, as SIGSTOP does. The other ends of its streams and calls notice it when it has not
   * answered a PING, within the times of the stream's options.
   */
  public void freeze(Loop process) {
    frozen.add(process);
    time.stop(process);
    long millis = options.pingTimeoutMillis() + (long) (random.nextDouble() * options.pingIntervalMillis());
    time.loop("pings").after(millis, () -> {
      lose(process, new PeerLost("it has not answered a PING for " + options.pingTimeoutMillis() + " ms"));
      time.resume(process);
    });
  }

  private void lose(Loop process, PeerLost why) {
    cutOff.add(process);
    List<Connection> broken = connections.stream().filter(connection -> connection.isOf(process)).toList();
    connections.removeAll(broken);
    broken.forEach(connection -> connection.lost().accept(process, why));
  }

  /** Fails what cannot begin: of a process that is cut off at once, to one that stands still after a while. */
  private boolean isRefused(Loop from, Loop to, String peer, Consumer<PeerLost> failed) {
    if (cutOff.contains(from)) {
      failed.accept(new PeerLost(peer + " cannot be reached: this process is cut off"));
      return true;
    }
    if (frozen.contains(to)) {
      from.after(options.connectTimeoutMillis(), () -> failed.accept(new PeerLost(peer
          + " cannot be reached: it does not answer")));
      return true;
    }
    return false;
  }

  /** Returns the network as the owner of a loop sees it. */
  public Network of(Loop loop) {
    return new Network() {
      @Override
      public Calls calls(String host, int port, String peer) {
        return new SimulatedCalls(loop, host + ":" + port, peer);
      }

      @Override
      public TensorStreams streams() {
        return new SimulatedStreams(loop);
      }
    };
  }

  /** Returns a way to a loop on which everything arrives in the order in which it was sent. */
  private Executor way(Loop to) {
    return new Executor() {
      private long lastNanos;

      @Override
      public void execute(Runnable task) {
        long at = time.nanos() + minNanos + (long) (random.nextDouble() * (maxNanos - minNanos));
        lastNanos = Math.max(lastNanos, at);
        time.schedule(to, lastNanos - time.nanos(), task);
      }
    };
  }

  private SimulatedPort port(String address, String peer) {
    SimulatedPort at = ports.get(address);
    if (at == null) {
      throw new PeerLost(peer + " is lost: nobody listens at " + address);
    }
    return at;
  }

  /** Tensor streams that one owner opens. */
  private final class SimulatedStreams implements TensorStreams {
    private final Loop loop;

    private SimulatedStreams(Loop loop) {
      this.loop = loop;
    }

    @Override
    public Future<TensorStream> open(String host, int port, String path) {
      String address = host + ":" + port;
      SimulatedPort at;
      try {
        at = port(address, address);
      } catch (PeerLost e) {
        return Future.failedFuture(e);
      }
      Promise<TensorStream> refused = Promise.promise();
      if (isRefused(loop, at.loop(), address, refused::fail)) {
        return refused.future();
      }
      Executor toServer = way(at.loop());
      Executor toClient = way(loop);
      StreamPair pair = StreamPair.connect(new StreamPair.Side(loop, toClient, address, options),
          new StreamPair.Side(at.loop(), toServer, loop.toString(), options));
      connections.add(new Connection(loop, at.loop(), (gone, why) -> (gone == loop ? pair.client() : pair.server())
          .fail(why)));
      Promise<TensorStream> opened = Promise.promise();
      toServer.execute(() -> at.accept(path, pair.server()));
      loop.execute(() -> opened.complete(pair.client()));
      return opened.future();
    }

    @Override
    public Future<Void> close() {
      return Future.succeededFuture();
    }
  }

  /** Control calls of one owner to one port. */
  private final class SimulatedCalls implements Calls {
    private final Loop loop;
    private final String address;
    private final String peer;
    private Executor there;
    private Executor back;

    private SimulatedCalls(Loop loop, String address, String peer) {
      this.loop = loop;
      this.address = address;
      this.peer = peer;
    }

    @Override
    public <Q, A> Future<A> call(ServiceMethod<A, Q> method, Q request) {
      Promise<A> answered = Promise.promise();
      begin(method, request, answer -> answered.tryComplete(answer), answered);
      return answered.future();
    }

    @Override
    public <Q, A> Watch watch(ServiceMethod<A, Q> method, Q request, Handler<A> each) {
      Promise<Void> ended = Promise.promise();
      Promise<A> end = Promise.promise();
      Runnable cancel = begin(method, request, each, end);
      end.future().onComplete(done -> {
        if (done.succeeded()) {
          ended.tryComplete();
        } else {
          ended.tryFail(done.cause());
        }
      });
      return new Watch(ended.future(), () -> {
        if (ended.tryComplete()) {
          cancel.run();
        }
      });
    }

    private <Q, A> Runnable begin(ServiceMethod<A, Q> method, Q request, Handler<A> each, Promise<A> end) {
      SimulatedPort at;
      try {
        at = port(address, peer);
      } catch (PeerLost e) {
        end.fail(e);
        return () -> { };
      }
      if (isRefused(loop, at.loop(), peer, end::tryFail)) {
        return () -> { };
      }
      there = there == null ? way(at.loop()) : there;
      back = back == null ? way(loop) : back;
      Executor answers = back;
      Runnable cancel = at.call(method, request, there, back, each, end);
      connections.add(new Connection(loop, at.loop(), (gone, why) -> {
        if (gone == loop) {
          cancel.run();
        } else {
          answers.execute(() -> end.tryFail(new PeerLost(peer + " is lost: " + why.getMessage(), why)));
        }
      }));
      return cancel;
    }

    @Override
    public Future<Void> close() {
      return Future.succeededFuture();
    }
  }
}
