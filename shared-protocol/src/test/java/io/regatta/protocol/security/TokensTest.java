package io.regatta.protocol.security;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.stream.Loop;
import io.vertx.core.http.HttpServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Several tokens: what each may do and until when, and how they are replaced while processes run. */
class TokensTest {
  private static final String A = "the-token-of-january";
  private static final String B = "the-token-of-february";

  private final Loop loop = new Loop();

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  private static Token token(String text) {
    return Token.of(text, "a test");
  }

  @Test
  void a_file_holds_a_token_alone_or_lines() {
    Tokens alone = Tokens.parse("\n" + A + "\n", "f");
    assertThat(alone).isEqualTo(Tokens.of(token(A))).hasToString("a token");
    Tokens two = Tokens.parse("# of the job\n\njanuary " + A + " expires=2026-02-01\nfebruary\t" + B
        + " roles=member,monitor\n", "f");
    assertThat(two).hasToString("the tokens january (until 2026-02-01T00:00:00Z), february");
    assertThat(two.all()).containsExactly(token(A), token(B));
    assertThat(two.toString()).doesNotContain(A, B);
    long end = 1_769_904_000_000L;
    assertThat(two.shown(end - 1)).isEqualTo(token(A));
    assertThat(two.shown(end)).as("the first that has not expired").isEqualTo(token(B));
    assertThat(Tokens.parse("a " + A + " expires=2026-02-01T00:00:00Z", "f").shown(end)).as("never none")
        .isEqualTo(token(A));
  }

  @Test
  void what_is_wrong_is_said_with_its_line_and_without_the_token() {
    refused("", "f holds no token");
    refused("# nothing\n", "f holds no token");
    refused("short", "f: a token has 16");
    refused("a " + A + "\nb", "f, line 2: expected NAME TOKEN");
    refused("a/b " + A, "f, line 1: expected NAME TOKEN");
    refused("a " + A + " roles=master", "f, line 1: a role is member, monitor or predict");
    refused("a " + A + " expires=soon", "f, line 1: expires= takes a date");
    refused("a " + A + " " + B, "f, line 1: expected roles=");
    refused("a " + A + "\na " + B, "f: the name or the token of a stands there twice");
    refused("a " + A + "\nb " + A, "stands there twice");
    refused("a b", "f, line 1: a token has 16");
    StringBuilder many = new StringBuilder();
    for (int i = 0; i < 65; i++) {
      many.append("n").append(i).append(" a-token-of-many-").append(i).append('\n');
    }
    refused(many.toString(), "at most 64");
  }

  private static void refused(String text, String words) {
    assertThatThrownBy(() -> Tokens.parse(text, "f")).isInstanceOf(InvalidInput.class).hasMessageContaining(words)
        .hasMessageNotContaining(A).hasMessageNotContaining(B).message().doesNotContain("\n");
  }

  private int serve(PeerSecurity security) throws Exception {
    HttpServer server = get(loop.vertx.createHttpServer().requestHandler(security.guard(r -> r.response().end("in")))
        .listen(0, "127.0.0.1"));
    return server.actualPort();
  }

  private static HttpResponse<String> call(int port, String path, String token) throws Exception {
    return HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .header("Authorization", "Bearer " + token).build(), HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void a_token_may_do_what_its_roles_say_until_it_expires() throws Exception {
    int port = serve(PeerSecurity.of(null, Tokens.parse("job " + A
        + "\nprometheus the-token-of-prometheus roles=monitor\n"
        + "web the-token-of-the-web-shop roles=predict,monitor\nold the-token-of-last-year expires=2020-01-01\n"
        + "next the-token-of-the-next-one expires=2999-01-01", "f"), null));
    assertThat(call(port, "/regatta.Rendezvous/Leave", A).body()).isEqualTo("in");
    assertThat(call(port, "/metrics?x=1", "the-token-of-prometheus").body()).isEqualTo("in");
    assertThat(call(port, "/regatta.ParameterServer/Status", "the-token-of-prometheus").body()).isEqualTo("in");
    for (String path : new String[] {"/regatta.Rendezvous/Leave", "/regatta.ParameterShard/Save", "/predict",
        "/metrics/x", "/"}) {
      HttpResponse<String> answer = call(port, path, "the-token-of-prometheus");
      assertThat(answer.statusCode()).as(path).isEqualTo(401);
      assertThat(answer.body()).contains("its token prometheus has no role");
    }
    assertThat(call(port, "/predict", "the-token-of-the-web-shop").body()).isEqualTo("in");
    assertThat(call(port, "/predict", "the-token-of-the-next-one").body()).isEqualTo("in");
    assertThat(call(port, "/metrics", "the-token-of-last-year").body()).contains("whose token old has expired");
    assertThat(call(port, "/metrics", "a-token-of-nobody").body()).contains("another token than the job's");
  }

  /** In the order that docs/security.md gives: the new one is known everywhere before anybody shows it. */
  @Test
  void tokens_are_replaced_while_processes_run() throws Exception {
    AtomicReference<String> file = new AtomicReference<>("a " + A);
    PeerSecurity security = PeerSecurity.of(null, Tokens.parse(file.get(), "f"), () -> Tokens.parse(file.get(), "f"));
    int port = serve(security);
    assertThat(security.token()).isEqualTo(token(A));
    assertThat(call(port, "/x", B).statusCode()).isEqualTo(401);
    file.set("a " + A + "\nb " + B);
    security.reloadTokens();
    assertThat(security.token()).isEqualTo(token(A));
    assertThat(security.withoutTls().token()).isEqualTo(token(A));
    assertThat(call(port, "/x", A).statusCode()).isEqualTo(200);
    assertThat(call(port, "/x", B).statusCode()).isEqualTo(200);
    for (String broken : new String[] {"", "b " + B + " roles=nobody"}) {
      file.set(broken);
      security.reloadTokens();
      assertThat(call(port, "/x", A).statusCode()).as("what was read before is used on").isEqualTo(200);
      assertThat(call(port, "/x", "").statusCode()).isEqualTo(401);
    }
    file.set("b " + B);
    security.reloadTokens();
    assertThat(security.token()).isEqualTo(token(B));
    assertThat(call(port, "/x", A).statusCode()).isEqualTo(401);
    assertThat(call(port, "/x", B).statusCode()).isEqualTo(200);
  }

  @Test
  void a_process_shows_the_next_token_when_its_first_expires() {
    AtomicLong wall = new AtomicLong();
    LiveTokens tokens = new LiveTokens(Tokens.parse("a " + A + " expires=1970-01-02\nb " + B, "f"), null, wall::get);
    assertThat(tokens.shown()).isEqualTo(token(A));
    wall.set(86_400_000);
    assertThat(tokens.shown()).isEqualTo(token(B));
  }
}
