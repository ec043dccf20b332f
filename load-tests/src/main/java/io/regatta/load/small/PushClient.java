package io.regatta.load.small;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.load.run.Loop;
import io.regatta.load.run.RoundTrips;
import io.regatta.load.run.ShardServer;
import io.regatta.load.run.ShardTrainer;
import io.regatta.load.run.Task;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.Transport;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import java.util.List;

/** The process of a trainer that pushes a small gradient again and again; with the shard if it is handed over. */
final class PushClient implements Task {
  private final Vertx vertx = Vertx.vertx(PlainVertx.options());
  private final ShardTrainer trainer;
  private final DenseMemory gradient;

  PushClient(JsonObject setup) throws Exception {
    StreamOptions options = options(setup);
    int port = setup.containsKey("port") ? setup.getInteger("port")
        : ShardServer.listen(Loop.on(vertx), vertx, options);
    ModelSpec model = new ModelSpec(1, List.of(new DenseVariable("w", List.of(SmallDriver.FLOATS))),
        OptimizerSpec.sgd(0.01), List.of());
    trainer = ShardTrainer.open(Loop.on(vertx), vertx, port, options, model, new float[SmallDriver.FLOATS]);
    float[] ones = new float[SmallDriver.FLOATS];
    Arrays.fill(ones, 1);
    gradient = DenseMemory.of(ones);
  }

  static StreamOptions options(JsonObject setup) {
    return StreamOptions.defaults().withTransport(switch (setup.getString("kind")) {
      case "regatta" -> Transport.GRPC;
      case "regatta-plain" -> Transport.GRPC_PLAIN;
      default -> Transport.AUTO;
    });
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
