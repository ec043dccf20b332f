package io.regatta.fleet;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;
import io.regatta.protocol.testing.HostileClient;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Random;
import net.jqwik.api.sessions.JqwikSession;
import org.junit.jupiter.api.Test;

/** The mutated traffic of an attack sees ports that hang, and its calls carry the token that they are given. */
class MutatedTrafficTest {

  private static final int END_HEADERS = 4;

  @Test
  void names_a_port_that_leaves_connections_open() throws Exception {
    Recording request = Recording.of("GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(US_ASCII));
    try (ServerSocket hanging = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      JqwikSession.run(() -> {
        try (MutatedTraffic traffic = new MutatedTraffic(List.of(request), Connector.TCP, 200)) {
          traffic.send(List.of(hanging.getLocalPort()), 1, new Random(7));
          assertThat(traffic.late()).containsOnlyKeys(hanging.getLocalPort());
        }
      });
    }
  }

  /** The second header list refers to the first one, as those of one connection do. */
  @Test
  void gives_each_recorded_call_another_authorization() throws Exception {
    DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
    byte[] connection = HostileClient.join(HostileClient.hello(), headers(encoder, 1, "/first"),
        headers(encoder, 3, "/second"));
    List<byte[]> frames = Recording.of(connection).withAuthorization("Bearer new").frames();
    assertThat(frames).hasSize(4);
    for (int i = 2; i < 4; i++) {
      byte[] frame = frames.get(i);
      Http2Headers headers = new DefaultHttp2HeadersDecoder().decodeHeaders(1,
          Unpooled.wrappedBuffer(frame, 9, frame.length - 9));
      assertThat(headers.path()).hasToString(i == 2 ? "/first" : "/second");
      assertThat(headers.getAll("authorization")).singleElement().hasToString("Bearer new");
      assertThat(headers.get("x-more")).hasToString("kept");
    }
  }

  private static byte[] headers(DefaultHttp2HeadersEncoder encoder, int stream, String path) throws Exception {
    ByteBuf block = Unpooled.buffer();
    encoder.encodeHeaders(stream, new DefaultHttp2Headers().method("POST").path(path).scheme("http").authority("a")
        .add("authorization", "Bearer old").add("x-more", "kept"), block);
    return HostileClient.frame(Http2FrameTypes.HEADERS, END_HEADERS, stream, ByteBufUtil.getBytes(block));
  }
}
