package io.regatta.protocol.stream;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.testing.UnusedPort;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpServer;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The contract of streams over HTTP/2 connections: many of them, and peers of other kinds. */
abstract class HttpStreamContract extends TensorStreamContract {

  HttpStreamContract(Transport transport) {
    super(transport);
  }

  HttpStreamContract(Transport transport, PeerSecurity security) {
    super(transport, security);
  }

  @Test
  void many_streams_share_one_connection_and_none_disturbs_another() throws Exception {
    int streams = 200;
    List<Integer> connections = new ArrayList<>();
    int port = serve(s -> {
      connections.add(Integer.valueOf(s.peer().substring(s.peer().lastIndexOf(':') + 1)));
      s.endHandler(v -> s.end()).handler(f -> {
        if (f.header().getRequest() % 3 == 0) {
          s.fail(new Overloaded("every third"));
        } else {
          s.send(f);
        }
      });
    });
    TensorStreamClient client = new TensorStreamClient(loop.vertx, options);
    List<Future<Long>> answers = new ArrayList<>();
    for (int i = 0; i < streams; i++) {
      int request = i;
      Promise<Long> answer = Promise.promise();
      answers.add(answer.future());
      loop.on(() -> client.open("127.0.0.1", port, PATH).onFailure(answer::tryFail).onSuccess(s -> {
        s.exceptionHandler(answer::tryFail).handler(f -> answer.complete(f.header().getRequest()));
        s.send(TensorFrame.of(TensorMessage.newBuilder().setRequest(request).build()));
      }));
    }
    for (int i = 0; i < streams; i++) {
      if (i % 3 == 0) {
        Future<Long> refused = answers.get(i);
        assertThatThrownBy(() -> get(refused)).isInstanceOf(Overloaded.class).hasMessage("every third");
      } else {
        assertThat(get(answers.get(i))).isEqualTo(i);
      }
    }
    assertThat(connections).as("remote ports seen by the server").hasSize(streams);
    assertThat(connections.stream().distinct()).hasSize(1);
  }

  @Test
  void a_text_too_long_for_a_header_is_cut_and_the_connection_lives() throws Exception {
    int port = serve(s -> s.handler(f -> s.fail(new InvalidInput("ü".repeat(50_000)))));
    for (int i = 0; i < 2; i++) {
      assertThat(failure(port, s -> s.send(frame(1)))).isInstanceOf(InvalidInput.class).hasMessageStartingWith("üüü")
          .hasMessageEndingWith("...");
    }
  }

  @Test
  void a_port_that_speaks_something_else_is_named() throws Exception {
    int port = serve(s -> s.handler(f -> { }));
    Promise<RegattaException> failed = Promise.promise();
    loop.open(port, "/other.Service/Call", options, s -> s.exceptionHandler(failed::complete).handler(f -> { }));
    assertThat(get(failed.future())).isInstanceOf(InvalidInput.class).hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("there is no method /other.Service/Call");
  }

  @Test
  void a_server_that_stops_is_named() throws Exception {
    HttpServer server = loop.serve(PATH, options, s -> s.handler(f -> { }));
    int port = server.actualPort();
    Promise<RegattaException> failed = Promise.promise();
    loop.open(port, PATH, options, s -> s.exceptionHandler(failed::complete).handler(f -> { }));
    get(server.close());
    assertThat(get(failed.future())).isInstanceOf(PeerLost.class).hasMessageContaining("127.0.0.1:" + port);
  }

  @Test
  void a_port_where_nobody_listens_is_named() throws Exception {
    try (UnusedPort unused = new UnusedPort()) {
      int port = unused.number();
      assertThatThrownBy(() -> loop.open(port, PATH, options, s -> { })).isInstanceOf(PeerLost.class)
          .hasRootCauseInstanceOf(ConnectException.class).hasMessageContaining("127.0.0.1:" + port);
    }
  }
}
