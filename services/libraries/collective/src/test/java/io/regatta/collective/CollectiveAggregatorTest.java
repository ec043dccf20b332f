package io.regatta.collective;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.WireType;
import io.regatta.core.collective.schedule.Choices;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.address.ServicePort;
import io.regatta.node.admin.Waits;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.stream.LocalStreams;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamServer;
import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Ranks whose all-reduces are made by aggregators, in this JVM, with real streams between them. */
class CollectiveAggregatorTest {
  private static final Vertx VERTX = Vertx.vertx(PlainVertx.options());

  @AfterAll
  static void close() {
    get(VERTX.close());
  }

  /** A service that is nothing else. */
  private static final class Aggregator extends VerticleBase {
    private final StreamOptions streams;
    private final long maxBytes;
    private CollectiveAggregator sums;
    private ServicePort port;
    private LocalStreams local;

    Aggregator(Transport transport, long maxBytes) {
      this.streams = StreamOptions.defaults().withTransport(transport);
      this.maxBytes = maxBytes;
    }

    static Aggregator start(Transport transport, long maxBytes) {
      Aggregator aggregator = new Aggregator(transport, maxBytes);
      get(VERTX.deployVerticle(aggregator));
      return aggregator;
    }

    String endpoint() {
      return "127.0.0.1:" + port.port();
    }

    @Override
    public Future<?> start() {
      Map<String, Handler<TensorStream>> paths = Map.of(StreamPaths.COLLECTIVE, opened -> sums.accept(opened));
      return ServicePort.listenForStreams(vertx, at -> TensorStreamServer.create(vertx, at).requestHandler(
          TensorStreamServer.handler(vertx, paths, new GrpcCalls(vertx), streams)),
          "127.0.0.1", 0, "an aggregator", "port", streams, "127.0.0.1").onSuccess(listening -> {
            port = listening;
            sums = new CollectiveAggregator(context, endpoint(), CollectiveOptions.defaults().withStream(streams), new Waits(), 4,
                maxBytes);
            local = LocalStreams.serve(VertxLoop.of(context), "127.0.0.1", port.port(), paths, streams);
          });
    }

    @Override
    public Future<?> stop() {
      return sums.close("the aggregator at " + endpoint() + " is shutting down").transform(done -> {
        local.close();
        return port.shutdown(1000);
      });
    }

    /** Completes when it sums for this number of groups. */
    Future<Void> groups(int count) {
      Promise<Void> there = Promise.promise();
      context.runOnContext(v -> vertx.setPeriodic(5, id -> {
        if (sums.groups() == count) {
          vertx.cancelTimer(id);
          there.tryComplete();
        }
      }));
      return there.future();
    }
  }

  private static float[] values(int rank, int size) {
    float[] v = new float[size];
    for (int i = 0; i < size; i++) {
      v[i] = (rank * 5 + i) % 13;
    }
    return v;
  }

  private static float[] reduced(int ranks, int size, ReduceOp op) {
    float[] all = values(0, size);
    for (int r = 1; r < ranks; r++) {
      float[] v = values(r, size);
      for (int i = 0; i < size; i++) {
        all[i] = op == ReduceOp.MAX ? Math.max(all[i], v[i]) : all[i] + v[i];
      }
    }
    for (int i = 0; op == ReduceOp.MEAN && i < size; i++) {
      all[i] /= ranks;
    }
    return all;
  }

  private static LocalGroup group(int size, Transport transport, Aggregator... aggregators) {
    return new LocalGroup(VERTX, Collections.nCopies(size, "127.0.0.1"), transport, Choices.defaults(),
        Arrays.stream(aggregators).map(Aggregator::endpoint).toList());
  }

  @ParameterizedTest
  @CsvSource({"2, 1, AUTO", "3, 2, AUTO", "2, 1, GRPC", "4, 1, GRPC", "3, 2, GRPC"})
  void they_sum_for_all_ranks_and_other_operations_go_on_without_them(int size, int count, Transport transport) {
    Aggregator[] aggregators = new Aggregator[count];
    Arrays.setAll(aggregators, i -> Aggregator.start(transport, 64 << 20));
    try (LocalGroup group = group(size, transport, aggregators)) {
      for (int n : new int[] {0, 1, 1000, 30_001, 400_001}) {
        List<float[]> sums = new ArrayList<>();
        List<float[]> means = new ArrayList<>();
        List<float[]> greatest = new ArrayList<>();
        long[][] counters = new long[size][n];
        List<Future<Void>> calls = new ArrayList<>();
        for (Collectives ranks : group.ranks) { // several calls under way at once
          int r = ranks.rank();
          sums.add(values(r, n));
          means.add(values(r, n));
          greatest.add(values(r, n));
          Arrays.fill(counters[r], 1L << 40);
          calls.add(ranks.allReduce(Tensor.of(sums.get(r)), ReduceOp.SUM));
          calls.add(ranks.broadcast(Tensor.of(new float[n]), 0));
          calls.add(ranks.allReduce(Tensor.of(means.get(r)), ReduceOp.MEAN));
          calls.add(ranks.allReduce(Tensor.of(greatest.get(r)).on(WireType.BFLOAT16), ReduceOp.MAX));
          calls.add(ranks.allReduce(Tensor.of(counters[r]), ReduceOp.SUM));
          calls.add(ranks.barrier());
        }
        get(Future.all(calls));
        assertThat(sums).allSatisfy(got -> assertThat(got).isEqualTo(reduced(size, n, ReduceOp.SUM)));
        assertThat(means).allSatisfy(got -> assertThat(got).isEqualTo(reduced(size, n, ReduceOp.MEAN)));
        assertThat(greatest).allSatisfy(got -> assertThat(got).isEqualTo(reduced(size, n, ReduceOp.MAX)));
        assertThat(Arrays.stream(counters).flatMapToLong(Arrays::stream).allMatch(c -> c == size * (1L << 40))).isTrue();
      }
      assertThat(group.waits.list().await()).as("/why").isEmpty();
    }
    for (Aggregator aggregator : aggregators) {
      get(aggregator.groups(0)); // gone with its ranks
      get(VERTX.undeploy(aggregator.deploymentID()));
    }
  }

  /** Float16 is rounded once on the way there, and once on the way back. */
  @Test
  void a_narrow_wire_gives_all_ranks_the_same_bits() {
    Aggregator aggregator = Aggregator.start(Transport.GRPC, 1 << 20);
    try (LocalGroup group = group(3, Transport.GRPC, aggregator)) {
      List<float[]> got = IntStream.range(0, 3).mapToObj(r -> new float[] {1 + r / 1000f, 1e-5f * r, 60_000 + r}).toList();
      get(Future.all(group.all(ranks -> ranks.allReduce(Tensor.of(got.get(ranks.rank())).on(WireType.FLOAT16), ReduceOp.MEAN))));
      assertThat(got.get(1)).isEqualTo(got.get(0));
      assertThat(got.get(2)).isEqualTo(got.get(0));
      assertThat(got.get(0)[0]).isBetween(1f, 1.002f);
      assertThat(got.get(0)[2]).isEqualTo(60_000);
    }
  }

  /** One vector fits at a time, so that later calls wait at rank 0; the short one has room beside it. */
  @ParameterizedTest
  @EnumSource(Transport.class)
  void calls_wait_until_it_has_memory_for_them(Transport transport) {
    Aggregator aggregator = Aggregator.start(transport, 500_000);
    try (LocalGroup group = group(3, transport, aggregator)) {
      List<float[]> got = new ArrayList<>();
      List<Future<Void>> calls = new ArrayList<>();
      for (int n : new int[] {100_000, 100_000, 10, 100_000, 120_000}) {
        for (Collectives ranks : group.ranks) {
          float[] values = values(ranks.rank(), n);
          got.add(values);
          calls.add(ranks.allReduce(Tensor.of(values), ReduceOp.SUM));
        }
      }
      get(Future.all(calls));
      assertThat(got).allSatisfy(sum -> assertThat(sum).isEqualTo(reduced(3, sum.length, ReduceOp.SUM)));
    }
  }

  @Test
  void a_call_that_its_memory_can_never_hold_is_refused_at_all_ranks() {
    Aggregator aggregator = Aggregator.start(Transport.GRPC, 1000);
    try (LocalGroup group = group(2, Transport.GRPC, aggregator)) {
      List<Future<Void>> calls = group.all(ranks -> ranks.allReduce(Tensor.of(new float[1000]), ReduceOp.SUM));
      for (Future<Void> call : calls) {
        assertThatThrownBy(() -> get(call)).isInstanceOf(Overloaded.class).hasMessageContaining("4000 bytes")
            .hasMessageContaining("gradient_aggregator.limits.bytes");
      }
    }
  }

  @Test
  void a_lost_aggregator_ends_the_calls_of_all_ranks() {
    Aggregator aggregator = Aggregator.start(Transport.GRPC, 1 << 20);
    try (LocalGroup group = group(2, Transport.GRPC, aggregator)) {
      Future<Void> first = group.ranks.get(0).allReduce(Tensor.of(new float[1000]), ReduceOp.SUM);
      assertThat(group.waits.list().await()).singleElement().satisfies(wait ->
          assertThat(wait.waitsFor()).singleElement().satisfies(peer -> assertThat(peer.name()).isEqualTo("aggregator 0")));
      get(aggregator.groups(1));
      get(VERTX.undeploy(aggregator.deploymentID()));
      assertThatThrownBy(() -> get(first)).isInstanceOf(PeerLost.class).hasMessageContaining("aggregator");
      assertThatThrownBy(() -> get(group.ranks.get(1).allReduce(Tensor.of(new float[1000]), ReduceOp.SUM)))
          .isInstanceOf(PeerLost.class).hasMessageContaining("aggregator");
    }
  }

  @Test
  void one_that_is_not_there_is_named() {
    Aggregator aggregator = Aggregator.start(Transport.GRPC, 1 << 20);
    get(VERTX.undeploy(aggregator.deploymentID()));
    assertThatThrownBy(() -> group(2, Transport.GRPC, aggregator)).isInstanceOf(PeerLost.class)
        .hasMessageContaining("aggregator 0 cannot be reached");
  }
}
