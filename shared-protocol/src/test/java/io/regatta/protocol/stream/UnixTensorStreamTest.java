package io.regatta.protocol.stream;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.PeerLost;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpServer;
import java.io.BufferedReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

  /** A process with a directory of its own, which it opens to others between two streams; says which way each came. */
  static final class Apart {
    public static void main(String[] args) throws Exception {
      UnixTensorStreamTest test = new UnixTensorStreamTest();
      for (String permissions : List.of("rwx------", "rwxrwxrwx")) {
        Promise<TensorStream> taken = Promise.promise();
        HttpServer server = test.loop.serve(PATH, test.options, taken::tryComplete);
        Path directory = Path.of(HostSocket.address("127.0.0.1", server.actualPort()).path()).getParent();
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString(permissions));
        System.out.println(test.opensOverTcp(server, taken, test.options) ? "tcp" : "unix");
      }
      test.close();
    }
  }

  /** In a process of its own: all others of this user would do without their sockets meanwhile. */
  @Test
  void a_directory_that_others_can_write_to_is_not_trusted(@TempDir Path directory) throws Exception {
    Process apart = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Djava.io.tmpdir=" + directory, "-cp", System.getProperty("java.class.path"), Apart.class.getName())
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (BufferedReader out = apart.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.lines().filter(line -> line.matches("tcp|unix"))).containsExactly("unix", "tcp");
    } finally {
      apart.destroyForcibly();
    }
  }

  @Test
  void what_a_killed_process_has_left_is_passed_over_and_replaced() throws Exception {
    Promise<TensorStream> taken = Promise.promise();
    HttpServer server = loop.serve(PATH, options, taken::tryComplete);
    loop.closeLocal(); // it listens at its port alone
    Path file = Path.of(HostSocket.address("127.0.0.1", server.actualPort()).path());
    try (ServerSocketChannel killed = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      killed.bind(UnixDomainSocketAddress.of(file)); // closing it leaves the file, as a kill does
    }
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
