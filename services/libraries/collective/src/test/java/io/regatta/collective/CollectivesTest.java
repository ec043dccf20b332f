package io.regatta.collective;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.collective.Operation;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.WireType;
import io.regatta.core.collective.schedule.Choices;
import io.regatta.core.collective.schedule.Parts;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.Wait;
import io.regatta.node.admin.Waits;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.tensor.CollectiveCall;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ranks of one JVM with real streams between them. */
class CollectivesTest {
  private static final Vertx VERTX = Vertx.vertx(PlainVertx.options());

  @AfterAll
  static void close() {
    get(VERTX.close());
  }

  private static float[] values(int rank, int size) {
    float[] v = new float[size];
    for (int i = 0; i < size; i++) {
      v[i] = (rank * 5 + i) % 13;
    }
    return v;
  }

  private static float[] sum(int ranks, int size) {
    float[] all = new float[size];
    for (int r = 0; r < ranks; r++) {
      float[] v = values(r, size);
      for (int i = 0; i < size; i++) {
        all[i] += v[i];
      }
    }
    return all;
  }

  private static ByteBuffer direct(float[] values) {
    ByteBuffer memory = ByteBuffer.allocateDirect(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    memory.asFloatBuffer().put(values);
    return memory;
  }

  @ParameterizedTest
  @CsvSource({"1, AUTO", "2, AUTO", "3, AUTO", "4, AUTO", "2, GRPC", "3, GRPC", "4, GRPC", "3, GRPC_PLAIN", "2, GRPC_SHARED",
      "4, GRPC_SHARED"})
  void all_operations_in_arrays_and_in_direct_memory(int size, Transport transport) {
    try (LocalGroup group = new LocalGroup(VERTX, size, transport)) {
      for (int n : new int[] {0, 1, 1000, 30_001, 150_001}) {
        List<float[]> arrays = new ArrayList<>();
        List<ByteBuffer> memory = new ArrayList<>();
        for (int r = 0; r < size; r++) {
          arrays.add(values(r, n));
          memory.add(direct(values(r, n)));
        }
        // several calls under way at once
        List<Future<Void>> calls = new ArrayList<>();
        for (Collectives ranks : group.ranks) {
          calls.add(ranks.allReduce(Tensor.of(arrays.get(ranks.rank())), ReduceOp.SUM));
          calls.add(ranks.allReduce(Tensor.of(memory.get(ranks.rank())).on(WireType.BFLOAT16), ReduceOp.MAX));
          calls.add(ranks.barrier());
        }
        get(Future.all(calls));
        float[] greatest = new float[n];
        for (int r = 0; r < size; r++) {
          float[] v = values(r, n);
          for (int i = 0; i < n; i++) {
            greatest[i] = Math.max(greatest[i], v[i]);
          }
        }
        for (int r = 0; r < size; r++) {
          assertThat(arrays.get(r)).as("rank %d, %d elements", r, n).isEqualTo(sum(size, n));
          float[] got = new float[n];
          memory.get(r).asFloatBuffer().get(got);
          assertThat(got).isEqualTo(greatest);
        }
        int root = size - 1;
        List<float[]> copies = arrays.stream().map(a -> new float[n]).toList();
        System.arraycopy(values(7, n), 0, copies.get(root), 0, n);
        get(Future.all(group.all(ranks -> ranks.broadcast(Tensor.of(copies.get(ranks.rank())), root))));
        assertThat(copies).allSatisfy(c -> assertThat(c).isEqualTo(values(7, n)));
        List<float[]> parts = new ArrayList<>();
        for (int r = 0; r < size; r++) {
          parts.add(values(r, n));
        }
        get(Future.all(group.all(ranks -> ranks.reduceScatter(Tensor.of(parts.get(ranks.rank())), ReduceOp.SUM)
            .compose(v -> ranks.allGather(Tensor.of(parts.get(ranks.rank())))))));
        assertThat(parts).allSatisfy(p -> assertThat(p).isEqualTo(sum(size, n)));
        long[][] counters = new long[size][n];
        Arrays.stream(counters).forEach(c -> Arrays.fill(c, 1L << 40));
        get(Future.all(group.all(ranks -> ranks.reduce(Tensor.of(counters[ranks.rank()]), ReduceOp.SUM, 0))));
        assertThat(Arrays.stream(counters[0]).allMatch(c -> c == size * (1L << 40))).isTrue();
      }
    }
  }

  /** Linux has as many loopback addresses as hosts are wanted. */
  @ParameterizedTest
  @CsvSource({"hierarchical, GRPC", "central, GRPC", "central, AUTO", "halving-doubling, GRPC", "exchange, AUTO", "ring, GRPC"})
  void all_reduce_by_each_algorithm_between_hosts_of_unequal_size(String algorithm, Transport transport) {
    // where hosts have several ranks it is hierarchical, whatever the table says but central
    Choices table = Choices.parse("all-reduce * * * " + (algorithm.equals("hierarchical") ? "ring" : algorithm) + " 65536");
    List<String> hosts = algorithm.equals("hierarchical")
        ? List.of("127.0.0.1", "127.0.0.2", "127.0.0.1", "127.0.0.2", "127.0.0.1") : Collections.nCopies(5, "127.0.0.1");
    try (LocalGroup group = new LocalGroup(VERTX, hosts, transport, table)) {
      for (int n : new int[] {16_384, 100_003}) {
        List<float[]> arrays = IntStream.range(0, 5).mapToObj(r -> values(r, n)).toList();
        get(Future.all(group.all(ranks -> ranks.allReduce(Tensor.of(arrays.get(ranks.rank())), ReduceOp.SUM))));
        assertThat(arrays).allSatisfy(a -> assertThat(a).isEqualTo(sum(5, n)));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"AUTO", "GRPC"})
  void with_a_narrow_wire_all_ranks_have_the_same_bits(Transport transport) {
    try (LocalGroup group = new LocalGroup(VERTX, 3, transport)) {
      for (WireType wire : List.of(WireType.FLOAT16, WireType.BFLOAT16)) {
        List<float[]> given = IntStream.range(0, 3).mapToObj(r -> new float[50_001]).toList();
        List<float[]> means = IntStream.range(0, 3).mapToObj(r -> new float[50_001]).toList();
        for (int r = 0; r < 3; r++) {
          Arrays.fill(given.get(r), 1f / 3 + r);
          Arrays.fill(means.get(r), 60_000 + r);
        }
        get(Future.all(group.all(ranks -> ranks.broadcast(Tensor.of(given.get(ranks.rank())).on(wire), 2)
            .compose(v -> ranks.allReduce(Tensor.of(means.get(ranks.rank())).on(wire), ReduceOp.MEAN)))));
        assertThat(given).allSatisfy(g -> assertThat(g).isEqualTo(given.get(0)));
        assertThat(given.get(0)[0]).isCloseTo(2.333f, Offset.offset(0.02f));
        assertThat(means).allSatisfy(m -> assertThat(m).isEqualTo(means.get(0)));
        assertThat(means.get(0)[0]).isCloseTo(60_001, Offset.offset(300f));
      }
    }
  }

  @Test
  void parts_are_those_of_reduce_scatter() {
    try (LocalGroup group = new LocalGroup(VERTX, 3, Transport.AUTO)) {
      List<float[]> arrays = List.of(values(0, 10), values(1, 10), values(2, 10));
      get(Future.all(group.all(ranks -> ranks.reduceScatter(Tensor.of(arrays.get(ranks.rank())), ReduceOp.SUM))));
      Parts parts = new Parts(10, 3);
      for (int r = 0; r < 3; r++) {
        int to = parts.from(r) + parts.length(r);
        assertThat(Arrays.copyOfRange(arrays.get(r), parts.from(r), to))
            .isEqualTo(Arrays.copyOfRange(sum(3, 10), parts.from(r), to));
      }
    }
  }

  @Test
  void a_future_completes_on_the_context_of_its_caller() {
    try (LocalGroup group = new LocalGroup(VERTX, 2, Transport.AUTO)) {
      Context caller = VERTX.getOrCreateContext();
      Promise<Context> completedOn = Promise.promise();
      caller.runOnContext(v -> group.ranks.get(0).barrier().onSuccess(w -> completedOn.complete(Vertx.currentContext())));
      get(group.ranks.get(1).barrier());
      assertThat(get(completedOn.future())).isSameAs(caller);
    }
  }

  @Test
  void a_wait_says_for_whom_and_for_what() {
    try (LocalGroup group = new LocalGroup(VERTX, 2, Transport.GRPC)) {
      Future<Void> waits = group.ranks.get(0).allReduce(Tensor.of(new float[7]), ReduceOp.SUM);
      Wait wait = null;
      while (wait == null) {
        wait = get(group.waits.list()).stream().findFirst().orElse(null);
      }
      assertThat(wait.who()).isEqualTo("rank 0");
      assertThat(wait.operation()).isEqualTo("all-reduce (sum) of 7 float32, call 0");
      assertThat(wait.where()).isEqualTo("group census, generation 1");
      assertThat(wait.waitsFor()).extracting(Wait.Peer::name).containsExactly("rank 1");
      get(group.ranks.get(1).allReduce(Tensor.of(new float[7]), ReduceOp.SUM));
      get(waits);
      assertThat(get(group.waits.list())).isEmpty();
    }
  }

  @Test
  void a_root_that_waits_until_its_elements_are_taken_says_so() {
    try (LocalGroup group = new LocalGroup(VERTX, 2, Transport.AUTO)) {
      ByteBuffer memory = direct(values(0, 100_000));
      Future<Void> waits = group.ranks.get(0).broadcast(Tensor.of(memory), 0);
      List<Wait> shown = List.of();
      while (shown.isEmpty()) {
        shown = get(group.waits.list());
      }
      assertThat(shown.get(0).waitsFor()).extracting(Wait.Peer::name).containsExactly("rank 1");
      get(group.ranks.get(1).broadcast(Tensor.of(new float[100_000]), 0));
      get(waits);
    }
  }

  @Test
  void ranks_with_other_tables_of_algorithms_are_told_of_the_difference() {
    List<CollectivePort> ports = new ArrayList<>();
    for (String algorithm : List.of("ring", "exchange")) {
      ports.add(get(CollectivePort.listen(VERTX, "127.0.0.1", CollectiveOptions.defaults()
          .withChoices(Choices.parse("all-reduce * * * " + algorithm + " 65536")), new Waits())));
    }
    List<Future<Void>> calls = LocalGroup.form(1, ports).stream()
        .map(ranks -> ranks.allReduce(Tensor.of(new float[9]), ReduceOp.SUM)).toList();
    for (Future<Void> call : calls) {
      assertThatThrownBy(() -> get(call)).isInstanceOf(InvalidInput.class).hasMessageContaining("ring in chunks of 65536")
          .hasMessageContaining("exchange in chunks of 65536").hasMessageContaining("same table of algorithms");
    }
    ports.forEach(port -> get(port.close()));
  }

  @ParameterizedTest
  @CsvSource({"AUTO", "GRPC"})
  void calls_that_do_not_match_fail_at_all_ranks_and_name_both(Transport transport) {
    try (LocalGroup group = new LocalGroup(VERTX, 3, transport)) {
      List<Future<Void>> calls = group.all(ranks ->
          ranks.allReduce(Tensor.of(new float[ranks.rank() == 1 ? 200_000 : 100_000]), ReduceOp.SUM));
      for (Future<Void> call : calls) {
        assertThatThrownBy(() -> get(call)).isInstanceOf(InvalidInput.class).hasMessageContaining("group census")
            .hasMessageContaining("of 200000 float32, call 0").hasMessageContaining("of 100000 float32, call 0");
      }
      assertThatThrownBy(() -> get(group.ranks.get(0).barrier())).isInstanceOf(InvalidInput.class);
    }
  }

  @ParameterizedTest
  @CsvSource({"AUTO", "GRPC"})
  void a_rank_that_goes_fails_all_calls_and_a_new_generation_goes_on(Transport transport) {
    try (LocalGroup group = new LocalGroup(VERTX, 4, transport)) {
      List<Future<Void>> calls = group.all(ranks -> ranks.rank() == 2 ? Future.succeededFuture()
          : ranks.allReduce(Tensor.of(direct(new float[1_000_000])), ReduceOp.SUM));
      get(group.ports.get(2).close());
      for (int r : new int[] {0, 1, 3}) {
        assertThatThrownBy(() -> get(calls.get(r))).isInstanceOf(PeerLost.class).hasMessageContaining("rank 2");
      }
      List<CollectivePort> left = List.of(group.ports.get(0), group.ports.get(1), group.ports.get(3));
      group.ranks = LocalGroup.form(2, left);
      assertThat(group.ranks).extracting(Collectives::worldSize).containsOnly(3);
      get(Future.all(group.all(Collectives::barrier)));
      assertThatThrownBy(() -> get(left.get(0).form(new Membership("census", 2, 0,
          left.stream().map(CollectivePort::endpoint).toList())))).isInstanceOf(StaleGeneration.class);
    }
  }

  @Test
  void who_closes_with_calls_under_way_cancels_them() {
    try (LocalGroup group = new LocalGroup(VERTX, 2, Transport.GRPC)) {
      Future<Void> call = group.ranks.get(0).barrier();
      get(group.ranks.get(0).close());
      assertThatThrownBy(() -> get(call)).isInstanceOf(Cancelled.class);
      assertThatThrownBy(() -> get(group.ranks.get(1).barrier())).isInstanceOf(PeerLost.class)
          .hasMessageContaining("rank 0");
    }
  }

  @Test
  void the_words_of_calls_in_messages_are_those_of_core() {
    for (Operation operation : Operation.values()) {
      assertThat(CollectiveCall.Operation.forNumber(operation.ordinal()).name()).isEqualTo(operation.name());
    }
    for (io.regatta.core.collective.schedule.Algorithm algorithm : io.regatta.core.collective.schedule.Algorithm.values()) {
      assertThat(CollectiveCall.Algorithm.forNumber(algorithm.ordinal()).name()).isEqualTo(algorithm.name());
    }
    for (ReduceOp op : ReduceOp.values()) {
      assertThat(CollectiveCall.Reduction.forNumber(op.ordinal()).name()).isEqualTo(op.name());
    }
    for (WireType wire : WireType.values()) {
      assertThat(io.regatta.protocol.tensor.DType.forNumber(wire.ordinal()).name()).isEqualTo(wire.name());
    }
  }
}
