package io.regatta.node.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.PemKeyCertOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A stand-in for the API server keeps Secrets as that does: 201 for a new one, 409 for one that is there. */
class TokenSecretTest {

  @TempDir
  private Path directory;
  private final Vertx vertx = Vertx.vertx();
  private final List<JsonObject> secrets = new ArrayList<>();
  private final List<String> bearers = new ArrayList<>();
  private final PrintStream usual = System.err;
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private HttpServer server;
  private boolean forbidden;

  @BeforeEach
  void serve() throws IOException {
    System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
    Pem pem = new Certificates(Files.createDirectory(directory.resolve("keys"))).issue("cluster", "api");
    HttpServerOptions options = new HttpServerOptions().setSsl(true).setHost("127.0.0.1").setPort(0)
        .setKeyCertOptions(new PemKeyCertOptions().setCertPath(pem.certificate().toString()).setKeyPath(pem.key().toString()));
    server = vertx.createHttpServer(options).requestHandler(request -> request.body().onSuccess(body -> {
      bearers.add(request.getHeader("Authorization"));
      JsonObject secret = body.toJsonObject();
      String name = secret.getJsonObject("metadata").getString("name");
      if (forbidden || !request.path().equals("/api/v1/namespaces/regatta/secrets")) {
        request.response().setStatusCode(403).end("{\"message\":\n \"secrets is forbidden\"}");
      } else if (secrets.stream().anyMatch(there -> there.getJsonObject("metadata").getString("name").equals(name))) {
        request.response().setStatusCode(409).end("{}");
      } else {
        secrets.add(secret);
        request.response().setStatusCode(201).end(body);
      }
    })).listen().toCompletionStage().toCompletableFuture().join();
    Files.copy(pem.ca(), directory.resolve("ca.crt"));
    Files.writeString(directory.resolve("namespace"), "regatta");
    String claims = "{\"kubernetes.io\":{\"namespace\":\"regatta\",\"serviceaccount\":{\"name\":\"regatta-token\",\"uid\":\"4f2e\"}}}";
    Files.writeString(directory.resolve("token"), "e30." + Base64.getUrlEncoder().withoutPadding().encodeToString(claims.getBytes(
        StandardCharsets.UTF_8)) + ".c2ln");
  }

  @AfterEach
  void close() {
    System.setErr(usual);
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private int run(String... args) {
    return TokenSecret.run(directory, Map.of("KUBERNETES_SERVICE_HOST", "127.0.0.1", "KUBERNETES_SERVICE_PORT",
        Integer.toString(server.actualPort())), args);
  }

  @Test
  void makes_a_random_token_that_goes_with_its_service_account() throws IOException {
    assertThat(run("regatta-token")).isZero();
    assertThat(run("other")).isZero();
    JsonObject secret = secrets.get(0);
    assertThat(secret.getJsonObject("metadata").getJsonArray("ownerReferences").getJsonObject(0)).isEqualTo(new JsonObject()
        .put("apiVersion", "v1").put("kind", "ServiceAccount").put("name", "regatta-token").put("uid", "4f2e"));
    assertThat(token(secret)).matches("[0-9a-f]{64}").isNotEqualTo(token(secrets.get(1)));
    assertThat(secret.getJsonObject("data").getString("token")).as("the API refuses Base64 without padding").hasSize(88).endsWith("==");
    assertThat(bearers).containsOnly("Bearer " + Files.readString(directory.resolve("token")));
  }

  private static String token(JsonObject secret) {
    return new String(Base64.getDecoder().decode(secret.getJsonObject("data").getString("token")), StandardCharsets.US_ASCII);
  }

  @Test
  void leaves_a_token_that_is_there() {
    assertThat(run("regatta-token")).isZero();
    String token = token(secrets.get(0));
    assertThat(run("regatta-token")).isZero();
    assertThat(secrets).hasSize(1);
    assertThat(token(secrets.get(0))).isEqualTo(token);
  }

  @Test
  void says_in_one_line_what_is_missing() throws IOException {
    forbidden = true;
    assertThat(run("regatta-token")).isEqualTo(1);
    assertThat(said.toString(StandardCharsets.UTF_8).lines()).singleElement().asString()
        .contains("answers 403 {\"message\": \"secrets is forbidden\"}").contains("a Role that may create secrets");
    said.reset();
    assertThat(TokenSecret.run(directory, Map.of(), "regatta-token")).isEqualTo(1);
    assertThat(said.toString(StandardCharsets.UTF_8)).contains("runs in a pod");
    said.reset();
    Files.writeString(directory.resolve("token"), "opaque");
    assertThat(run("regatta-token")).isEqualTo(1);
    assertThat(said.toString(StandardCharsets.UTF_8).lines()).singleElement().asString().contains("not a JSON Web Token");
  }

  @Test
  void trusts_the_clusters_own_authority_alone() throws IOException {
    Files.delete(directory.resolve("ca.crt"));
    Files.copy(new Certificates(Files.createDirectory(directory.resolve("others"))).issue("stranger", "api").ca(),
        directory.resolve("ca.crt"));
    assertThat(run("regatta-token")).isEqualTo(1);
    assertThat(secrets).isEmpty();
    assertThat(bearers).isEmpty();
  }
}
