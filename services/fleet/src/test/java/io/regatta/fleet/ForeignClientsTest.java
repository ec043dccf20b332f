package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Message;
import io.regatta.aggregator.AggregatorConfig;
import io.regatta.aggregator.AggregatorVerticle;
import io.regatta.collective.CollectiveOptions;
import io.regatta.collective.CollectivePort;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.address.HostPort;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.node.process.Blocking;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.predictor.PredictorConfig;
import io.regatta.predictor.PredictorVerticle;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.parameterserver.ShardMapReply;
import io.regatta.protocol.parameterserver.ShardMapRequest;
import io.regatta.protocol.prediction.PredictReply;
import io.regatta.protocol.prediction.PredictRequest;
import io.regatta.protocol.rendezvous.GroupsRequest;
import io.regatta.protocol.testing.SecretFiles;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousService;
import io.regatta.rendezvous.RendezvousVerticle;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.json.JsonObject;
import io.vertx.grpc.health.v1.HealthCheckRequest;
import io.vertx.grpc.health.v1.HealthCheckResponse;
import io.vertx.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.vertx.grpc.reflection.v1.ServerReflectionRequest;
import io.vertx.grpc.reflection.v1.ServerReflectionResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Bytes that Regatta's clients never send, to every method of every gRPC port. Each is answered with a status and a
 * text, and the port serves the next call on the same connection. The methods are those that reflection lists.
 */
@TestInstance(Lifecycle.PER_CLASS)
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ForeignClientsTest {
  private static final int OK = 0;
  private static final int INVALID_ARGUMENT = 3;
  private static final int UNIMPLEMENTED = 12;
  private static final int ANSWER_SECONDS = 20;
  private static final String TOKEN = "the-token-of-this-job";
  private static final List<String> OF_EACH_PORT = List.of("grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection");
  private static final Buffer BOMB = bomb();
  private static final String REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

  @TempDir
  private static Path dir;

  private final Vertx vertx = Vertx.vertx();
  /** The Vertx of a server that hosts the rendezvous. */
  private final Vertx hosting = Vertx.vertx();
  /** The Vertx of services whose calls show a token. */
  private final Vertx guarded = Vertx.vertx();
  private final HttpClient http = vertx.createHttpClient(new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2)
      .setHttp2ClearTextUpgrade(false));
  private final Map<String, Integer> ports = new LinkedHashMap<>();
  private CollectivePort collective;
  private int guardedPort;

  /** A method of a port. */
  private record Method(String port, MethodDescriptor descriptor) {
    String service() {
      return descriptor.getService().getFullName();
    }

    String path() {
      return "/" + service() + "/" + descriptor.getName();
    }

    /** Exchange streams name the status of compression that gRPC has for it. */
    boolean isTensorStream() {
      return descriptor.getName().equals("Exchange");
    }

    @Override
    public String toString() {
      return port + path();
    }
  }

  private record Answer(int http, int status, String text, Buffer body, String accepted) {}

  @BeforeAll
  void start() throws Exception {
    Node node = node(vertx, NodeConfig.defaults());
    RendezvousVerticle rendezvous = new RendezvousVerticle(node, RendezvousConfig.defaults());
    Blocking.get(vertx.deployVerticle(rendezvous));
    ports.put("rendezvous", rendezvous.port());
    ParameterServerVerticle server = new ParameterServerVerticle(node, ParameterServerConfig.defaults().at(0, 1, 2));
    Blocking.get(vertx.deployVerticle(server));
    ports.put("server", server.port());
    ports.put("second shard", ShardMapReply.parseFrom(good(server.port(), "/regatta.ParameterServer/ShardMap",
        ShardMapRequest.getDefaultInstance())).getShards(1).getPort());
    AggregatorVerticle aggregator = new AggregatorVerticle(node, AggregatorConfig.defaults());
    Blocking.get(vertx.deployVerticle(aggregator));
    ports.put("aggregator", aggregator.port());
    collective = Blocking.get(CollectivePort.listen(node, CollectiveOptions.defaults()));
    ports.put("rank", HostPort.parse(collective.endpoint(), "endpoint").port());
    LocalCluster.run(LocalCluster.Options.of(Jobs.wideAndDeep(dir, "mode=sync", "output=" + dir.resolve("model"), "max_steps=2"))
        .withoutHazelcast().withProgress(Progress.none()));
    PredictorVerticle predictor = new PredictorVerticle(node, PredictorConfig.of(dir.resolve("model").toString(), "", 1000, 1 << 20),
        null);
    Blocking.get(vertx.deployVerticle(predictor));
    ports.put("predictor", predictor.port());
    Node host = node(hosting, NodeConfig.defaults());
    ParameterServerVerticle both = new ParameterServerVerticle(host, ParameterServerConfig.defaults().at(0, 1, 1),
        new RendezvousService(host, RendezvousConfig.defaults()));
    Blocking.get(hosting.deployVerticle(both));
    ports.put("server with rendezvous", both.port());
    Path token = SecretFiles.write(dir.resolve("token"), TOKEN);
    RendezvousVerticle closed = new RendezvousVerticle(node(guarded, NodeConfig.defaults()
        .withTokenFile(token.toString())), RendezvousConfig.defaults());
    Blocking.get(guarded.deployVerticle(closed));
    guardedPort = closed.port();
  }

  private static Node node(Vertx vertx, NodeConfig config) {
    return Blocking.get(Node.embedded(vertx, new HazelcastDirectory(vertx, new Waits(), 10), config, "test"));
  }

  @AfterAll
  void stop() {
    Blocking.get(collective.close());
    Blocking.get(vertx.close());
    Blocking.get(hosting.close());
    Blocking.get(guarded.close());
  }

  private Stream<Method> methods() throws Exception {
    List<Method> all = new ArrayList<>();
    for (String port : ports.keySet()) {
      for (String name : listed(ports.get(port))) {
        described(ports.get(port), name).getMethods().forEach(method -> all.add(new Method(port, method)));
      }
    }
    return all.stream();
  }

  private Stream<Method> methodsWithText() throws Exception {
    return methods().filter(method -> method.service().startsWith("regatta.") && !method.isTensorStream()
        && !texts(method).isEmpty());
  }

  private static List<FieldDescriptor> texts(Method method) {
    return method.descriptor().getInputType().getFields().stream()
        .filter(field -> field.getType() == FieldDescriptor.Type.STRING).toList();
  }

  private List<String> listed(int port) throws Exception {
    ServerReflectionResponse answer = reflect(port, ServerReflectionRequest.newBuilder().setListServices("*"));
    return answer.getListServicesResponse().getServiceList().stream().map(service -> service.getName()).toList();
  }

  private ServerReflectionResponse reflect(int port, ServerReflectionRequest.Builder request) throws Exception {
    return ServerReflectionResponse.parseFrom(good(port, REFLECTION, request.build()));
  }

  /** Built from what reflection answers alone. */
  private ServiceDescriptor described(int port, String service) throws Exception {
    ServerReflectionResponse answer = reflect(port, ServerReflectionRequest.newBuilder().setFileContainingSymbol(service));
    Map<String, FileDescriptorProto> files = new HashMap<>();
    for (var bytes : answer.getFileDescriptorResponse().getFileDescriptorProtoList()) {
      FileDescriptorProto file = FileDescriptorProto.parseFrom(bytes);
      files.put(file.getName(), file);
    }
    String first = FileDescriptorProto.parseFrom(answer.getFileDescriptorResponse().getFileDescriptorProto(0)).getName();
    return built(first, files).findServiceByName(service.substring(service.lastIndexOf('.') + 1));
  }

  private static FileDescriptor built(String name, Map<String, FileDescriptorProto> files) throws Exception {
    List<FileDescriptor> imports = new ArrayList<>();
    for (String each : files.get(name).getDependencyList()) {
      imports.add(built(each, files));
    }
    return FileDescriptor.buildFrom(files.get(name), imports.toArray(FileDescriptor[]::new));
  }

  @Test
  void reflection_lists_the_services_of_each_port() throws Exception {
    Map<String, List<String>> expected = Map.of(
        "rendezvous", List.of("regatta.Rendezvous"),
        "server", List.of("regatta.ParameterServer", "regatta.ParameterShard"),
        "second shard", List.of("regatta.ParameterShard"),
        "aggregator", List.of("regatta.GradientAggregator", "regatta.Collective"),
        "rank", List.of("regatta.Collective"),
        "predictor", List.of("regatta.Prediction"),
        "server with rendezvous", List.of("regatta.ParameterServer", "regatta.ParameterShard", "regatta.Rendezvous"));
    assertThat(ports).containsOnlyKeys(expected.keySet());
    for (String port : ports.keySet()) {
      List<String> all = new ArrayList<>(OF_EACH_PORT);
      all.addAll(expected.get(port));
      assertThat(listed(ports.get(port))).as(port).containsExactlyInAnyOrderElementsOf(all);
    }
  }

  /** As a client does that asks for a symbol after the list: all in one call. */
  @Test
  void reflection_answers_each_request_of_a_call() throws Exception {
    Buffer requests = framed(ServerReflectionRequest.newBuilder().setListServices("").build())
        .appendBuffer(framed(ServerReflectionRequest.newBuilder().setFileContainingSymbol("regatta.GatherRequest").build()))
        .appendBuffer(framed(ServerReflectionRequest.newBuilder().setFileByFilename("nowhere.proto").build()));
    for (String version : List.of("v1", "v1alpha")) {
      Answer answer = post(ports.get("rendezvous"), "/grpc.reflection." + version + ".ServerReflection/ServerReflectionInfo",
          requests.copy());
      assertThat(answer.status()).isEqualTo(OK);
      List<ServerReflectionResponse> all = new ArrayList<>();
      for (int at = 0; at < answer.body().length(); at += 5 + answer.body().getInt(at + 1)) {
        all.add(ServerReflectionResponse.parseFrom(answer.body().getBytes(at + 5, at + 5 + answer.body().getInt(at + 1))));
      }
      assertThat(all).hasSize(3);
      assertThat(all.get(0).getListServicesResponse().getServiceCount()).isEqualTo(3);
      assertThat(all.get(1).getFileDescriptorResponse().getFileDescriptorProtoCount()).isPositive();
      assertThat(all.get(2).getErrorResponse().getErrorCode()).isEqualTo(5);
      assertThat(all.get(2).getErrorResponse().getErrorMessage()).contains("nowhere.proto");
    }
  }

  @ParameterizedTest
  @MethodSource("methods")
  void garbage_is_refused_with_a_text(Method method) throws Exception {
    Buffer garbage = Buffer.buffer().appendByte((byte) 0).appendInt(5).appendBytes(new byte[] {-1, -1, -1, -1, -1});
    assertRefused(method, post(method, garbage), INVALID_ARGUMENT);
  }

  @ParameterizedTest
  @MethodSource("methods")
  void half_a_message_is_refused_with_a_text(Method method) throws Exception {
    Buffer half = Buffer.buffer().appendByte((byte) 0).appendInt(10).appendBytes(new byte[] {10, 8, 120});
    Answer answer = post(method, half);
    assertRefused(method, answer, INVALID_ARGUMENT);
    assertThat(answer.text()).contains("ended in the middle of a message");
    assertRefused(method, post(method, half.getBuffer(0, 3)), INVALID_ARGUMENT);
  }

  /** A message is refused by its length alone: neither the rest of it nor the end of the request arrives. */
  @ParameterizedTest
  @MethodSource("methods")
  void an_over_long_message_is_refused_with_a_text(Method method) throws Exception {
    Answer answer = get(http.request(HttpMethod.POST, ports.get(method.port()), "127.0.0.1", method.path())
        .compose(request -> {
          request.setChunked(true).putHeader("content-type", "application/grpc");
          request.write(Buffer.buffer().appendByte((byte) 0).appendInt(Integer.MAX_VALUE).appendString("some"));
          return request.response().compose(ForeignClientsTest::read).onComplete(done -> request.reset());
        }));
    assertRefused(method, answer, INVALID_ARGUMENT);
    assertThat(answer.text()).contains(Integer.MAX_VALUE + " bytes");
  }

  @ParameterizedTest
  @MethodSource("methods")
  void json_is_refused_with_a_text(Method method) throws Exception {
    Buffer json = Buffer.buffer().appendByte((byte) 0).appendInt(2).appendString("{}");
    Answer answer = post(ports.get(method.port()), method.path(), json, "content-type", "application/grpc+json");
    assertRefused(method, answer, INVALID_ARGUMENT);
    assertThat(answer.text()).contains("application/grpc+json");
    Answer plain = post(ports.get(method.port()), method.path(), Buffer.buffer("{}"), "content-type", "application/json");
    assertThat(plain.http()).isEqualTo(415);
    assertRefused(method, plain, INVALID_ARGUMENT);
    assertThat(plain.body().toString()).contains("application/json");
  }

  @ParameterizedTest
  @MethodSource("methods")
  void an_unknown_method_is_unimplemented(Method method) throws Exception {
    Answer answer = post(ports.get(method.port()), method.path() + "Nope", framed(HealthCheckRequest.getDefaultInstance()));
    assertRefused(method, answer, UNIMPLEMENTED);
    assertThat(answer.text()).contains(method.path() + "Nope", method.service());
  }

  @ParameterizedTest
  @MethodSource("methods")
  void compression_is_refused_with_a_text(Method method) throws Exception {
    Buffer compressed = Buffer.buffer().appendByte((byte) 1).appendInt(2).appendString("xy");
    assertRefused(method, post(method, compressed), method.isTensorStream() ? UNIMPLEMENTED : INVALID_ARGUMENT);
    assertRefused(method, post(method, Buffer.buffer().appendByte((byte) 2).appendInt(0)), method.isTensorStream()
        ? UNIMPLEMENTED : INVALID_ARGUMENT);
  }

  /** 64 MiB of zeros in 64 KiB. The header alone is answered, so nobody has decompressed anything. */
  @ParameterizedTest
  @MethodSource("methods")
  void a_compressed_bomb_is_refused_by_its_header(Method method) throws Exception {
    for (String encoding : List.of("gzip", "snappy")) {
      Answer bomb = post(ports.get(method.port()), method.path(), BOMB, "grpc-encoding", encoding);
      assertRefused(method, bomb, UNIMPLEMENTED);
      assertThat(bomb.text()).contains("grpc-encoding " + encoding, "without compression");
      assertThat(bomb.accepted()).isEqualTo("identity");
    }
    Answer header = get(http.request(HttpMethod.POST, ports.get(method.port()), "127.0.0.1", method.path())
        .compose(request -> {
          request.setChunked(true).putHeader("content-type", "application/grpc").putHeader("grpc-encoding", "gzip");
          request.sendHead();
          return request.response().compose(ForeignClientsTest::read).onComplete(done -> request.reset());
        }));
    assertRefused(method, header, UNIMPLEMENTED);
  }

  private static Buffer bomb() {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      byte[] zeros = new byte[1 << 20];
      for (int i = 0; i < 64; i++) {
        gzip.write(zeros);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Buffer.buffer().appendByte((byte) 1).appendInt(packed.size()).appendBytes(packed.toByteArray());
  }

  @ParameterizedTest
  @MethodSource("methods")
  void a_call_of_one_message_has_one(Method method) throws Exception {
    if (!method.descriptor().isClientStreaming()) {
      assertRefused(method, post(method, Buffer.buffer()), INVALID_ARGUMENT);
      Buffer one = Buffer.buffer(new byte[5]);
      assertRefused(method, post(method, one.copy().appendBuffer(one)), INVALID_ARGUMENT);
    } else {
      assertThat(post(method, Buffer.buffer()).status()).as("nobody asks").isEqualTo(OK);
    }
  }

  /** A name of 100 KB is refused for its length, and not repeated. */
  @ParameterizedTest
  @MethodSource("methodsWithText")
  void long_texts_are_refused_with_a_short_one(Method method) throws Exception {
    for (FieldDescriptor field : texts(method)) {
      DynamicMessage.Builder message = DynamicMessage.newBuilder(method.descriptor().getInputType());
      String text = "n".repeat(100_000);
      message.setField(field, field.isRepeated() ? List.of(text) : text);
      Answer answer = post(method, framed(message.build()));
      assertRefused(method, answer, INVALID_ARGUMENT);
      assertThat(answer.text().length()).as(field.getName() + ": " + answer.text()).isLessThan(1000);
    }
  }

  @ParameterizedTest
  @MethodSource("methods")
  void health_is_that_of_the_service(Method method) throws Exception {
    int port = ports.get(method.port());
    assertThat(health(port, method.service())).isEqualTo(ServingStatus.SERVING);
    assertThat(health(port, "")).isEqualTo(ServingStatus.SERVING);
    Answer unknown = post(port, "/grpc.health.v1.Health/Check",
        framed(HealthCheckRequest.newBuilder().setService("regatta.Nope").build()));
    assertThat(unknown.status()).isEqualTo(5);
    assertThat(unknown.text()).contains("regatta.Nope");
  }

  @Test
  void with_a_token_health_is_open_and_reflection_is_not() throws Exception {
    assertThat(health(guardedPort, "regatta.Rendezvous")).isEqualTo(ServingStatus.SERVING);
    Buffer list = framed(ServerReflectionRequest.newBuilder().setListServices("").build());
    Answer refused = post(guardedPort, REFLECTION, list);
    assertThat(refused.status()).isEqualTo(16);
    assertThat(refused.text()).contains("without the job's token");
    assertThat(post(guardedPort, REFLECTION, list, "authorization", "Bearer " + TOKEN).status()).isEqualTo(OK);
  }

  @Test
  void services_answer_as_before() throws Exception {
    good(ports.get("rendezvous"), "/regatta.Rendezvous/Groups", GroupsRequest.getDefaultInstance());
    good(ports.get("server with rendezvous"), "/regatta.Rendezvous/Groups", GroupsRequest.getDefaultInstance());
    String line = Files.readAllLines(dir.resolve("data/test.tsv")).get(0);
    assertThat(PredictReply.parseFrom(good(ports.get("predictor"), "/regatta.Prediction/Predict",
        PredictRequest.newBuilder().addLines(line).build())).getScoresCount()).isEqualTo(1);
  }

  /** Probes of schedulers ask a port of HTTP over HTTP. */
  @Test
  void the_predictor_answers_health_and_ready_at_its_own_port() throws Exception {
    for (String path : List.of("/health", "/ready")) {
      HttpResponse<String> answer = java.net.http.HttpClient.newHttpClient().send(HttpRequest.newBuilder(
          URI.create("http://127.0.0.1:" + ports.get("predictor") + path)).build(), HttpResponse.BodyHandlers.ofString());
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      assertThat(new JsonObject(answer.body()).getString("status")).isEqualTo("UP");
    }
  }

  private void assertRefused(Method method, Answer answer, int status) throws Exception {
    assertThat(answer.status()).as(method + ": " + answer.text()).isEqualTo(status);
    assertThat(answer.text()).isNotBlank();
    assertThat(health(ports.get(method.port()), method.service())).as("the next call").isEqualTo(ServingStatus.SERVING);
  }

  private ServingStatus health(int port, String service) throws Exception {
    return HealthCheckResponse.parseFrom(good(port, "/grpc.health.v1.Health/Check",
        HealthCheckRequest.newBuilder().setService(service).build())).getStatus();
  }

  /** The one message of the answer to a call that succeeds. */
  private byte[] good(int port, String path, Message request) throws Exception {
    Answer answer = post(port, path, framed(request));
    assertThat(answer.status()).as(path + ": " + answer.text()).isEqualTo(OK);
    assertThat(answer.body().length()).isEqualTo(5 + answer.body().getInt(1));
    return answer.body().getBytes(5, answer.body().length());
  }

  private static Buffer framed(Message message) {
    byte[] bytes = message.toByteArray();
    return Buffer.buffer().appendByte((byte) 0).appendInt(bytes.length).appendBytes(bytes);
  }

  private Answer post(Method method, Buffer body) throws Exception {
    return post(ports.get(method.port()), method.path(), body);
  }

  private Answer post(int port, String path, Buffer body, String... header) throws Exception {
    return get(http.request(HttpMethod.POST, port, "127.0.0.1", path).compose(request -> {
      request.putHeader("content-type", "application/grpc");
      for (int i = 0; i < header.length; i += 2) {
        request.putHeader(header[i], header[i + 1]);
      }
      return request.send(body).compose(ForeignClientsTest::read);
    }));
  }

  private static Future<Answer> read(HttpClientResponse response) {
    return response.body().map(body -> {
      String status = response.getHeader("grpc-status") != null ? response.getHeader("grpc-status") : response.getTrailer("grpc-status");
      String text = response.getHeader("grpc-message") != null ? response.getHeader("grpc-message")
          : response.getTrailer("grpc-message");
      return new Answer(response.statusCode(), status == null ? -1 : Integer.parseInt(status),
          text == null ? "" : ErrorMapping.decode(text), body, response.getHeader("grpc-accept-encoding"));
    });
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(ANSWER_SECONDS, TimeUnit.SECONDS);
  }
}
