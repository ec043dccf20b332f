package io.regatta.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.metrics.BinaryMetrics;
import io.regatta.core.reduce.Elementwise;
import io.regatta.core.reduce.SlicedReduce;
import io.regatta.protocol.message.Float64s;
import io.regatta.protocol.rendezvous.GatherReply;
import io.regatta.protocol.rendezvous.GatherRequest;
import io.regatta.rendezvous.VirtualGroups.Answer;
import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Gathers that reduce: members drive {@link SlicedReduce} against {@link Groups} without a network. */
class ReducingGatherTest {

  @Example
  void theMetricsOfAHundredRanksFitTheDefaultLimits() {
    int ranks = 100;
    VirtualGroups g = VirtualGroups.formed(ranks);
    List<BinaryMetrics> mine = new ArrayList<>();
    BinaryMetrics whole = new BinaryMetrics(BinaryMetrics.BUCKETS);
    for (int rank = 0; rank < ranks; rank++) {
      BinaryMetrics of = new BinaryMetrics(BinaryMetrics.BUCKETS);
      for (int i = 0; i < 20; i++) {
        float p = (rank * 37 + i * 11) % 1000 / 1000f;
        of.add(p, (rank + i) % 3 == 0 ? 1 : 0);
        whole.add(p, (rank + i) % 3 == 0 ? 1 : 0);
      }
      mine.add(of);
    }
    List<SlicedReduce> members = mine.stream().map(m -> new SlicedReduce("global metrics-0", m.sums())).toList();
    assertThat((long) ranks * members.get(0).result().length * Double.BYTES)
        .as("more than a gather may hold").isGreaterThan(RendezvousConfig.defaults().limits().gatherBytes());
    while (!members.get(0).isDone()) {
      round(g, members, IntStream.range(0, ranks).boxed().toList());
    }
    for (SlicedReduce member : members) {
      assertThat(member.isDone()).isTrue();
      assertThat(Arrays.equals(BinaryMetrics.ofSums(member.result()).sums(), whole.sums())).isTrue();
    }
  }

  @Property(tries = 60)
  void whoeverComesFirst_theBitsAreThoseOfReducingInRankOrder(@ForAll @IntRange(min = 1, max = 7) int ranks,
      @ForAll @IntRange(max = SlicedReduce.SLICE + 5) int length, @ForAll Elementwise how, @ForAll long seed) {
    VirtualGroups g = VirtualGroups.formed(ranks);
    Random random = new Random(seed);
    List<double[]> values = IntStream.range(0, ranks)
        .mapToObj(r -> random.doubles(length, -1e9, 1e9).map(v -> v * Math.pow(10, r - 3)).toArray()).toList();
    List<SlicedReduce> members = values.stream().map(v -> new SlicedReduce("k", v)).toList();
    while (!members.get(0).isDone()) {
      List<Integer> order = new ArrayList<>(IntStream.range(0, ranks).boxed().toList());
      Collections.shuffle(order, random);
      round(g, members, order, how);
    }
    double[] expected = how.reduce(values.stream().map(DoubleBuffer::wrap).toList());
    members.forEach(member -> assertThat(Float64s.bytes(member.result())).isEqualTo(Float64s.bytes(expected)));
  }

  @Example
  void aRankLostBetweenTwoSlicesIsInNoneOfThem() {
    VirtualGroups g = VirtualGroups.formed(3);
    double[] values = Collections.nCopies(2 * SlicedReduce.SLICE, 1.0).stream().mapToDouble(v -> v).toArray();
    List<SlicedReduce> members = IntStream.range(0, 3).mapToObj(r -> new SlicedReduce("k", values)).toList();
    round(g, members, List.of(0, 1, 2));
    List<Answer<GatherReply>> second = List.of(give(g, 0, members.get(0)), give(g, 2, members.get(2)));
    g.pass(VirtualGroups.LEASE + VirtualGroups.TICK, 0, 2);
    take(members.get(0), second.get(0));
    take(members.get(2), second.get(1));
    assertThat(members.get(0).key()).isEqualTo("k/again-1");
    round(g, members, List.of(2, 0));
    round(g, members, List.of(0, 2));
    for (int rank : List.of(0, 2)) {
      assertThat(members.get(rank).isDone()).isTrue();
      assertThat(members.get(rank).result()).containsOnly(2.0);
    }
  }

  @Example
  void whatALostRankGaveStaysIn() {
    VirtualGroups g = VirtualGroups.formed(3);
    List<SlicedReduce> members = IntStream.range(0, 3).mapToObj(r -> new SlicedReduce("k", new double[] {1})).toList();
    give(g, 1, members.get(1));
    g.pass(VirtualGroups.LEASE + VirtualGroups.TICK, 0, 2);
    round(g, members, List.of(0, 2));
    assertThat(members.get(0).result()).containsExactly(3);
  }

  @Example
  void ranksThatDoNotAgreeAllFailAtOnce() {
    VirtualGroups g = VirtualGroups.formed(3);
    Answer<GatherReply> first = give(g, 0, "k", 4, 4, "sum");
    Answer<GatherReply> other = give(g, 1, "k", 5, 5, "sum");
    assertThat(first.error).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("rank 1 gave 5 of 5 values to sum, rank 0 4 of 4 values to sum");
    assertThat(other.error).isSameAs(first.error);
    assertThatThrownBy(() -> give(g, 2, "k", 4, 4, "sum")).isSameAs(first.error);

    first = give(g, 0, "l", 4, 8, "sum");
    give(g, 1, "l", 4, 4, "sum");
    assertThat(first.error).as("as many slices as the others").isInstanceOf(InvalidInput.class);
    first = give(g, 0, "m", 4, 4, "min");
    give(g, 1, "m", 4, 4, "");
    assertThat(first.error).isInstanceOf(InvalidInput.class).hasMessageContaining("gave a payload");
  }

  @Example
  void refusesWhatItCannotReduce() {
    VirtualGroups g = VirtualGroups.formed(2);
    assertThatThrownBy(() -> give(g, 0, "k", 1, 1, "mean")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("sum, max, min");
    assertThatThrownBy(() -> g.gather(request(g, 0, "k", "sum").setPayload(ByteString.copyFrom(new byte[7])).build()))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("7 bytes");
  }

  private static void round(VirtualGroups g, List<SlicedReduce> members, List<Integer> order) {
    round(g, members, order, Elementwise.SUM);
  }

  private static void round(VirtualGroups g, List<SlicedReduce> members, List<Integer> order, Elementwise how) {
    List<Answer<GatherReply>> answers = order.stream().map(rank -> give(g, rank, members.get(rank), how)).toList();
    for (int i = 0; i < order.size(); i++) {
      take(members.get(order.get(i)), answers.get(i));
    }
  }

  private static Answer<GatherReply> give(VirtualGroups g, int rank, SlicedReduce member) {
    return give(g, rank, member, Elementwise.SUM);
  }

  private static Answer<GatherReply> give(VirtualGroups g, int rank, SlicedReduce member, Elementwise how) {
    return g.gather(request(g, rank, member.key(), how.word()).setPayload(Float64s.bytes(member.slice()))
        .setValues(member.result().length).build());
  }

  private static Answer<GatherReply> give(VirtualGroups g, int rank, String key, int slice, int of, String reduce) {
    return g.gather(request(g, rank, key, reduce).setPayload(Float64s.bytes(new double[slice])).setValues(of).build());
  }

  private static GatherRequest.Builder request(VirtualGroups g, int rank, String key, String reduce) {
    return GatherRequest.newBuilder().setGroup("g").setRank(rank).setIncarnation(g.incarnation(rank)).setKey(key)
        .setReduce(reduce);
  }

  private static void take(SlicedReduce member, Answer<GatherReply> answer) {
    assertThat(answer.error).isNull();
    assertThat(answer.value.getPayloadsCount()).isEqualTo(1);
    member.answered(Float64s.values(answer.value.getPayloads(0)), answer.value.getRanksList());
  }
}
