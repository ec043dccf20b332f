package io.regatta.load.collective;

import io.regatta.collective.CollectiveOptions;
import io.regatta.collective.CollectivePort;
import io.regatta.collective.Collectives;
import io.regatta.collective.Membership;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.TensorMemory;
import io.regatta.core.collective.schedule.Choices;
import io.regatta.load.process.WorkerLoop;
import io.regatta.load.process.Task;
import io.regatta.node.admin.Waits;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.Transport;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The ranks of one process: one, or all of an in-process group; or an aggregator of ranks elsewhere. The command
 * {@code listen} opens their ports, {@code aggregate} that of an aggregator, and {@code form} forms a group. The
 * command {@code run} makes a number of calls one after another on each rank's loop, and {@code check} compares a sum
 * with the closed form. Called by the worker's main thread only.
 */
final class AllReduceTask implements Task {
  private static final double GIGA = 1e9;

  private final Vertx vertx = Vertx.vertx(PlainVertx.options());
  private final int here;
  private final Transport transport;
  /** True if tensors lie in memory that others read. */
  private final boolean lent;
  private final List<CollectivePort> ports = new ArrayList<>();
  private List<Collectives> ranks = List.of();
  /** Tensors of the last run, by rank: their pages are there when the next one of this size begins. */
  private List<TensorMemory> memory = List.of();
  private long generation;

  AllReduceTask(JsonObject setup) {
    here = setup.getInteger("here");
    transport = Transport.valueOf(setup.getString("transport"));
    lent = setup.getBoolean("lent", false);
  }

  @Override
  public JsonObject run(JsonObject command) throws Exception {
    return switch (command.getString("do")) {
      case "listen" -> listen(command.getString("choices"));
      case "aggregate" -> new JsonObject().put("endpoint", AggregatorPort.listen(vertx));
      case "form" -> form(command);
      case "run" -> calls(command.getInteger("bytes"), command.getInteger("times"));
      case "check" -> check(command.getInteger("bytes"));
      default -> throw new IllegalArgumentException(command.encode());
    };
  }

  /** @param choices null: as by default */
  private JsonObject listen(String choices) throws Exception {
    close(ports);
    CollectiveOptions options = CollectiveOptions.defaults().withStream(StreamOptions.defaults().withTransport(transport))
        .withChoices(choices == null ? Choices.defaults() : Choices.parse(choices));
    for (int i = 0; i < here; i++) {
      ports.add(WorkerLoop.await(CollectivePort.listen(vertx, "127.0.0.1", options, new Waits())));
    }
    return new JsonObject().put("endpoints", new JsonArray(ports.stream().map(CollectivePort::endpoint).toList()));
  }

  private JsonObject form(JsonObject command) throws Exception {
    List<String> endpoints = strings(command.getJsonArray("endpoints"));
    List<String> aggregators = strings(command.getJsonArray("aggregators"));
    generation++;
    List<Future<Collectives>> forming = new ArrayList<>();
    for (int i = 0; i < here; i++) {
      forming.add(ports.get(i).form(new Membership("load", generation, command.getInteger("rank") + i, endpoints,
          aggregators)));
    }
    ranks = WorkerLoop.await(Future.all(forming)).list();
    return new JsonObject();
  }

  private static List<String> strings(JsonArray array) {
    return array.stream().map(Object::toString).toList();
  }

  /** Measures calls; the first rank's median counts, and the worker measures the CPU. */
  private JsonObject calls(int bytes, int times) throws Exception {
    if (memory.size() != ranks.size() || memory.get(0).bytes().capacity() != bytes) {
      memory = ports.stream().map(port -> lent ? port.memory(bytes) : TensorMemory.direct(bytes)).toList();
    }
    List<Future<long[]>> all = new ArrayList<>();
    for (int i = 0; i < ranks.size(); i++) {
      all.add(new Calls(ranks.get(i), Tensor.of(memory.get(i), 0, bytes / Float.BYTES), times).run());
    }
    long[] nanos = WorkerLoop.await(Future.all(all)).resultAt(0);
    double seconds = Arrays.stream(nanos).sum() / GIGA;
    Arrays.sort(nanos);
    return new JsonObject().put("median", nanos[times / 2] / GIGA).put("inside", seconds);
  }

  /** Calls made one after another. Owned by the rank's loop. */
  private static final class Calls {
    private final Collectives rank;
    private final Tensor tensor;
    private final long[] nanos;
    private final Promise<long[]> done = Promise.promise();
    private int next;

    Calls(Collectives rank, Tensor tensor, int times) {
      this.rank = rank;
      this.tensor = tensor;
      nanos = new long[times];
    }

    Future<long[]> run() {
      rank.loop().execute(this::next);
      return done.future();
    }

    private void next() {
      if (next == nanos.length) {
        done.complete(nanos);
        return;
      }
      long begin = System.nanoTime();
      rank.allReduce(tensor, ReduceOp.SUM).onSuccess(v -> {
        nanos[next++] = System.nanoTime() - begin;
        next();
      }).onFailure(done::tryFail);
    }
  }

  private JsonObject check(int bytes) throws Exception {
    List<FloatBuffer> results = new ArrayList<>();
    List<Future<Void>> calls = new ArrayList<>();
    for (Collectives rank : ranks) {
      ByteBuffer memory = ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
      FloatBuffer floats = memory.asFloatBuffer();
      for (int i = 0; i < floats.capacity(); i++) {
        floats.put(i, (rank.rank() + 1) * (i % 1000));
      }
      results.add(floats);
      calls.add(rank.allReduce(Tensor.of(memory), ReduceOp.SUM));
    }
    WorkerLoop.await(Future.all(calls));
    int n = ranks.get(0).worldSize();
    for (FloatBuffer result : results) {
      for (int i = 0; i < result.capacity(); i++) {
        if (result.get(i) != n * (n + 1) / 2 * (i % 1000)) {
          throw new IllegalStateException("element " + i + " of " + bytes / 4 + " is " + result.get(i));
        }
      }
    }
    return new JsonObject();
  }

  private static void close(List<CollectivePort> ports) throws Exception {
    WorkerLoop.await(Future.join(ports.stream().map(CollectivePort::close).toList()).otherwiseEmpty());
    ports.clear();
  }

  @Override
  public void close() {
    vertx.close();
  }
}
