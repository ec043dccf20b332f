package io.regatta.rendezvous;

import static io.regatta.rendezvous.RunningRendezvous.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.exchange.TrainerId;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.node.group.GroupWatch;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A watch over the life of more than one rendezvous. */
@ExtendWith(BlockedLoopGuard.class)
class GroupWatchTest {

  /** A follower that records its calls. */
  private static final class Told implements GroupWatch.Follower {
    final List<String> told = new CopyOnWriteArrayList<>();
    final Promise<Void> viewed = Promise.promise();
    final AtomicInteger views = new AtomicInteger();
    final Promise<Long> ended = Promise.promise();
    volatile boolean connected = true;

    @Override
    public void active(TrainerId holder) {
      told.add("active " + holder.rank());
    }

    @Override
    public void gone(TrainerId life, boolean left, boolean succeeded) {
      told.add("gone " + life.rank());
    }

    @Override
    public void viewed() {
      views.incrementAndGet();
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
      GroupWatch watch = new GroupWatch(VertxLoop.current(first.vertx), first.directory, new VertxNetwork(first.vertx), "job", "test", 10, known);
      GroupWatch other = new GroupWatch(VertxLoop.current(first.vertx), first.directory, new VertxNetwork(first.vertx), "never joined", "test", 10, never);
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

  /** The older one was frozen, and another has its place; its connection to the watch has broken. */
  @Test
  void aGroupIsFollowedAtTheRendezvousThatHasItThoughAnotherTookItsPlace() throws Exception {
    try (RunningRendezvous older = new RunningRendezvous(RendezvousConfig.defaults());
        RunningRendezvous newer = new RunningRendezvous(RendezvousConfig.defaults())) {
      JoinReply member = get(older.join("job", 1, 0));
      Directory directory = new HazelcastDirectory(newer.node.vertx(), new Waits(), 10);
      List<NetSocket> sockets = new CopyOnWriteArrayList<>();
      NetClient behind = older.vertx.createNetClient();
      NetServer proxy = get(older.vertx.createNetServer().connectHandler(socket -> {
        sockets.add(socket);
        socket.pause();
        behind.connect(older.verticle.port(), "127.0.0.1").onSuccess(other -> {
          socket.pipeTo(other);
          other.pipeTo(socket);
        });
      }).listen(0, "127.0.0.1"));
      Directory.Instance newcomer = get(directory.list(Directory.RENDEZVOUS)).get(0);
      get(directory.registerSole(new Directory.Instance(Directory.RENDEZVOUS, "older", 0, "127.0.0.1",
          proxy.actualPort(), 1, Map.of()), holder -> Future.succeededFuture(false), ""));
      Told told = new Told();
      GroupWatch watch = new GroupWatch(VertxLoop.current(older.vertx), directory, new VertxNetwork(older.vertx), "job", "test", 10, told);
      older.vertx.runOnContext(v -> watch.start());
      get(told.viewed.future());
      get(directory.registerSole(newcomer, holder -> Future.succeededFuture(false), ""));
      int before = told.views.get();
      sockets.forEach(NetSocket::close);
      while (told.views.get() == before && !told.ended.future().isComplete()) {
        get(older.vertx.timer(10));
      }
      assertThat(told.ended.future().isComplete()).as("its rendezvous and its member live").isFalse();
      get(older.leave(member));
      assertThat(get(told.ended.future())).isEqualTo(member.getIncarnation());
      older.vertx.runOnContext(v -> watch.close());
    }
  }

  @Test
  void aFollowerIsNotifiedOfTheOneThatLeaves_whenTheOthersStay() {
    try (RunningRendezvous rendezvous = new RunningRendezvous(RendezvousConfig.defaults())) {
      List<Future<JoinReply>> members = List.of(rendezvous.join("job", 3, 0), rendezvous.join("job", 3, 1),
          rendezvous.join("job", 3, 2));
      members.forEach(RunningRendezvous::get);
      Told told = new Told();
      GroupWatch watch = new GroupWatch(VertxLoop.current(rendezvous.vertx), rendezvous.directory, new VertxNetwork(rendezvous.vertx), "job", "test", 10, told);
      rendezvous.vertx.runOnContext(v -> watch.start());
      get(told.viewed.future());
      get(rendezvous.leave(members.get(1).result()));
      while (told.views.get() < 2) {
        get(rendezvous.vertx.timer(10));
      }
      assertThat(told.told).containsExactly("active 0", "active 1", "active 2", "gone 1");
      Promise<Void> repeated = Promise.promise();
      rendezvous.vertx.runOnContext(v -> {
        watch.repeat(1);
        watch.repeat(7);
        watch.close();
        repeated.complete();
      });
      get(repeated.future());
      assertThat(told.told).as("again, for a late life of the rank").endsWith("gone 1", "gone 1").hasSize(5);
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
      GroupWatch watch = new GroupWatch(VertxLoop.current(older.vertx), older.directory, new VertxNetwork(older.vertx), "job", "test", 10, told);
      older.vertx.runOnContext(v -> watch.start());
      get(told.viewed.future());
      older.vertx.runOnContext(v -> watch.close());
    }
  }
}
