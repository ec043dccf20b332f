package io.regatta.core.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.LocalJob;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LocalShardLinkTest {

  private static final int ROWS = 10_000;

  private final LocalJob job = new LocalJob(Mode.ASYNC, 1, 1, OptimizerSpec.sgd(1));

  /** A link of trainer 0, whose table {@link LocalJob#DEEP} has {@link #ROWS} rows. */
  private LocalShardLink filled() {
    LocalShardLink link = new LocalShardLink(job.shards.get(0));
    done(link.register(job.spec, new TrainerId(0, 1), 0));
    long[] ids = LongStream.range(0, ROWS).toArray();
    done(link.pull(new Pull(0, 0, false, null, List.of(new SparseIds(LocalJob.DEEP, ids)), false, false)));
    return link;
  }

  private static <T> T done(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  private static Throwable failure(CompletionStage<?> stage) {
    return catchThrowable(() -> done(stage)).getCause();
  }

  @Test
  void refusesCalls_whenNoTrainerHasRegistered() {
    LocalShardLink link = new LocalShardLink(job.shards.get(0));
    assertThat(failure(link.leave(true))).isInstanceOf(InvalidInput.class).hasMessageContaining("register first");
    assertThat(failure(link.digest())).isInstanceOf(InvalidInput.class);
    assertThat(failure(link.export(LocalJob.DEEP, rows -> null))).isInstanceOf(InvalidInput.class);
  }

  @Test
  void cancelsCalls_whenItIsClosed() {
    LocalShardLink link = filled();
    done(link.close());
    assertThat(failure(link.register(job.spec, new TrainerId(0, 2), 0))).isInstanceOf(Cancelled.class);
    assertThat(failure(link.leave(true))).isInstanceOf(Cancelled.class);
    assertThat(failure(link.digest())).isInstanceOf(Cancelled.class);
    assertThat(job.shards.get(0).jobs()).as("closing is not leaving").hasSize(1);
  }

  @Test
  void exportsASliceAtATime_whenTheSinkTakesItsTime() {
    List<SparseRows> taken = new ArrayList<>();
    List<CompletableFuture<Void>> pending = new ArrayList<>();
    CompletableFuture<Void> export = filled().export(LocalJob.DEEP, rows -> {
      taken.add(rows);
      pending.add(new CompletableFuture<>());
      return pending.get(pending.size() - 1);
    }).toCompletableFuture();
    for (int slice = 0; slice < pending.size(); slice++) {
      assertThat(taken).as("the next slice waits for the one before").hasSize(slice + 1);
      assertThat(export).isNotDone();
      pending.get(slice).complete(null);
    }
    assertThat(export).isCompleted();
    assertThat(taken).hasSizeGreaterThanOrEqualTo(3)
        .allSatisfy(rows -> assertThat(rows.ids().length).isBetween(1, 4096));
    assertThat(taken.stream().flatMapToLong(rows -> Arrays.stream(rows.ids())).distinct().count()).isEqualTo(ROWS);
  }

  @Test
  void failsAnExport_whenTheSinkFailsAtOnceOrLater() {
    LocalShardLink link = filled();
    IllegalStateException full = new IllegalStateException("disk is full");
    assertThat(failure(link.export(LocalJob.DEEP, rows -> CompletableFuture.failedFuture(full)))).isSameAs(full);
    CompletableFuture<Void> later = new CompletableFuture<>();
    CompletionStage<Void> export = link.export(LocalJob.DEEP, rows -> later);
    later.completeExceptionally(full);
    assertThat(failure(export)).isSameAs(full);
  }
}
