package io.regatta.fleet.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.api.Test;

/** A port that is held goes to the server that asks for it, and to nobody else. */
class ReservedPortsTest {

  private static final String HOST = "127.0.0.1";

  @Test
  void a_server_can_listen_where_a_port_is_held_and_is_reached() throws Exception {
    try (ReservedPorts ports = new ReservedPorts(); ServerSocket server = new ServerSocket()) {
      int port = ports.any(HOST, 1);
      server.setReuseAddress(true);
      server.bind(new InetSocketAddress(HOST, port));
      try (Socket client = new Socket(HOST, port)) {
        assertThat(client.isConnected()).isTrue();
      }
    }
  }

  @Test
  void ports_that_follow_each_other_are_held_together() {
    try (ReservedPorts ports = new ReservedPorts()) {
      int first = ports.any(HOST, 3);
      int other = ports.any(HOST, 1);
      assertThat(other).isNotIn(first, first + 1, first + 2);
    }
  }

  @Test
  void a_port_that_somebody_listens_on_is_refused() throws Exception {
    try (ReservedPorts ports = new ReservedPorts(); ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName(HOST))) {
      assertThatThrownBy(() -> ports.exactly(HOST, taken.getLocalPort(), "server 0")).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("server 0 cannot have port " + taken.getLocalPort());
    }
  }
}
