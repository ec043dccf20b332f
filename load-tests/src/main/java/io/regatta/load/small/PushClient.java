package io.regatta.load.small;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.load.process.WorkerLoop;
import io.regatta.load.process.Task;
import io.regatta.load.run.ClientTrainer;
import io.regatta.load.run.ParameterServers;
import io.regatta.load.run.RoundTrips;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.Transport;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.List;

/** The process of a trainer that repeatedly pushes a small gradient; with the server if the transport is in-process. */
final class PushClient implements Task {
  static final ModelSpec MODEL = new ModelSpec(1, List.of(new DenseVariable("w", List.of(SmallDriver.FLOATS))),
      OptimizerSpec.sgd(0.01), List.of());

  private final Vertx vertx = Vertx.vertx(PlainVertx.options());
  private final ClientTrainer trainer;
  private final DenseMemory gradient = DenseMemory.of(ByteBuffer.allocateDirect(SmallDriver.FLOATS * Float.BYTES));

  PushClient(JsonObject setup) throws Exception {
    StreamOptions options = options(setup);
    int port = setup.containsKey("port") ? setup.getInteger("port") : ParameterServers.start(vertx, options);
    trainer = ClientTrainer.open(WorkerLoop.on(vertx), vertx, port, options, MODEL, new float[SmallDriver.FLOATS]);
  }

  static StreamOptions options(JsonObject setup) {
    return StreamOptions.defaults().withTransport(switch (setup.getString("kind")) {
      case "regatta-unix" -> Transport.GRPC_UNIX;
      case "regatta-plain" -> Transport.GRPC_PLAIN;
      case "regatta-handover" -> Transport.AUTO;
      default -> Transport.GRPC;
    });
  }

  @Override
  public JsonObject run(JsonObject command) throws Exception {
    return RoundTrips.waited(command.getInteger("times"), () -> trainer.push(gradient, List.of()));
  }

  @Override
  public void close() {
    vertx.close();
  }
}
