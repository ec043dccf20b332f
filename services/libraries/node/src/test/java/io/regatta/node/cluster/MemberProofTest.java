package io.regatta.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Token;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class MemberProofTest {

  private static final PeerSecurity JOB = PeerSecurity.of(null, Token.of("a-token-of-this-test-alone", "here"));
  private static final byte[] NO_TLS = new byte[0];
  private static final byte[] ONE = {1};
  private static final byte[] OTHER = {2};

  /** Passes on what the sides say until one is complete; returns the client's proof and the server's. */
  private static void talk(MemberProof client, MemberProof server) throws ConnectionRefused {
    byte[] toServer = client.opening();
    byte[] toClient = server.opening();
    while (client.expected() > 0 || server.expected() > 0) {
      while (server.expected() > 0 && toServer.length >= server.expected()) {
        byte[] part = Arrays.copyOf(toServer, server.expected());
        toServer = Arrays.copyOfRange(toServer, part.length, toServer.length);
        toClient = server.receive(part);
      }
      while (client.expected() > 0 && toClient.length >= client.expected()) {
        byte[] part = Arrays.copyOf(toClient, client.expected());
        toClient = Arrays.copyOfRange(toClient, part.length, toClient.length);
        toServer = client.receive(part);
      }
    }
  }

  @Test
  void bothSidesKnowTheToken() throws ConnectionRefused {
    MemberProof client = new MemberProof(JOB, true, ONE);
    MemberProof server = new MemberProof(JOB, false, ONE);
    talk(client, server);
    assertThat(client.expected() + server.expected()).isZero();
  }

  @Test
  void anotherTokenIsRefused() {
    PeerSecurity stranger = PeerSecurity.of(null, Token.of("another-token-than-that-one", "here"));
    assertThatThrownBy(() -> talk(new MemberProof(stranger, true, NO_TLS), new MemberProof(JOB, false, NO_TLS)))
        .isInstanceOfSatisfying(ConnectionRefused.class,
            refused -> assertThat(refused.answer()).isEqualTo(MemberProof.REFUSAL));
  }

  /**
   * A man in the middle with a certificate of the job and no token, who ends TLS on both sides and forwards the
   * members' bytes.
   */
  @Test
  void aProofThatIsPassedOnToAnotherTlsConnectionIsRefused() {
    assertThatThrownBy(() -> talk(new MemberProof(JOB, true, ONE), new MemberProof(JOB, false, OTHER)))
        .isInstanceOf(ConnectionRefused.class);
  }
}
