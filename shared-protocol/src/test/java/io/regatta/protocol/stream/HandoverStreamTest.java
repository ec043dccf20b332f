package io.regatta.protocol.stream;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.PeerLost;
import io.vertx.core.Promise;
import org.junit.jupiter.api.Test;

/** In-process streams within one JVM. */
class HandoverStreamTest extends TensorStreamContract {

  HandoverStreamTest() {
    super(Transport.AUTO);
  }

  @Test
  void they_are_taken_where_both_ends_allow_them_only() throws Exception {
    int byHand = serve(s -> s.handler(f -> { }));
    int network = loop.serve(PATH, options.withTransport(Transport.GRPC), s -> s.handler(f -> { })).actualPort();
    assertThat(loop.open(byHand, PATH, options, s -> { })).isInstanceOf(HandoverStream.class);
    assertThat(loop.open(byHand, PATH, options.withTransport(Transport.GRPC), s -> { }))
        .isInstanceOf(HttpTensorStream.class);
    assertThat(loop.open(network, PATH, options, s -> { })).isInstanceOf(HttpTensorStream.class);
  }

  @Test
  void a_service_that_closes_breaks_its_streams_and_is_found_no_more() throws Exception {
    Promise<RegattaException> server = Promise.promise();
    int port = serve(s -> s.exceptionHandler(server::tryComplete).handler(f -> { })); // of the second stream, too
    Promise<RegattaException> client = Promise.promise();
    loop.open(port, PATH, options, s -> s.exceptionHandler(client::complete).handler(f -> { }));
    loop.closeLocal();
    assertThat(get(client.future())).isInstanceOf(PeerLost.class).hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("has closed");
    assertThat(get(server.future())).isInstanceOf(PeerLost.class);
    assertThat(loop.open(port, PATH, options, s -> { })).as("the network is there still")
        .isInstanceOf(HttpTensorStream.class);
  }

  @Test
  void a_client_whose_vertx_is_gone_is_lost_and_hinders_nobody() throws Exception {
    Promise<TensorStream> served = Promise.promise();
    Promise<RegattaException> lost = Promise.promise();
    int port = serve(s -> {
      s.exceptionHandler(lost::complete).handler(f -> { });
      served.complete(s);
    });
    try (Loop other = new Loop()) {
      assertThat(other.open(port, PATH, options, s -> { })).isInstanceOf(HandoverStream.class);
    }
    TensorStream stream = get(served.future());
    assertThatThrownBy(() -> get(loop.on(() -> stream.send(frame(1))))).isInstanceOf(PeerLost.class)
        .hasMessageContaining("event loop is gone");
    assertThat(get(lost.future())).isInstanceOf(PeerLost.class);
    loop.closeLocal();
  }
}
