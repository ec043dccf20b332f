package io.regatta.protocol.stream;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.PeerLost;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpServer;
import io.vertx.core.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;

/** Streams between processes of one machine, on the socket that a service has beside its port. */
class UnixTensorStreamTest extends TensorStreamContract {

  UnixTensorStreamTest() {
    super(Transport.GRPC_UNIX);
  }

  /** Which way a stream has come: the peer of a Unix domain socket has no port. */
  private static boolean isTcp(TensorStream stream) {
    return stream.peer().matches(".*127\\.0\\.0\\.1:\\d+");
  }

  private boolean opensOverTcp(HttpServer server, Promise<TensorStream> taken, StreamOptions client) throws Exception {
    TensorStream stream = loop.open(server.actualPort(), PATH, client, s -> { });
    boolean tcp = isTcp(get(taken.future()));
    loop.context.runOnContext(v -> stream.end());
    return tcp;
  }

  @Test
  void both_ends_allow_the_socket_or_it_is_tcp() throws Exception {
    Promise<TensorStream> first = Promise.promise();
    HttpServer server = loop.serve(PATH, options, first::tryComplete);
    assertThat(loop.sockets()).isOne();
    assertThat(opensOverTcp(server, first, options)).isFalse();
    Promise<TensorStream> second = Promise.promise();
    HttpServer again = loop.serve(PATH, options, second::tryComplete);
    assertThat(opensOverTcp(again, second, options.withTransport(Transport.GRPC))).isTrue();
    Promise<TensorStream> third = Promise.promise();
    HttpServer tcp = loop.serve(PATH, options.withTransport(Transport.GRPC), third::tryComplete);
    assertThat(loop.sockets()).isEqualTo(2);
    assertThat(opensOverTcp(tcp, third, options)).isTrue();
  }

  @Test
  void the_socket_is_the_users_alone_and_goes_with_its_service() throws Exception {
    Path file;
    try (Loop other = new Loop()) {
      HttpServer server = other.serve(PATH, options, s -> { });
      file = Path.of(HostSocket.address("127.0.0.1", server.actualPort()).path());
      assertThat(file).exists();
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent()))).isEqualTo("rwx------");
    }
    assertThat(file).doesNotExist();
  }

  @Test
  void a_directory_that_others_can_write_to_is_not_trusted() throws Exception {
    Promise<TensorStream> taken = Promise.promise();
    HttpServer server = loop.serve(PATH, options, taken::tryComplete);
    Path directory = Path.of(HostSocket.address("127.0.0.1", server.actualPort()).path()).getParent();
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
    try {
      assertThat(opensOverTcp(server, taken, options)).isTrue();
    } finally {
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
    }
  }

  @Test
  void what_a_killed_process_has_left_is_passed_over_and_replaced() throws Exception {
    Promise<TensorStream> taken = Promise.promise();
    HttpServer server = loop.serve(PATH, options.withTransport(Transport.GRPC), taken::tryComplete);
    Path file = Path.of(HostSocket.address("127.0.0.1", server.actualPort()).path());
    HttpServer killed = get(loop.vertx.createHttpServer(options.serverOptions()).requestHandler(r -> { })
        .listen(SocketAddress.domainSocketAddress(file + "x")));
    Files.move(Path.of(file + "x"), file); // closing it leaves the file, as a kill does
    get(killed.close());
    assertThat(file).exists();
    assertThat(opensOverTcp(server, taken, options)).isTrue();
    HostSocket socket = get(loop.on(() -> HostSocket.listen(loop.vertx, at -> loop.vertx.createHttpServer()
        .requestHandler(r -> { }), "127.0.0.1", server.actualPort(), options)));
    assertThat(socket).isNotNull();
    get(socket.shutdown(loop.vertx, 0));
  }

  @Test
  void nobody_at_either_is_a_lost_peer() throws Exception {
    HttpServer server = loop.serve(PATH, options.withTransport(Transport.GRPC), s -> { });
    int port = server.actualPort();
    get(server.close());
    assertThatThrownBy(() -> loop.open(port, PATH, options, s -> { })).isInstanceOf(PeerLost.class)
        .hasMessageContaining("127.0.0.1:" + port);
  }
}
