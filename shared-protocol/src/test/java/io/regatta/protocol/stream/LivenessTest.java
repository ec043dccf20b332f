package io.regatta.protocol.stream;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Promise;
import io.vertx.core.net.NetServer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Waiting has no limit while the peer lives; a peer that is frozen or cut off is noticed by both ends. */
class LivenessTest {
  private static final String PATH = "/regatta.Test/Exchange";
  private static final StreamOptions QUICK = StreamOptions.defaults().with(s -> s.pingIntervalMillis(20).pingTimeoutMillis(300));
  private static final StreamOptions SILENT = StreamOptions.defaults().with(s -> s.pingIntervalMillis(0).pingTimeoutMillis(1));

  private final Loop loop = new Loop();

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  @Test
  void a_client_notices_a_frozen_server() throws Exception {
    int port = loop.serve(PATH, SILENT, s -> s.handler(f -> { })).actualPort();
    FreezableProxy proxy = new FreezableProxy(loop.vertx, port);
    Promise<RegattaException> failed = Promise.promise();
    Promise<RegattaException> other = Promise.promise();
    TensorStreamClient client = new TensorStreamClient(loop.vertx, QUICK);
    for (Promise<RegattaException> p : List.of(failed, other)) {
      get(loop.on(() -> client.open("127.0.0.1", proxy.port(), PATH)
          .onSuccess(s -> s.exceptionHandler(p::complete).handler(f -> { }))));
    }
    proxy.freeze();
    assertThat(get(failed.future())).isInstanceOf(PeerLost.class)
        .hasMessageContaining("127.0.0.1:" + proxy.port()).hasMessageContaining("has not answered for 300 ms");
    assertThat(get(other.future())).isInstanceOf(PeerLost.class).hasMessageContaining("has not answered for");
  }

  @Test
  void a_server_notices_a_frozen_client() throws Exception {
    Promise<RegattaException> failed = Promise.promise();
    Promise<Void> here = Promise.promise();
    int port = loop.serve(PATH, QUICK, s -> {
      s.exceptionHandler(failed::complete).handler(f -> here.complete());
    }).actualPort();
    FreezableProxy proxy = new FreezableProxy(loop.vertx, port);
    loop.open(proxy.port(), PATH, SILENT, s -> {
      s.handler(f -> { });
      s.send(TensorFrame.of(TensorMessage.getDefaultInstance()));
    });
    get(here.future());
    proxy.freeze();
    assertThat(get(failed.future())).isInstanceOf(PeerLost.class).hasMessageContaining("127.0.0.1");
  }

  @Test
  void waiting_for_longer_than_the_timeout_is_no_failure_while_the_peer_lives() throws Exception {
    StreamOptions options = StreamOptions.defaults().with(s -> s.pingIntervalMillis(10).pingTimeoutMillis(100));
    // The server answers only after many times the limit for a sign of life; the client has nothing to send meanwhile.
    int port = loop.serve(PATH, options, s -> s.handler(f -> loop.vertx.setTimer(600, t -> s.send(f)))).actualPort();
    Promise<TensorFrame> answer = Promise.promise();
    loop.open(port, PATH, options, s -> {
      s.exceptionHandler(answer::tryFail).handler(answer::complete);
      s.send(TensorFrame.of(TensorMessage.newBuilder().setRequest(7).build()));
    });
    assertThat(get(answer.future()).header().getRequest()).isEqualTo(7);
  }

  @Test
  void a_peer_that_accepts_and_never_speaks_is_given_up_in_bounded_time() throws Exception {
    NetServer mute = get(loop.vertx.createNetServer().connectHandler(s -> s.pause()).listen(0, "127.0.0.1"));
    StreamOptions hasty = StreamOptions.defaults()
        .with(s -> s.pingIntervalMillis(50).pingTimeoutMillis(200).connectTimeoutMillis(300));
    assertThatThrownBy(() -> loop.open(mute.actualPort(), PATH, hasty, s -> { })).isInstanceOf(PeerLost.class)
        .hasMessageContaining("127.0.0.1:" + mute.actualPort());
  }
}
