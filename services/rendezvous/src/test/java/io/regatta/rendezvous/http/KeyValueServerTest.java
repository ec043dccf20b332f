package io.regatta.rendezvous.http;

import static io.regatta.node.testing.Conditions.awaitTrue;
import static io.regatta.node.testing.Nodes.get;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Token;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The requests and answers of PaddlePaddle's clients, as bytes on a socket. */
@ExtendWith(BlockedLoopGuard.class)
class KeyValueServerTest {
  private static final String OK = "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n";
  private static final String NOT_FOUND = "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n";
  private static final String BAD = "HTTP/1.0 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
  private static final String JSON = "Content-Type: application/json; charset=utf8\r\n\r\n";
  private static final String JSON_OK = "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n" + JSON;
  private static final String JSON_NOT_FOUND = "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n" + JSON;
  private static final String DROPPED = "";

  private final Vertx vertx = Vertx.vertx();
  private final AtomicLong clock = new AtomicLong(1_000_000);
  private int gloo;
  private int launch;

  @BeforeEach
  void start() {
    HttpStoreConfig config = HttpStoreConfig.defaults().with(s -> s.glooPort(0).launchPort(0)
        .glooSizes(Map.of("sized_worker", 2)).keys(4).valueBytes(1000).storeBytes(1500));
    gloo = get(KeyValueServer.gloo(vertx, "127.0.0.1", config, clock::get, PeerSecurity.NONE)).port();
    launch = get(KeyValueServer.launch(vertx, "127.0.0.1", config, clock::get, PeerSecurity.NONE)).port();
  }

  @AfterEach
  void stop() {
    get(vertx.close());
  }

  /** Everything that comes until the server closes the connection, as it must after one answer. */
  private static String exchange(int port, String request) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(20_000);
      socket.getOutputStream().write(request.getBytes(ISO_8859_1));
      return new String(socket.getInputStream().readAllBytes(), ISO_8859_1);
    }
  }

  /** As gloo's client writes it: HTTP/1.1, which must make no difference. */
  private static String send(int port, String method, String path, String body) throws IOException {
    return exchange(port, method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: " + body.length()
        + "\r\n\r\n" + body);
  }

  private String gloo(String method, String path, String body) throws IOException {
    return send(gloo, method, path, body);
  }

  private String gloo(String method, String path) throws IOException {
    return exchange(gloo, method + " " + path + " HTTP/1.0\r\n\r\n");
  }

  private String launch(String method, String path, String body) throws IOException {
    return send(launch, method, path, body);
  }

  private String launch(String method, String path) throws IOException {
    return exchange(launch, method + " " + path + " HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n");
  }

  private static String found(String value) {
    return "HTTP/1.0 200 OK\r\nContent-Length: " + value.length() + "\r\n\r\n" + value;
  }

  private static String json(String json) {
    return "HTTP/1.0 200 OK\r\nContent-Length: " + json.length() + "\r\n" + JSON + json;
  }

  @Test
  void gloo_putGetAndDelete() throws IOException {
    String address = "\u0000\u0002\u001f\u0090\u007f\u0000\u0000\u0001\u00ff\r\n\r\n"; // of gloo's 136 raw bytes each
    assertThat(gloo("GET", "/_worker/0")).isEqualTo(NOT_FOUND);
    assertThat(gloo("PUT", "/_worker/0", address)).isEqualTo(OK);
    assertThat(gloo("GET", "/_worker/0")).isEqualTo(found(address));
    assertThat(gloo("GET", "/_worker/1")).isEqualTo(NOT_FOUND);
    assertThat(gloo("GET", "/job_worker/0")).isEqualTo(NOT_FOUND);
    assertThat(gloo("PUT", "/_worker/0", "")).isEqualTo(OK);
    assertThat(gloo("GET", "/_worker/0")).isEqualTo(found(""));
    assertThat(gloo("PUT", "/_worker/0", "new")).isEqualTo(OK);
    assertThat(gloo("DELETE", "/_worker/0")).isEqualTo(OK);
    assertThat(gloo("GET", "/_worker/0")).isEqualTo(found("new"));
    assertThat(gloo("DELETE", "/_worker/0")).isEqualTo(OK);
    assertThat(gloo("DELETE", "/never/set")).isEqualTo(OK);
  }

  @Test
  void gloo_pathsThatAreNoScopeAndKey() throws IOException {
    for (String method : new String[] {"GET", "PUT", "DELETE"}) {
      assertThat(gloo(method, "/0", "x")).isEqualTo(BAD);
      assertThat(gloo(method, "/", "")).isEqualTo(BAD);
      assertThat(gloo(method, "/a/b/c", "x")).isEqualTo(DROPPED);
    }
    assertThat(gloo("PUT", "/a%2Fb/c?d", "kept as it is")).isEqualTo(OK);
    assertThat(gloo("GET", "/a%2Fb/c?d")).isEqualTo(found("kept as it is"));
    assertThat(gloo("GET", "/a%2Fb/c")).isEqualTo(NOT_FOUND);
    assertThat(gloo("PUT", "/a/", "empty key")).isEqualTo(OK);
    assertThat(gloo("GET", "/a/")).isEqualTo(found("empty key"));
  }

  @Test
  void gloo_aBodyThatIsCutOffOrHasNoLengthSetsNothing() throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), gloo)) {
      socket.getOutputStream().write("PUT /s/0 HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf".getBytes(ISO_8859_1));
    }
    assertThat(gloo("PUT", "/s/1")).startsWith("HTTP/1.0 411 Length Required\r\n");
    assertThat(gloo("GET", "/s/0")).isEqualTo(NOT_FOUND);
    assertThat(gloo("GET", "/s/1")).isEqualTo(NOT_FOUND);
  }

  @Test
  void gloo_whenAllRanksOfASizedScopeHaveDeleted_thenTheNextJobBeginsEmpty() throws IOException {
    gloo("PUT", "/sized_worker/0", "a");
    gloo("PUT", "/sized_worker/1", "b");
    gloo("PUT", "/other/0", "c");
    gloo("DELETE", "/sized_worker/0");
    gloo("DELETE", "/sized_worker/0"); // counts once
    assertThat(gloo("PUT", "/sized_worker/0", "again")).isEqualTo(OK);
    assertThat(gloo("GET", "/sized_worker/1")).isEqualTo(found("b"));
    gloo("DELETE", "/other/0"); // no room any more: 4 keys
    clock.addAndGet(3_601_000);
    assertThat(gloo("GET", "/other/0")).as("forgotten").isEqualTo(NOT_FOUND);

    gloo("PUT", "/sized_worker/0", "a");
    gloo("PUT", "/sized_worker/1", "b");
    gloo("DELETE", "/sized_worker/0");
    gloo("DELETE", "/sized_worker/1");
    assertThat(gloo("GET", "/sized_worker/0")).as("still readable").isEqualTo(found("a"));
    assertThat(gloo("PUT", "/sized_worker/1", "of the next job")).isEqualTo(OK);
    assertThat(gloo("GET", "/sized_worker/0")).isEqualTo(NOT_FOUND);
  }

  /** Returns the value of one of gloo's ranks: 136 bytes for each other rank. */
  private static String addresses(int worldSize, char life) {
    return String.valueOf(life).repeat(136 * (worldSize - 1));
  }

  /** As gloo's client: PUT the own rank, then GET the others'. */
  private void gloo_rank(String scope, int rank, int worldSize, char life) throws IOException {
    assertThat(gloo("PUT", "/" + scope + "/" + rank, addresses(worldSize, life))).isEqualTo(OK);
  }

  @Test
  void gloo_aRerunBeginsEmpty_whenAllRanksHaveDeleted() throws IOException {
    for (char life = 'a'; life < 'd'; life++) {
      gloo_rank("_worker", 1, 2, life);
      assertThat(gloo("GET", "/_worker/0")).as("whatever rank comes first, in life %s", life).isEqualTo(NOT_FOUND);
      clock.addAndGet(12_000); // for the rank that starts late
      gloo("GET", "/_worker/0");
      gloo_rank("_worker", 0, 2, life);
      assertThat(gloo("GET", "/_worker/0")).isEqualTo(found(addresses(2, life)));
      assertThat(gloo("GET", "/_worker/1")).isEqualTo(found(addresses(2, life)));
      gloo("DELETE", "/_worker/" + life % 2);
      assertThat(gloo("GET", "/_worker/" + life % 2)).as("for the slower one").isEqualTo(found(addresses(2, life)));
      gloo("DELETE", "/_worker/" + (life + 1) % 2);
    }
  }

  @Test
  void gloo_aRerunBeginsEmpty_whenTheRunBeforeWasKilledAndHasDeletedNothing() throws IOException {
    gloo_rank("_worker", 0, 2, 'a');
    gloo_rank("_worker", 1, 2, 'a');
    gloo_rank("_worker", 1, 2, 'b');
    assertThat(gloo("GET", "/_worker/0")).as("of the life before").isEqualTo(NOT_FOUND);
    gloo_rank("_worker", 1, 2, 'b'); // a request that is repeated, as the answer was lost
    gloo_rank("_worker", 0, 2, 'b');
    gloo_rank("_worker", 1, 2, 'b');
    assertThat(gloo("GET", "/_worker/0")).isEqualTo(found(addresses(2, 'b')));
    assertThat(gloo("GET", "/_worker/1")).isEqualTo(found(addresses(2, 'b')));
  }

  @Test
  void gloo_aRerunBeginsEmpty_whenOneRankOfTheRunBeforeHasDeletedAndTheOtherWasKilled() throws IOException {
    gloo_rank("_worker", 0, 2, 'a');
    gloo_rank("_worker", 1, 2, 'a');
    gloo("DELETE", "/_worker/0");
    gloo_rank("_worker", 0, 2, 'a'); // at the same addresses, by chance
    assertThat(gloo("GET", "/_worker/1")).isEqualTo(NOT_FOUND);
  }

  @Test
  void gloo_aRerunBeginsEmpty_whenTheRunBeforeWasKilledBeforeAllHadCome() throws IOException {
    gloo_rank("_worker", 0, 3, 'a');
    gloo("GET", "/_worker/1");
    clock.addAndGet(12_000); // a rank that waits asks every 10 ms
    gloo_rank("_worker", 1, 3, 'b');
    assertThat(gloo("GET", "/_worker/0")).isEqualTo(NOT_FOUND);
    gloo_rank("_worker", 0, 3, 'b');
    gloo_rank("_worker", 2, 3, 'b');
    for (int rank = 0; rank < 3; rank++) {
      assertThat(gloo("GET", "/_worker/" + rank)).isEqualTo(found(addresses(3, 'b')));
    }
  }

  @Test
  void gloo_aRerunOfAnotherSizeBeginsEmpty() throws IOException {
    gloo_rank("_worker", 0, 2, 'a');
    gloo_rank("_worker", 1, 2, 'a');
    gloo_rank("_worker", 2, 3, 'b');
    assertThat(gloo("GET", "/_worker/0")).isEqualTo(NOT_FOUND);
  }

  @Test
  void gloo_stopsByEqualityAsPaddleDoes() {
    HttpStoreConfig config = HttpStoreConfig.defaults().with(s -> s.glooPort(0).launchPort(0)
        .glooSizes(Map.of("trainer", 1, "all", 2)).keys(100).valueBytes(1000).storeBytes(1000));
    GlooKeyValues values = new GlooKeyValues(config, clock::get);
    Condition none = new Condition(null, null);
    assertThat(values.shouldStop()).isFalse();
    for (String path : new String[] {"/trainer/0", "/all/0", "/all/0"}) {
      values.answer("DELETE", path, none, new byte[0]);
      assertThat(values.shouldStop()).isFalse();
    }
    values.answer("DELETE", "/all/1", none, new byte[0]);
    assertThat(values.shouldStop()).isTrue();
    values.answer("DELETE", "/trainer/1", none, new byte[0]);
    assertThat(values.shouldStop()).as("one more than its size").isFalse();
    assertThat(new GlooKeyValues(HttpStoreConfig.defaults(), clock::get).shouldStop()).isTrue();
  }

  @Test
  void launch_setGetByPrefixAndDelete() throws IOException {
    assertThat(launch("GET", "/healthy")).isEqualTo(json("{\"/healthy\": \"ok\"}"));
    assertThat(launch("GET", "/job")).isEqualTo(JSON_NOT_FOUND);
    assertThat(launch("POST", "/job/b/1", "second")).isEqualTo(JSON_OK);
    assertThat(launch("PUT", "/job/a/0", "a \"quoted\"\n\\ b\u00c3\u00a4\u007f")).isEqualTo(JSON_OK); // UTF-8 of ä
    String both = "{\"/job/b/1\": \"second\", \"/job/a/0\": \"a \\\"quoted\\\"\\n\\\\ b\\u00e4\\u007f\"}";
    assertThat(launch("GET", "/job/")).isEqualTo(json(both));
    assertThat(launch("GET", "/job/a")).isEqualTo(json("{" + both.substring(both.indexOf("\"/job/a"))));
    assertThat(launch("GET", "/")).isEqualTo(json("{\"/healthy\": \"ok\", " + both.substring(1)));
    assertThat(launch("POST", "/job/b/1", "third")).isEqualTo(JSON_OK);
    assertThat(launch("GET", "/job/")).isEqualTo(json(both.replace("second", "third")));
    assertThat(launch("DELETE", "/job")).isEqualTo(JSON_NOT_FOUND);
    assertThat(launch("DELETE", "/job/b/1")).isEqualTo(JSON_OK);
    assertThat(launch("DELETE", "/job/b/1")).isEqualTo(JSON_NOT_FOUND);
    assertThat(launch("GET", "/job/b")).isEqualTo(JSON_NOT_FOUND);
    assertThat(launch("POST", "/empty", "")).isEqualTo(JSON_OK);
    assertThat(launch("GET", "/empty")).isEqualTo(json("{\"/empty\": \"\"}"));
  }

  /** A launcher: POSTs its key and asks for all until there are as many as it wants; then it asks no more. */
  private final class Launcher {
    private final String key;
    private String found = "";

    Launcher(String pod, int rank) {
      key = "/default/info/" + pod + "/" + rank;
    }

    /** Runs one round of its loop; returns whether this number of machines is there. */
    boolean meets(int machines) throws IOException {
      assertThat(launch("POST", key, key)).isEqualTo(JSON_OK);
      found = launch("GET", "/default/info").replaceFirst("(?s).*\r\n\r\n", "");
      return found.split("\": \"", -1).length - 1 == machines;
    }
  }

  /** The limit of keys of this server is 4, with that of its health. */
  @Test
  void launch_aRerunWithTheSameJobIdMeets() throws IOException {
    for (int run = 0; run < 3; run++) {
      Launcher a = new Launcher("podaa" + run, run == 1 ? 0 : -1);
      Launcher b = new Launcher("podbb" + run, run == 1 ? 1 : -1);
      assertThat(a.meets(2)).as("alone in run %d: %s", run, a.found).isFalse();
      clock.addAndGet(12_000);
      assertThat(a.meets(2)).as("alone in run %d: %s", run, a.found).isFalse();
      assertThat(b.meets(2)).as("it sees who is waiting once that has asked again").isFalse();
      assertThat(a.meets(2)).as("both in run %d: %s", run, a.found).isTrue();
      assertThat(b.meets(2)).as("both, though the other asks no more: %s", b.found).isTrue();
      assertThat(b.found).contains(a.key, b.key);
    }
  }

  @Test
  void launch_theThirdOfThreeMeetsTheOthers() throws IOException {
    Launcher[] all = {new Launcher("podaaa", -1), new Launcher("podbbb", -1), new Launcher("podccc", -1)};
    boolean met = false;
    for (int turn = 0; turn < 4; turn++) {
      met = all[0].meets(3) & all[1].meets(3) & all[2].meets(3);
    }
    assertThat(met).isTrue();
  }

  @Test
  void launch_otherKeysStayWhereNewOnesCome() throws IOException {
    for (String key : new String[] {"/default/other/pod/0", "/default/info/pod", "/info/0"}) {
      launch("PUT", key, "kept");
      launch("PUT", key + "1", "new");
      assertThat(launch("GET", key)).contains("kept").contains("new");
      launch("DELETE", key);
      launch("DELETE", key + "1");
    }
  }

  @Test
  void launch_textThatIsNoneIsRefusedAndIdleKeysAreForgotten() throws IOException {
    assertThat(launch("PUT", "/k", "\u00ff")).startsWith("HTTP/1.0 400 ").contains("UTF-8");
    launch("PUT", "/old", "1");
    clock.addAndGet(3_000_000);
    launch("PUT", "/new", "2");
    clock.addAndGet(1_000_000);
    assertThat(launch("GET", "/")).isEqualTo(json("{\"/healthy\": \"ok\", \"/new\": \"2\"}"));
  }

  @Test
  void limitsAreKept() throws IOException {
    assertThat(gloo("PUT", "/s/0", "x".repeat(1001))).startsWith("HTTP/1.0 413 Request Entity Too Large\r\n")
        .contains("rendezvous.http.value_bytes 1000");
    assertThat(gloo("PUT", "/s/0", "x".repeat(1000))).isEqualTo(OK);
    assertThat(gloo("PUT", "/s/1", "x".repeat(501))).startsWith("HTTP/1.0 507 ").contains("http.store_bytes 1500");
    assertThat(gloo("PUT", "/s/0", "x".repeat(10))).isEqualTo(OK);
    for (int i = 1; i < 4; i++) {
      assertThat(gloo("PUT", "/s/" + i, "x".repeat(10))).isEqualTo(OK);
    }
    assertThat(gloo("PUT", "/s/4", "")).startsWith("HTTP/1.0 507 ").contains("rendezvous.http.keys");
    assertThat(gloo("DELETE", "/s/4")).startsWith("HTTP/1.0 507 ");
    assertThat(gloo("POST", "/s/0", "")).startsWith("HTTP/1.0 501 ");
  }

  @Test
  void bodiesThatAreOnTheirWayAreCounted_untilTheirConnectionsEnd() throws Exception {
    try (Socket slow = new Socket(InetAddress.getLoopbackAddress(), gloo)) {
      slow.setSoTimeout(20_000);
      slow.getOutputStream().write("PUT /s/0 HTTP/1.1\r\nHost: x\r\nContent-Length: 600\r\n\r\nhalf".getBytes(ISO_8859_1));
      awaitTrue(() -> gloo("PUT", "/s/1", "x".repeat(401)).startsWith("HTTP/1.0 503 "));
      assertThat(gloo("PUT", "/s/1", "x".repeat(401))).contains("600 bytes of other requests").contains("http.store_bytes");
      assertThat(gloo("PUT", "/s/1", "x".repeat(400))).isEqualTo(OK);
      slow.getOutputStream().write("y".repeat(596).getBytes(ISO_8859_1));
      assertThat(new String(slow.getInputStream().readAllBytes(), ISO_8859_1)).isEqualTo(OK);
    }
    assertThat(gloo("PUT", "/s/1", "x".repeat(401))).isEqualTo(OK);
    try (Socket slow = new Socket(InetAddress.getLoopbackAddress(), gloo)) {
      slow.getOutputStream().write("PUT /s/0 HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf".getBytes(ISO_8859_1));
      awaitTrue(() -> gloo("PUT", "/s/1", "x").startsWith("HTTP/1.0 503 "));
    }
    awaitTrue(() -> gloo("PUT", "/s/1", "x").equals(OK));
  }

  @Test
  void launch_anAnswerThatWouldBeTooLongIsRefused_andThatOfOneKeyNever() {
    int value = 3 << 20;
    LaunchKeyValues values = new LaunchKeyValues(HttpStoreConfig.defaults().with(s -> s.glooPort(0).launchPort(0).keys(100)
        .valueBytes(value)), clock::get);
    Condition none = new Condition(null, null);
    byte[] controls = new byte[value];
    Arrays.fill(controls, (byte) 1);
    assertThat(values.answer("PUT", "/job/0", none, controls).status()).isEqualTo(200);
    assertThat(values.answer("PUT", "/job/1", none, "x".repeat(value).getBytes(StandardCharsets.UTF_8)).status()).isEqualTo(200);
    Answer one = values.answer("GET", "/job/0", none, new byte[0]);
    assertThat(one.status()).isEqualTo(200);
    assertThat(one.body()).startsWith("{\"/job/0\": \"\\u0001\\u0001".getBytes(StandardCharsets.US_ASCII))
        .hasSize(6 * value + "{\"/job/0\": \"\"}".length());
    Answer both = values.answer("GET", "/job/", none, new byte[0]);
    assertThat(both.status()).isEqualTo(507);
    assertThat(new String(both.body(), StandardCharsets.UTF_8)).contains("/job/").contains("longer path");
  }

  /** A condition, which only Regatta's own client sets, is evaluated and answered with a tag. */
  @Test
  void aConditionIsLookedAtAndAnsweredWithATag() throws IOException {
    String tag = Condition.tag("1".getBytes(StandardCharsets.UTF_8));
    for (int port : new int[] {gloo, launch}) {
      String put = "PUT /s/k HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n";
      assertThat(exchange(port, put + "If-Match: *\r\n\r\n0")).startsWith("HTTP/1.0 412 ").contains("ETag: \"\"\r\n");
      assertThat(exchange(port, put + "If-None-Match: *\r\n\r\n1")).startsWith("HTTP/1.0 200 ").contains("ETag: " + tag);
      assertThat(exchange(port, put + "If-None-Match: *\r\n\r\n2")).startsWith("HTTP/1.0 412 ").contains("ETag: " + tag);
      assertThat(exchange(port, put + "If-Match: \"other\"\r\n\r\n2")).startsWith("HTTP/1.0 412 ");
      assertThat(exchange(port, put + "If-Match: " + tag + "\r\n\r\n2")).startsWith("HTTP/1.0 200 ");
      String delete = "DELETE /s/k HTTP/1.1\r\nHost: x\r\n";
      assertThat(exchange(port, delete + "If-Match: " + tag + "\r\n\r\n")).startsWith("HTTP/1.0 412 ");
      assertThat(exchange(port, delete + "If-Match: *\r\n\r\n")).startsWith("HTTP/1.0 200 ");
      assertThat(exchange(port, "GET /s/k HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.0 404 ");
    }
  }

  /** Also under names that are open at other ports. */
  @Test
  void whoDoesNotShowTheTokenStoresNothing() throws IOException {
    PeerSecurity security = PeerSecurity.of(null, Token.of("the-token-of-this-job", "a test"));
    HttpStoreConfig config = HttpStoreConfig.defaults().with(s -> s.glooPort(0).launchPort(0)
        .keys(100).valueBytes(1000).storeBytes(1500));
    int closedGloo = get(KeyValueServer.gloo(vertx, "127.0.0.1", config, clock::get, security)).port();
    int closedLaunch = get(KeyValueServer.launch(vertx, "127.0.0.1", config, clock::get, security)).port();
    String token = " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer the-token-of-this-job\r\n\r\n";
    for (String path : new String[] {"/s/k", "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/x"}) {
      String put = "PUT " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/grpc\r\nContent-Length: 1\r\n\r\n1";
      for (int port : new int[] {closedGloo, closedLaunch}) {
        assertThat(send(port, "PUT", path, "1")).startsWith("HTTP/1.0 401 ").contains("without the job's token");
        assertThat(exchange(port, put)).contains("grpc-status: 16", "token");
        assertThat(exchange(port, "GET " + path + token)).startsWith("HTTP/1.0 404 ");
      }
    }
  }

  /** Bodies that trickle in are no idle connections: they would fill the limit of bytes on their way. */
  @Test
  void aValueThatDoesNotArriveInTimeIsRefused_andMakesRoom() throws Exception {
    HttpStoreConfig config = HttpStoreConfig.defaults().with(s -> s.glooPort(0).launchPort(0).valueBytes(1000)
        .storeBytes(1500));
    KeyValueServer server = new KeyValueServer(vertx, new GlooKeyValues(config, clock::get), config, PeerSecurity.NONE,
        300);
    int port = get(server.listen(vertx, "127.0.0.1", 0, "a test")).port();
    try (Socket slow = new Socket(InetAddress.getLoopbackAddress(), port)) {
      slow.setSoTimeout(20_000);
      slow.getOutputStream().write("PUT /s/slow HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
          .getBytes(ISO_8859_1));
      vertx.setPeriodic(30, id -> {
        try {
          slow.getOutputStream().write('x');
        } catch (IOException closed) {
          vertx.cancelTimer(id);
        }
      });
      assertThat((char) slow.getInputStream().read()).as("of an answer").isEqualTo('H');
      awaitTrue(() -> send(port, "PUT", "/s/k", "x").equals(OK));
      assertThat(send(port, "GET", "/s/slow", "")).isEqualTo(NOT_FOUND);
    }
  }
}
