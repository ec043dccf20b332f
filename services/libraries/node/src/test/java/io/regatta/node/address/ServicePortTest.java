package io.regatta.node.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.testing.FreePorts;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ServicePortTest {

  private static final String HOST = "127.0.0.1";
  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void close() throws Exception {
    get(vertx.close());
  }

  @Test
  void twoServicesOfOneVertxDoNotShareAPort() throws Exception {
    int port = FreePorts.one();
    ServicePort first = get(listen(port, "shard 0"));
    assertThat(first.port()).isEqualTo(port);
    assertThatThrownBy(() -> get(listen(port, "shard 1"))).isInstanceOf(InvalidInput.class)
        .hasMessage("shard 1 cannot listen on 127.0.0.1:" + port
            + ": it is held by shard 0 of this process; give another some.port, or 0 for any free one");
    get(first.shutdown(10));
    get(get(listen(port, "shard 1")).shutdown(10));
  }

  @Test
  void aPortOfSomebodyElseIsNamed() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getByName(HOST))) {
      int port = other.getLocalPort();
      assertThatThrownBy(() -> get(listen(port, "shard 0"))).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("shard 0 cannot listen on 127.0.0.1:" + port).hasMessageContaining("some.port");
      other.close();
      get(get(listen(port, "shard 0")).shutdown(10));
    }
  }

  @Test
  void anyNumberOfServicesListenOnAnyPort() throws Exception {
    assertThat(get(listen(0, "a")).port()).isNotEqualTo(get(listen(0, "b")).port());
  }

  private Future<ServicePort> listen(int port, String service) {
    return ServicePort.listen(vertx, () -> vertx.createHttpServer().requestHandler(r -> r.response().end()), HOST, port, service, "some.port");
  }

  private static <T> T get(Future<T> future) throws Exception {
    try {
      return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw (Exception) e.getCause();
    }
  }
}
