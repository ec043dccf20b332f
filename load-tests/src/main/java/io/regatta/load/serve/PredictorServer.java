package io.regatta.load.serve;

import io.regatta.load.process.Task;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.predictor.PredictorConfig;
import io.regatta.predictor.PredictorVerticle;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.json.JsonObject;
import java.util.concurrent.TimeUnit;

/** The predictor, with the defaults of {@code regatta serve}. */
final class PredictorServer implements Task {

  private final Vertx vertx = Vertx.vertx(new VertxOptions().setPreferNativeTransport(true));
  private final Node node;
  private final PredictorVerticle service;

  PredictorServer(JsonObject setup) throws Exception {
    node = Node.embedded(vertx, null, NodeConfig.defaults(), "load").await(1, TimeUnit.MINUTES);
    service = new PredictorVerticle(node, PredictorConfig.of(setup.getString("model"), "", 1000, 1 << 24), null);
    vertx.deployVerticle(service).await(1, TimeUnit.MINUTES);
  }

  @Override
  public JsonObject ready() {
    return new JsonObject().put("port", service.port());
  }

  @Override
  public void close() throws Exception {
    vertx.close().await(1, TimeUnit.MINUTES);
  }
}
