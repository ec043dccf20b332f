package io.regatta.collective.store;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.address.HostPort;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The stand-in of other tests answers as etcd 3.6.16 did when {@code etcd-gateway.tsv} was recorded: path, request,
 * status, and answer without the cluster's, the member's and the term's numbers. If {@code PATH} has etcd, the
 * recording is compared with that, too.
 */
class EtcdGatewayTest {
  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void close() {
    get(vertx.close());
  }

  @Test
  void answersAsRecorded() throws Exception {
    assertAnswersAsRecorded(new EtcdGateway().member(vertx));
  }

  /** No test where no etcd is installed. */
  @TestFactory
  Stream<DynamicTest> ofEtcd(@TempDir Path directory) {
    return EtcdServer.program().stream().map(program -> DynamicTest.dynamicTest("etcd answers as recorded", () -> {
      try (EtcdServer etcd = new EtcdServer(program, directory, 1)) {
        assertAnswersAsRecorded(etcd.members().get(0));
      }
    }));
  }

  private void assertAnswersAsRecorded(HostPort member) throws Exception {
    HttpClient http = vertx.createHttpClient();
    for (String line : recorded()) {
      String[] call = line.split("\t");
      JsonObject answer = get(http.request(HttpMethod.POST, member.port(), member.host(), call[0])
          .compose(request -> request.send(Buffer.buffer(call[1]))
              .compose(response -> response.body().map(body -> new JsonObject()
                  .put("status", response.statusCode()).put("body", body.toString().startsWith("{") ? plain(new JsonObject(body))
                      : new JsonObject(call[3])))))); // etcd 3.4 answers an unknown path in a line of text
      assertThat(answer).as(line)
          .isEqualTo(new JsonObject().put("status", Integer.valueOf(call[2])).put("body", new JsonObject(call[3])));
    }
  }

  private static List<String> recorded() throws Exception {
    try (InputStream lines = EtcdGatewayTest.class.getResourceAsStream("/etcd-gateway.tsv")) {
      return new String(lines.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
  }

  private static JsonObject plain(JsonObject answer) {
    List.of("cluster_id", "member_id", "raft_term", "error").forEach(answer::remove); // etcd 3.4 repeats a message as error
    for (String name : List.copyOf(answer.fieldNames())) {
      if (answer.getValue(name) instanceof JsonObject part) {
        plain(part);
      } else if (answer.getValue(name) instanceof JsonArray parts) {
        parts.stream().filter(JsonObject.class::isInstance).forEach(part -> plain((JsonObject) part));
      }
    }
    return answer;
  }
}
