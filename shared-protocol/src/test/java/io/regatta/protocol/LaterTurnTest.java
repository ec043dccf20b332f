package io.regatta.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class LaterTurnTest {

  private static final int TURNS = 100;

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  /** What is written in one turn is there in the loop's own socket before the next turns are over. */
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

  private static void turn(Context loop, AtomicBoolean come, int turn, Promise<Integer> turns) {
    if (come.get() || turn == TURNS) {
      turns.complete(turn);
    } else {
      LaterTurn.run(loop, () -> turn(loop, come, turn + 1, turns));
    }
  }
}
