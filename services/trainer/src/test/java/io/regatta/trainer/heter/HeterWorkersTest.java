package io.regatta.trainer.heter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.Wait;
import io.regatta.core.loop.Loop;
import io.regatta.core.testing.VirtualTime;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.heter.BatchId;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.CutTensors;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.protocol.testing.SimulatedNetwork;
import io.regatta.trainer.heter.SimulatedHeterWorker.Came;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

/** Trainers and heter workers in one thread and in virtual time, over a network whose delays a seed draws. */
class HeterWorkersTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final long COMPUTE_MILLIS = 20;

  /** One simulation. */
  private static final class Cluster {
    final VirtualTime time;
    final StreamOptions options;
    final SimulatedNetwork network;
    final List<SimulatedHeterWorker> workers = new ArrayList<>();
    final List<Directory.Instance> directory = new ArrayList<>();

    Cluster(long seed, int count) {
      this(seed, count, StreamOptions.defaults());
    }

    Cluster(long seed, int count, StreamOptions streams) {
      options = streams.withChunkBytes(4096);
      time = new VirtualTime(seed);
      network = new SimulatedNetwork(time, seed, 20, 5000, options);
      IntStream.range(0, count).forEach(i -> join());
    }

    SimulatedHeterWorker join() {
      SimulatedHeterWorker worker = new SimulatedHeterWorker(time.loop("heter worker " + workers.size()), network,
          workers.size(), COMPUTE_MILLIS, options);
      workers.add(worker);
      directory.add(worker.instance);
      return worker;
    }

    void runUntil(BooleanSupplier condition) {
      time.runUntil(condition, LIMIT);
    }

    <T> T get(CompletableFuture<T> future) {
      runUntil(future::isDone);
      return future.join();
    }
  }

  /** A trainer with replicas that compute batch after batch. */
  private static final class Rank {
    final Cluster cluster;
    final TrainerId id;
    final HeterWorkers remote;
    final Map<Integer, Long> numbers = new HashMap<>();
    /** Workers by the order in which its batches went to them, without repetitions. */
    final List<String> homes = new ArrayList<>();
    private final Loop loop;

    Rank(Cluster cluster, int rank) {
      this.cluster = cluster;
      id = new TrainerId(rank, 7);
      loop = cluster.time.loop("trainer " + rank);
      remote = new HeterWorkers(loop, cluster.network.of(loop).streams(), cluster.options,
          () -> Future.succeededFuture(List.copyOf(cluster.directory)), PATIENCE, false,
          new SendingRank("ctr", () -> id, () -> 1, () -> numbers.getOrDefault(0, 0L) - 1));
      loop.execute(() -> remote.start(List.copyOf(cluster.directory)));
    }

    CompletableFuture<CutOpened> open(int replica) {
      return remote.open(CutOpen.newBuilder().setReplica(replica).build()).toCompletableFuture();
    }

    CompletableFuture<ComputedBatch> compute(int replica) {
      long number = numbers.merge(replica, 1L, Long::sum);
      BatchToCompute batch = CutTensors.batch(id, number, 30);
      CompletableFuture<ComputedBatch> result = remote.compute(new BatchToCompute(new BatchId(id, replica, number),
          batch.head().toBuilder().setReplica(replica).build(), batch.tensors())).toCompletableFuture();
      return result.thenApply(done -> {
        assertThat(CutTensors.bytes(done.tensors())).isEqualTo(CutTensors.bytes(CutTensors.echo(batch).tensors()));
        assertThat(done.id()).isEqualTo(new BatchId(id, replica, number));
        if (homes.isEmpty() || !homes.get(homes.size() - 1).equals(remote.worker())) {
          homes.add(remote.worker());
        }
        return done;
      });
    }

    /** Computes this many batches one after the other. */
    CompletableFuture<Void> run(int replica, int batches) {
      return batches == 0 ? CompletableFuture.completedFuture(null)
          : compute(replica).thenCompose(done -> run(replica, batches - 1));
    }

    CompletableFuture<Void> close(boolean succeeded) {
      CompletableFuture<Void> closed = new CompletableFuture<>();
      loop.execute(() -> remote.close(succeeded).onComplete(v -> closed.complete(null)));
      return closed;
    }
  }

  private static List<Rank> ranks(Cluster cluster, int count) {
    List<Rank> ranks = IntStream.range(0, count).mapToObj(rank -> new Rank(cluster, rank)).toList();
    ranks.forEach(rank -> cluster.get(rank.open(0)));
    return ranks;
  }

  private static CompletableFuture<Void> all(List<CompletableFuture<Void>> runs) {
    return CompletableFuture.allOf(runs.toArray(CompletableFuture[]::new));
  }

  @Property(tries = 30)
  void ranks_are_divided_among_the_workers_and_stay_where_they_are(@ForAll @LongRange(min = 0) long seed,
      @ForAll @IntRange(min = 1, max = 3) int workers, @ForAll @IntRange(min = 1, max = 5) int trainers) {
    Cluster cluster = new Cluster(seed, workers);
    List<Rank> ranks = ranks(cluster, trainers);
    cluster.get(all(ranks.stream().map(rank -> rank.run(0, 20)).toList()));
    for (int rank = 0; rank < trainers; rank++) {
      int self = rank;
      assertThat(cluster.workers.get(rank % workers).came.stream().filter(batch -> batch.rank() == self))
          .containsExactlyElementsOf(LongStream.rangeClosed(1, 20).mapToObj(n -> new Came(self, 0, n)).toList());
      assertThat(ranks.get(rank).homes).hasSize(1);
    }
    cluster.get(all(ranks.stream().map(rank -> rank.close(true)).toList()));
    cluster.runUntil(() -> cluster.workers.stream().allMatch(worker -> worker.cleanEnds.size() == trainers));
  }

  /** Replicas of a rank have several batches under way when their worker dies. */
  @Property(tries = 60)
  void the_unanswered_batches_of_a_lost_worker_go_to_another_once_and_in_order(@ForAll @LongRange(min = 0) long seed,
      @ForAll @IntRange(min = 1, max = 3) int replicas, @ForAll @IntRange(max = 400) int diesAfterMillis) {
    Cluster cluster = new Cluster(seed, 2);
    Rank rank = new Rank(cluster, 0);
    IntStream.range(0, replicas).forEach(replica -> cluster.get(rank.open(replica)));
    CompletableFuture<Void> runs = all(IntStream.range(0, replicas).mapToObj(r -> rank.run(r, 10)).toList());
    cluster.time.advance(Duration.ofMillis(diesAfterMillis));
    SimulatedHeterWorker first = cluster.workers.get(0);
    first.die();
    cluster.directory.remove(0);
    cluster.get(runs);
    assertThat(rank.remote.counts().batches()).isEqualTo(10L * replicas);
    List<Came> second = cluster.workers.get(1).came;
    int again = (int) rank.remote.counts().again();
    assertThat(again).isLessThanOrEqualTo(replicas);
    assertThat(second).as("each batch once").doesNotHaveDuplicates();
    assertThat(second.stream().filter(first.came::contains).count()).as("twice, or lost on their way")
        .isLessThanOrEqualTo(again);
    Set<Came> all = new HashSet<>(first.came);
    all.addAll(second);
    assertThat(all).as("each batch somewhere").hasSize(10 * replicas);
    assertThat(second.stream().limit(again)).as("before all others").allSatisfy(repeated -> assertThat(
        second.stream().filter(other -> other.replica() == repeated.replica())).first().isEqualTo(repeated));
    cluster.get(rank.close(true));
    cluster.time.advance(Duration.ofSeconds(1));
  }

  @Property(tries = 25)
  void after_a_join_ranks_move_once_until_the_numbers_are_even(@ForAll @LongRange(min = 0) long seed,
      @ForAll @IntRange(min = 1, max = 6) int trainers, @ForAll @IntRange(min = 1, max = 2) int before) {
    Cluster cluster = new Cluster(seed, before);
    List<Rank> ranks = ranks(cluster, trainers);
    CompletableFuture<Void> runs = all(ranks.stream().map(rank -> rank.run(0, 350)).toList());
    cluster.time.advance(Duration.ofMillis(100));
    cluster.join();
    cluster.get(runs);
    List<Integer> counts = cluster.workers.stream().map(worker -> worker.homes.size()).toList();
    assertThat(counts.stream().mapToInt(Integer::intValue).sum()).isEqualTo(trainers);
    int most = counts.stream().max(Integer::compare).orElseThrow();
    int least = counts.stream().min(Integer::compare).orElseThrow();
    assertThat(most - least).as("trainers of the workers: " + counts).isLessThanOrEqualTo(1);
    ranks.forEach(rank -> assertThat(rank.homes).as("no rank moves twice").hasSizeLessThanOrEqualTo(2));
    ranks.forEach(rank -> assertThat(rank.remote.counts().again()).isZero());
  }

  @Test
  void ranks_of_a_lost_worker_spread_over_the_others() {
    Cluster cluster = new Cluster(1, 3);
    List<Rank> ranks = ranks(cluster, 6);
    cluster.get(all(ranks.stream().map(rank -> rank.run(0, 3)).toList()));
    cluster.workers.get(0).die();
    cluster.directory.remove(0);
    cluster.get(all(ranks.stream().map(rank -> rank.run(0, 50)).toList()));
    assertThat(cluster.workers.stream().skip(1).map(worker -> worker.homes.size())).containsExactly(3, 3);
  }

  @Test
  void when_none_is_left_batches_wait_for_one_that_joins() {
    Cluster cluster = new Cluster(2, 1);
    Rank rank = ranks(cluster, 1).get(0);
    CompletableFuture<Void> run = rank.run(0, 10);
    cluster.time.advance(Duration.ofMillis(50));
    cluster.workers.get(0).die();
    cluster.directory.clear();
    cluster.time.advance(Duration.ofSeconds(10));
    assertThat(run).isNotDone();
    SimulatedHeterWorker second = cluster.join();
    cluster.get(run);
    assertThat(rank.remote.counts().again()).isOne();
    assertThat(second.came).isNotEmpty();
    assertThat(rank.remote.worker()).isEqualTo("heter worker 1 at heter-1:1");
  }

  @Test
  void when_none_is_left_in_time_the_error_says_what_to_do() {
    Cluster cluster = new Cluster(3, 1);
    Rank rank = ranks(cluster, 1).get(0);
    CompletableFuture<Void> run = rank.run(0, 10);
    cluster.time.advance(Duration.ofMillis(50));
    cluster.workers.get(0).die();
    cluster.directory.clear();
    cluster.time.advance(PATIENCE.plusSeconds(1));
    assertThatThrownBy(run::join).isInstanceOf(CompletionException.class).cause().isInstanceOf(PeerLost.class)
        .hasMessageMatching("trainer 0 of job ctr at step \\d: heter worker 0 at heter-0:1 is lost: its process "
            + "has ended; no other heter worker was there within 30 s; start a heter worker again, then the job");
    assertThatThrownBy(() -> cluster.get(rank.compute(0))).cause().isInstanceOf(PeerLost.class);
  }

  @Test
  void a_worker_that_refuses_the_cut_is_an_error_at_the_start_and_is_left_out_later() {
    Cluster cluster = new Cluster(4, 2);
    cluster.workers.get(1).refuses = true;
    Rank first = new Rank(cluster, 0);
    assertThatThrownBy(() -> cluster.get(first.open(0))).cause().isInstanceOf(InvalidInput.class)
        .hasMessage("another program runs here");
    cluster.directory.remove(1);
    Rank second = new Rank(cluster, 0);
    cluster.get(second.open(0));
    cluster.directory.add(cluster.workers.get(1).instance);
    cluster.get(second.run(0, 350));
    assertThat(second.homes).containsExactly("heter worker 0 at heter-0:1");
  }

  @Test
  void the_batches_of_a_full_home_go_to_another_worker() {
    Cluster cluster = new Cluster(10, 2);
    Rank rank = ranks(cluster, 1).get(0);
    cluster.get(rank.run(0, 3));
    cluster.workers.get(0).full = true;
    cluster.get(rank.run(0, 3));
    assertThat(cluster.workers.get(1).came).extracting(Came::number).containsExactly(4L, 5L, 6L);
    cluster.workers.get(0).full = false;
    cluster.time.advance(Duration.ofSeconds(10));
    cluster.workers.get(1).die();
    cluster.directory.remove(1);
    cluster.get(rank.run(0, 3));
    assertThat(rank.homes).as("the first one has room again").containsExactly("heter worker 0 at heter-0:1",
        "heter worker 1 at heter-1:1", "heter worker 0 at heter-0:1");
  }

  @Test
  void batches_wait_until_the_only_worker_has_room_again() {
    Cluster cluster = new Cluster(11, 1);
    Rank rank = ranks(cluster, 1).get(0);
    cluster.get(rank.open(1));
    cluster.workers.get(0).full = true;
    CompletableFuture<Void> runs = all(List.of(rank.run(0, 5), rank.run(1, 5)));
    cluster.time.advance(Duration.ofSeconds(20));
    assertThat(runs).isNotDone();
    cluster.workers.get(0).full = false;
    cluster.get(runs);
    assertThat(cluster.workers.get(0).came).hasSize(10).doesNotHaveDuplicates();
  }

  @Test
  void when_workers_take_a_rank_but_none_of_its_batches_the_run_ends_after_a_while() {
    Cluster cluster = new Cluster(12, 1);
    Rank rank = ranks(cluster, 1).get(0);
    SimulatedHeterWorker worker = cluster.workers.get(0);
    worker.fullForBatches = true;
    CompletableFuture<Void> run = rank.run(0, 5);
    cluster.time.advance(PATIENCE.minusSeconds(2));
    assertThat(run).isNotDone();
    cluster.time.advance(Duration.ofSeconds(10));
    assertThatThrownBy(run::join).cause().isInstanceOf(Overloaded.class).hasMessage("no room at heter-0");
  }

  @Test
  void a_rank_that_starts_while_all_workers_are_full_waits_for_room() {
    Cluster cluster = new Cluster(13, 2);
    cluster.workers.forEach(worker -> worker.full = true);
    Rank rank = new Rank(cluster, 0);
    CompletableFuture<CutOpened> opened = rank.open(0);
    cluster.time.advance(Duration.ofSeconds(10));
    assertThat(opened).isNotDone();
    cluster.workers.get(1).full = false;
    cluster.get(opened);
    cluster.get(rank.run(0, 3));
    assertThat(rank.homes).containsExactly("heter worker 1 at heter-1:1");
  }

  @Test
  void a_rank_that_finds_no_room_in_time_says_why() {
    Cluster cluster = new Cluster(14, 1);
    cluster.workers.get(0).full = true;
    Rank rank = new Rank(cluster, 0);
    CompletableFuture<CutOpened> opened = rank.open(0);
    cluster.time.advance(PATIENCE.plusSeconds(2));
    assertThatThrownBy(opened::join).cause().isInstanceOf(Overloaded.class)
        .hasMessage("trainer 0 of job ctr: no room at heter-0; no heter worker had room within 30 s; "
            + "start more heter workers");
  }

  @Test
  void a_refusal_is_forgotten_after_a_while_and_at_once_when_the_worker_has_started_again() {
    for (boolean restarts : new boolean[] {false, true}) {
      Cluster cluster = new Cluster(15, 1);
      Rank rank = ranks(cluster, 1).get(0);
      SimulatedHeterWorker second = cluster.join();
      second.refuses = true;
      cluster.time.advance(Duration.ofSeconds(6));
      second.refuses = false;
      if (restarts) {
        Directory.Instance first = second.instance;
        cluster.directory.set(1, new Directory.Instance(first.service(), first.id(), first.index(), first.host(),
            first.controlPort(), first.incarnation() + 1, first.attributes()));
      } else {
        cluster.time.advance(Duration.ofSeconds(40));
        assertThat(second.opens).as("not asked again so soon").isOne();
        cluster.time.advance(Duration.ofSeconds(20));
      }
      cluster.time.advance(Duration.ofSeconds(6));
      cluster.workers.get(0).die();
      cluster.directory.remove(0);
      cluster.get(rank.run(0, 3));
      assertThat(rank.homes).containsExactly("heter worker 1 at heter-1:1");
    }
  }

  @Test
  void batches_beyond_the_limit_of_requests_wait_for_an_answer() {
    Cluster cluster = new Cluster(16, 1, StreamOptions.defaults().withMaxRequests(2));
    Rank rank = new Rank(cluster, 0);
    IntStream.range(0, 5).forEach(replica -> cluster.get(rank.open(replica)));
    cluster.get(all(IntStream.range(0, 5).mapToObj(replica -> rank.run(replica, 4)).toList()));
    assertThat(cluster.workers.get(0).came).hasSize(20).doesNotHaveDuplicates();
  }

  @Test
  void an_open_waits_for_the_workers_that_have_not_answered_it() {
    Cluster cluster = new Cluster(17, 2);
    cluster.workers.get(1).built = Promise.promise();
    Rank rank = new Rank(cluster, 0);
    CompletableFuture<CutOpened> opened = rank.open(0);
    cluster.time.advance(Duration.ofMillis(200));
    assertThat(rank.remote.worker()).isEqualTo("heter worker 0 at heter-0:1");
    Future<List<Wait.Peer>> peers = rank.remote.peers(opened);
    cluster.time.advance(Duration.ofMillis(1));
    assertThat(peers.result()).extracting(Wait.Peer::name).containsExactly("heter worker 1 at heter-1:1");
  }

  @Test
  void a_cut_that_the_home_has_not_answered_before_its_death_is_opened_by_another() {
    Cluster cluster = new Cluster(7, 2);
    cluster.workers.get(0).built = Promise.promise();
    Rank rank = new Rank(cluster, 0);
    CompletableFuture<CutOpened> opened = rank.open(0);
    cluster.time.advance(Duration.ofMillis(100));
    assertThat(opened).isNotDone();
    cluster.workers.get(0).die();
    cluster.directory.remove(0);
    cluster.get(opened);
    cluster.get(rank.run(0, 3));
    assertThat(rank.homes).containsExactly("heter worker 1 at heter-1:1");
  }

  @Test
  void a_worker_that_joins_knows_the_replicas_that_have_come_while_it_built_its_part() {
    Cluster cluster = new Cluster(8, 1);
    Rank rank = new Rank(cluster, 0);
    cluster.get(rank.open(0));
    SimulatedHeterWorker second = cluster.join();
    second.built = Promise.promise();
    cluster.time.advance(Duration.ofSeconds(6));
    cluster.get(rank.open(1));
    cluster.get(rank.run(1, 3));
    second.built.complete();
    cluster.time.advance(Duration.ofSeconds(1));
    cluster.workers.get(0).die();
    cluster.directory.remove(0);
    cluster.get(rank.run(1, 3));
    assertThat(second.came).extracting(Came::replica).containsOnly(1);
  }

  @Test
  void a_worker_to_which_a_rank_was_moving_does_not_count_it_if_that_has_gone_elsewhere() {
    Cluster cluster = new Cluster(9, 1);
    List<Rank> ranks = ranks(cluster, 5);
    SimulatedHeterWorker second = cluster.join();
    SimulatedHeterWorker third = cluster.join();
    cluster.time.advance(Duration.ofSeconds(6));
    second.built = Promise.promise();
    CompletableFuture<ComputedBatch> moving = ranks.get(4).compute(0);
    cluster.time.advance(Duration.ofSeconds(1));
    assertThat(moving).as("its move is not answered").isNotDone();
    cluster.workers.get(0).die();
    cluster.directory.remove(0);
    cluster.time.advance(Duration.ofSeconds(1));
    second.built.complete();
    cluster.get(moving);
    cluster.time.advance(Duration.ofSeconds(1));
    assertThat(third.homes).contains(4);
    assertThat(second.homes).doesNotContain(4);
  }

  @Test
  void only_waiting_stages_are_those_that_why_shows() {
    Cluster cluster = new Cluster(5, 1);
    Rank rank = ranks(cluster, 1).get(0);
    Set<CompletableFuture<?>> stages = new HashSet<>();
    stages.add(rank.remote.compute(CutTensors.batch(rank.id, 1, 3)).toCompletableFuture());
    assertThat(stages).allMatch(rank.remote::isAwaited);
    stages.forEach(cluster::get);
    assertThat(stages).noneMatch(rank.remote::isAwaited);
  }

  @Test
  void without_a_worker_that_can_be_reached_the_first_batch_says_so() {
    Cluster cluster = new Cluster(6, 0);
    cluster.directory.add(new Directory.Instance(Directory.HETER_WORKER, "gone", 0, "gone", 1, 0, Map.of()));
    Rank rank = new Rank(cluster, 0);
    assertThatThrownBy(() -> cluster.get(rank.open(0))).cause().isInstanceOf(PeerLost.class)
        .hasMessageContaining("trainer 0 of job ctr: no heter worker can be reached")
        .hasMessageContaining("start them");
  }
}
