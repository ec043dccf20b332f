package io.regatta.protocol.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.loop.Timer;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The contract of {@link io.regatta.core.loop.Loop}, kept by the loop of a Vert.x context. */
class VertxLoopTest {

  private static final int TURNS = 100;

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  /** Data written in one task are in the loop's own socket before the next tasks are over. */
  @Test
  void workThatGoesOnInLaterTurnsDoesNotKeepALoopFromItsSockets() throws Exception {
    Vertx vertx = Vertx.vertx();
    Context loop = vertx.getOrCreateContext();
    AtomicBoolean come = new AtomicBoolean();
    Promise<NetServer> listening = Promise.promise();
    Promise<Void> connected = Promise.promise();
    loop.runOnContext(v -> vertx.createNetServer().connectHandler(socket -> {
      socket.handler(data -> come.set(true));
      connected.complete();
    }).listen(0, "127.0.0.1").onComplete(listening));
    try (Socket socket = new Socket("127.0.0.1", get(listening.future()).actualPort())) {
      get(connected.future());
      Promise<Integer> turns = Promise.promise();
      OutputStream out = socket.getOutputStream();
      loop.runOnContext(v -> {
        try {
          out.write(1);
          turn(loop, come, 0, turns);
        } catch (IOException e) {
          turns.fail(e);
        }
      });
      assertThat(get(turns.future())).isLessThan(TURNS);
    } finally {
      get(vertx.close());
    }
  }

  @Test
  void runsTimersOnTheContextUntilTheyAreCancelled() throws Exception {
    Vertx vertx = Vertx.vertx();
    try {
      VertxLoop loop = VertxLoop.current(vertx);
      Promise<List<String>> ran = Promise.promise();
      List<String> seen = new ArrayList<>();
      Timer[] every = new Timer[1];
      loop.execute(() -> {
        loop.after(5, () -> seen.add("never")).cancel();
        every[0] = loop.every(1, () -> {
          seen.add("every " + loop.isCurrent());
          if (seen.size() == 2) {
            every[0].cancel();
            loop.after(0, () -> {
              seen.add("after " + loop.isCurrent());
              ran.complete(seen);
            });
          }
        });
      });
      assertThat(get(ran.future())).containsExactly("every true", "every true", "after true");
      assertThat(loop.isCurrent()).isFalse();
      assertThat(loop).isEqualTo(VertxLoop.of(loop.context()));
    } finally {
      get(vertx.close());
    }
  }

  private static void turn(Context loop, AtomicBoolean come, int turn, Promise<Integer> turns) {
    if (come.get() || turn == TURNS) {
      turns.complete(turn);
    } else {
      VertxLoop.of(loop).defer(() -> turn(loop, come, turn + 1, turns));
    }
  }
}
