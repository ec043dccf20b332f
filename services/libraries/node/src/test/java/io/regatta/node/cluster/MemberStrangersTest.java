package io.regatta.node.cluster;

import static io.regatta.node.cluster.TlsMembers.TOKEN;
import static io.regatta.node.cluster.TlsMembers.assertClosed;
import static io.regatta.node.cluster.TlsMembers.handshake;
import static io.regatta.node.cluster.TlsMembers.sizeAt;
import static io.regatta.node.cluster.TlsMembers.tls;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.Node;
import io.regatta.node.TlsConfig;
import io.regatta.protocol.testing.Certificates.Pem;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Strangers at Hazelcast's port are refused, named once, and keep no member out. */
class MemberStrangersTest extends CertifiedMembers {

  private static Pem ofAnotherCa;
  private static Pem expired;

  /** Makes the strangers' certificates, which takes seconds: none is made while a connection's time runs. */
  @BeforeAll
  static void certifyStrangers() {
    ofAnotherCa = certificates.issue("other-ca", "stranger");
    expired = certificates.issueExpired("ca", "expired");
  }

  /** Without TLS and token anybody may become a member, and still nobody keeps a connection for one byte. */
  @Test
  void whoDoesNotBeginAsAMemberIsNotAdmitted() throws IOException {
    members.start(members.port(), null, "", dir);
    Socket slow = members.connect();
    Socket other = members.connect();
    slow.getOutputStream().write('H');
    other.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    assertClosed(other);
    assertClosed(slow);
    assertThat(members.lines()).hasSize(2).first().asString()
        .contains("does not speak the protocol of Hazelcast's members");
  }

  /** Behaviour of a stranger on a connection, which it leaves open for the other side to close. */
  private enum Stranger {
    SILENT(""),
    HALF_A_HANDSHAKE("") {
      @Override
      void speak(Socket socket) throws Exception {
        socket.getOutputStream().write(new byte[] {22, 3, 1, 1, 0, 1, 0, 0, (byte) 0xfc, 3, 3});
      }
    },
    RUBBISH_IN_TLS("refused a connection") {
      @Override
      void speak(Socket socket) throws Exception {
        socket.getOutputStream().write(new byte[] {22, 3, 3, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8});
      }
    },
    PLAIN_HAZELCAST("does not speak TLS") {
      @Override
      void speak(Socket socket) throws Exception {
        socket.getOutputStream().write("HZC".getBytes(StandardCharsets.US_ASCII));
      }
    },
    PLAIN_HTTP("does not speak TLS") {
      @Override
      void speak(Socket socket) throws Exception {
        socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      }
    },
    NO_CERTIFICATE("refused a connection") {
      @Override
      void speak(Socket socket) throws Exception {
        handshake(socket, null, SecureChannel.APPLICATION);
      }
    },
    ANOTHER_CA("refused a connection") {
      @Override
      void speak(Socket socket) throws Exception {
        handshake(socket, ofAnotherCa, SecureChannel.APPLICATION);
      }
    },
    EXPIRED("refused a connection") {
      @Override
      void speak(Socket socket) throws Exception {
        handshake(socket, expired, SecureChannel.APPLICATION);
      }
    },
    ANOTHER_PROTOCOL_IN_TLS("refused a connection") {
      @Override
      void speak(Socket socket) throws Exception {
        handshake(socket, pem, "h2");
      }
    },
    NO_PROTOCOL_IN_TLS("but not as a Hazelcast member of Regatta") {
      @Override
      void speak(Socket socket) throws Exception {
        handshake(socket, pem, null);
      }
    },
    NO_TOKEN("does not prove the token") {
      @Override
      void speak(Socket socket) throws Exception {
        SSLSocket tls = handshake(socket, pem, SecureChannel.APPLICATION);
        tls.getOutputStream().write("HZC".getBytes(StandardCharsets.US_ASCII));
      }
    },
    SILENT_IN_TLS("") {
      @Override
      void speak(Socket socket) throws Exception {
        handshake(socket, pem, SecureChannel.APPLICATION);
      }
    };

    /** A part of the line about it; empty if only the time limit ends it. */
    private final String line;

    Stranger(String line) {
      this.line = line;
    }

    void speak(Socket socket) throws Exception {}
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"SILENT", "HALF_A_HANDSHAKE", "SILENT_IN_TLS"})
  void aStrangerIsRefusedSoonAndNamedOnce(Stranger stranger) throws Exception {
    assertRefusedAndNamedOnce(stranger.line, stranger, stranger);
  }

  @Test
  void strangersThatSayNothingMoreAreRefusedInTimeAndNamedOnce() throws Exception {
    assertRefusedAndNamedOnce("has not shown within 5 s", Stranger.SILENT, Stranger.HALF_A_HANDSHAKE,
        Stranger.SILENT_IN_TLS);
  }

  private void assertRefusedAndNamedOnce(String line, Stranger... strangers) throws Exception {
    Node node = members.start(members.port(), tls(pem, true, true), TOKEN, dir);
    List<Socket> sockets = new ArrayList<>();
    for (Stranger stranger : strangers) {
      Socket socket = members.connect();
      sockets.add(socket);
      stranger.speak(socket);
    }
    for (Socket socket : sockets) {
      assertClosed(socket);
    }
    assertThat(members.lines()).hasSize(1).first().asString().contains(line);
    assertThat(sizeAt(node)).isEqualTo(1);
  }

  /** Silent connections that are renewed all the time: one ends, and another one comes. */
  private static final class Crowd implements AutoCloseable {
    private static final int SIZE = 500;
    private final Deque<Socket> sockets = new ArrayDeque<>();
    private final Thread renewing = new Thread(this::renew, "crowd");
    private final int port;
    private volatile boolean over;

    private Crowd(int port) throws IOException {
      this.port = port;
      while (sockets.size() < SIZE) {
        sockets.add(new Socket("127.0.0.1", port));
      }
      renewing.start();
    }

    private void renew() {
      while (!over) {
        try {
          sockets.remove().close();
          sockets.add(new Socket("127.0.0.1", port));
        } catch (IOException full) {
          over = sockets.isEmpty();
        }
      }
    }

    @Override
    public void close() throws Exception {
      over = true;
      renewing.join();
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void when_silentStrangersAreTooManyAllTheTime_then_aMemberJoinsNevertheless(boolean secured) throws Exception {
    TlsConfig tls = secured ? tls(pem, true, true) : null;
    Node first = members.start(members.port(), tls, TOKEN, dir);
    try (Crowd crowd = new Crowd(members.port())) {
      members.start(0, tls, TOKEN, dir);
      assertThat(sizeAt(first)).isEqualTo(2);
      assertThat(crowd.renewing.isAlive()).isTrue();
    }
    assertThat(members.lines()).anyMatch(line -> line.startsWith("closed a connection of 127.0.0.1 to Hazelcast's"));
  }
}
