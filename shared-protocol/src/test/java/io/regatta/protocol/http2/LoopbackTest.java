package io.regatta.protocol.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.epoll.Epoll;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.impl.ConnectionBase;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Connections within this machine are not paced, others are left as they are. */
class LoopbackTest {
  private static final int MAX_FRAME = 16_384;

  @Test
  void a_connection_stays_here_by_its_addresses() throws Exception {
    assertThat(Loopback.joins(at("127.0.0.1"), at("127.0.0.1"))).isTrue();
    assertThat(Loopback.joins(at("::1"), at("::1"))).isTrue();
    assertThat(Loopback.joins(at("192.0.2.7"), at("192.0.2.7"))).as("a host's own address").isTrue();
    assertThat(Loopback.joins(at("192.0.2.7"), at("192.0.2.8"))).isFalse();
    assertThat(Loopback.joins(null, at("192.0.2.8"))).isFalse();
    assertThat(Loopback.joins(at("192.0.2.7"), null)).isFalse();
  }

  private static InetSocketAddress at(String address) throws Exception {
    return new InetSocketAddress(InetAddress.getByName(address), 1);
  }

  @Test
  void a_lane_on_such_a_connection_is_not_paced() throws Exception {
    Vertx vertx = Vertx.vertx(new VertxOptions().setPreferNativeTransport(true));
    try {
      int port = vertx.createHttpServer().requestHandler(r -> r.response().end()).listen(0, "127.0.0.1")
          .toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS).actualPort();
      HttpClient client = vertx.createHttpClient(new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2)
          .setHttp2ClearTextUpgrade(false));
      Channel channel = client.request(HttpMethod.POST, port, "127.0.0.1", "/")
          .compose(r -> DataLane.install(r.connection(), MAX_FRAME).map(((ConnectionBase) r.connection()).channel()))
          .toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
      assertThat(control(channel)).isEqualTo(Epoll.isAvailable() ? "reno" : "as it is");
      client.close();
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }
  }

  private static String control(Channel channel) {
    ByteBuffer told = channel.config().getOption(Loopback.CONTROL);
    return told == null ? "as it is" : StandardCharsets.US_ASCII.decode(told).toString();
  }
}
