package io.regatta.load.small;

import io.regatta.core.dense.DenseMemory;
import io.regatta.load.process.Task;
import io.regatta.load.process.WorkerLoop;
import io.regatta.load.run.RoundTrips;
import io.regatta.load.run.ShardTrainer;
import io.regatta.node.process.PlainVertx;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** The process of a link on which one push follows the other, on the link's own loop. */
final class LinkClient implements Task {
  private final Vertx vertx = Vertx.vertx(PlainVertx.options());
  private final ShardTrainer trainer;
  private final DenseMemory gradient = DenseMemory.of(new float[SmallDriver.FLOATS]);

  LinkClient(JsonObject setup) throws Exception {
    trainer = ShardTrainer.open(WorkerLoop.on(vertx), vertx, setup.getInteger("port"), PushClient.options(setup),
        PushClient.MODEL, new float[SmallDriver.FLOATS]);
  }

  @Override
  public JsonObject run(JsonObject command) throws Exception {
    return trainer.call(() -> RoundTrips.make(command.getInteger("times"), () -> trainer.push(gradient, List.of())));
  }

  @Override
  public void close() {
    vertx.close();
  }
}
