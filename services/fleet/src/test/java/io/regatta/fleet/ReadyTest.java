package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.process.Blocking;
import io.regatta.node.settings.Settings;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.trainer.TrainerVerticle;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** {@code /ready} of a process follows the services in it, however they were deployed. */
class ReadyTest {

  private static final JobConfig JOB = JobConfig.of(new JsonObject().put("job", "line").put("batch_size", 8)
      .put("compute_threads", 1));

  @Test
  void a_process_is_ready_when_all_its_services_serve_and_not_when_they_are_gone() throws Exception {
    Vertx vertx = Vertx.vertx();
    Node node = Blocking.get(Node.embedded(vertx, null, NodeConfig.defaults(), "application"));
    CountDownLatch looked = new CountDownLatch(1);
    TrainingProgram program = worker -> looked.await();
    try {
      assertThat(ready(node)).as("nothing there").isEqualTo("503: services DOWN");
      TrainerVerticle trainer = new TrainerVerticle(node, new TrainerConfig(JOB, 0, ""), program);
      Future<String> joined = vertx.deployVerticle(trainer);
      while (!ready(node).contains("trainer")) {
        assertThat(joined.isComplete()).isFalse();
      }
      assertThat(ready(node)).as("waits for the others").isEqualTo("503: trainer 0 of job line DOWN");
      List<String> services = Blocking.get(Future.all(
          vertx.deployVerticle(new RendezvousVerticle(node, Settings.defaults(RendezvousConfig.class))),
          vertx.deployVerticle(new ParameterServerVerticle(node, Settings.defaults(ParameterServerConfig.class))))).list();
      String id = Blocking.get(joined);
      assertThat(ready(node)).startsWith("200: ")
          .contains("trainer 0 of job line UP", "rendezvous UP", "parameter-server UP", "shard 0 UP");
      looked.countDown();
      Blocking.get(trainer.result());
      Blocking.get(Future.all(vertx.undeploy(id), vertx.undeploy(services.get(0))));
      assertThat(ready(node)).startsWith("200: ").doesNotContain("trainer", "rendezvous");
      Blocking.get(vertx.undeploy(services.get(1)));
      assertThat(ready(node)).isEqualTo("503: services DOWN");
    } finally {
      looked.countDown();
      Blocking.get(node.close());
      Blocking.get(vertx.close());
    }
  }

  /** Status, then name and status of each check. */
  private static String ready(Node node) throws Exception {
    HttpResponse<String> answer = HttpClient.newHttpClient().send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + node.adminPort() + "/ready")).build(),
        HttpResponse.BodyHandlers.ofString());
    return answer.statusCode() + ": " + String.join(", ", new JsonObject(answer.body()).getJsonArray("checks").stream()
        .map(JsonObject.class::cast).map(c -> c.getString("name") + " " + c.getString("status")).toList());
  }
}
