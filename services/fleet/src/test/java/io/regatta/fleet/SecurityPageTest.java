package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.TlsFiles;
import io.regatta.protocol.security.Token;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** docs/security.md: the commands that make certificates and token make some that Regatta takes. */
class SecurityPageTest {

  private static final int SECONDS = 60;

  @TempDir
  Path dir;

  @Test
  void keys_that_are_made_as_it_says_let_each_other_in() throws Exception {
    assumeTrue(runs("openssl version"), "no openssl here");
    String commands = Checkout.text("docs/security.md").replaceAll("(?s).*```sh\\n(.*?)```.*", "$1");
    assertThat(runs(commands)).as(Files.readString(dir.resolve("said"))).isTrue();
    Token token = Token.of(Files.readString(dir.resolve("token")).strip(), "the file");
    PeerSecurity security = PeerSecurity.of(
        new TlsFiles(dir.resolve("tls.crt"), dir.resolve("tls.key"), dir.resolve("ca.crt"), true, true), token);
    Vertx vertx = Vertx.vertx();
    try {
      HttpServer server = security.server(vertx, new HttpServerOptions()).requestHandler(security.guard(call -> call.response().end()))
          .listen(0, "127.0.0.1").await(SECONDS, TimeUnit.SECONDS);
      HttpClient client = vertx.createHttpClient(security.client(new HttpClientOptions()));
      HttpClientResponse answer = client.request(HttpMethod.GET, server.actualPort(), "127.0.0.1", "/")
          .compose(call -> call.putHeader(Token.HEADER, token.headerValue()).send()).eventually(client::close).await(SECONDS, TimeUnit.SECONDS);
      assertThat(answer.statusCode()).isEqualTo(200);
    } finally {
      vertx.close().await(SECONDS, TimeUnit.SECONDS);
    }
  }

  private boolean runs(String commands) throws IOException, InterruptedException {
    Process bash = new ProcessBuilder("bash", "-e", "-c", commands).directory(dir.toFile()).redirectErrorStream(true)
        .redirectOutput(dir.resolve("said").toFile()).start();
    return bash.waitFor(SECONDS, TimeUnit.SECONDS) && bash.exitValue() == 0;
  }
}
