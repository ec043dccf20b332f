package io.regatta.rendezvous;

import static io.regatta.rendezvous.RunningRendezvous.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.shard.TrainerId;
import io.regatta.node.directory.Directory;
import io.regatta.node.group.GroupWatch;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.protocol.rendezvous.JoinReply;
import io.vertx.core.Promise;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A watch over the life of more than one rendezvous. */
@ExtendWith(BlockedLoopGuard.class)
class GroupWatchTest {

  /** What a follower was told. */
  private static final class Told implements GroupWatch.Follower {
    final Promise<Void> viewed = Promise.promise();
    final Promise<Long> ended = Promise.promise();
    volatile boolean connected = true;

    @Override
    public void active(TrainerId holder) {}

    @Override
    public void gone(TrainerId life, boolean left) {}

    @Override
    public void viewed() {
      viewed.tryComplete();
    }

    @Override
    public void ended(long lastIncarnation) {
      ended.tryComplete(lastIncarnation);
    }

    @Override
    public boolean connected() {
      return connected;
    }
  }

  @Test
  void aGroupThatNoRendezvousKnowsAnyMoreHasEnded() throws Exception {
    try (RunningRendezvous first = new RunningRendezvous(RendezvousConfig.defaults())) {
      JoinReply member = get(first.join("job", 1, 0));
      Told known = new Told();
      Told never = new Told();
      GroupWatch watch = new GroupWatch(first.vertx, first.directory, "job", "test", 10, known);
      GroupWatch other = new GroupWatch(first.vertx, first.directory, "never joined", "test", 10, never);
      first.vertx.runOnContext(v -> {
        watch.start();
        other.start();
      });
      get(known.viewed.future());
      first.stop();
      assertThat(known.ended.future().isComplete()).as("nobody is there to say so").isFalse();
      get(first.vertx.deployVerticle(new RendezvousVerticle(first.node, RendezvousConfig.defaults())));
      assertThat(known.ended.future().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS))
          .isEqualTo(member.getIncarnation());
      assertThat(never.ended.future().isComplete()).as("one of it can still be heard").isFalse();
      never.connected = false;
      assertThat(never.ended.future().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS))
          .as("whoever it was").isEqualTo(Long.MAX_VALUE);
      first.vertx.runOnContext(v -> {
        watch.close();
        other.close();
      });
    }
  }

  @Test
  void aGroupIsFoundAtTheRendezvousThatKnowsItAmongTwo() {
    try (RunningRendezvous older = new RunningRendezvous(RendezvousConfig.defaults());
        RunningRendezvous newer = new RunningRendezvous(RendezvousConfig.defaults())) {
      get(older.join("job", 1, 0));
      get(older.directory.register(get(newer.directory.list(Directory.RENDEZVOUS)).get(0)));
      assertThat(get(older.directory.list(Directory.RENDEZVOUS))).hasSize(2);
      Told told = new Told();
      GroupWatch watch = new GroupWatch(older.vertx, older.directory, "job", "test", 10, told);
      older.vertx.runOnContext(v -> watch.start());
      get(told.viewed.future());
      older.vertx.runOnContext(v -> watch.close());
    }
  }
}
