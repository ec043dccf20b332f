package io.regatta.protocol.security;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * A client's side of {@code Regatta-HMAC} towards one server process, which has proved that it knows the token. Each
 * call has a number of its own. Thread-safe.
 */
final class ProofSession {

  /** Half of the time for which a server takes calls of a session. */
  private static final long RENEW_NANOS = TimeUnit.MILLISECONDS.toNanos(ProofVerifier.LIFETIME_MILLIS / 2);
  private static final int NONCE_BYTES = 16;

  private final Token token;
  private final String client;
  private final String server;
  private final LongSupplier nanos;
  private final long since;
  private final AtomicLong calls = new AtomicLong();

  private ProofSession(Greeting greeting, String server) {
    this.token = greeting.token;
    this.client = greeting.client;
    this.server = server;
    this.nanos = greeting.nanos;
    this.since = greeting.since;
  }

  /** The first request to a server: it asks for a proof and a challenge, and shows nothing. */
  static final class Greeting {
    private final Token token;
    private final LongSupplier nanos;
    private final long since;
    private final String client;

    Greeting(Token token, LongSupplier nanos) {
      this.token = token;
      this.nanos = nanos;
      this.since = nanos.getAsLong();
      this.client = ProofHeader.text(Macs.random(NONCE_BYTES));
    }

    /** Returns the header {@code authorization} of the request. */
    String header() {
      return ProofHeader.SCHEME + " key=" + token.id() + ", client=" + client;
    }

    /**
     * Checks the server's proof.
     *
     * @param challenge the answer's header {@code www-authenticate}; null: it has none
     * @param peer for messages, e.g. {@code rendezvous at 10.0.0.7:36000}
     * @throws InvalidInput if the server does not prove that it knows the token
     */
    ProofSession answered(String challenge, String peer) {
      Map<String, String> values = ProofHeader.isOne(challenge) ? ProofHeader.parse(challenge) : null;
      String server = values == null ? null : values.get("server");
      String proof = values == null ? null : values.get("proof");
      if (server == null || !Macs.isSame(ProofHeader.ofServer(token.proofKey(), client, server), proof)) {
        throw new InvalidInput(peer + " does not prove that it knows the job's token, so nothing was sent to it: give "
            + "it this job's node.token_file, or find out who listens there (docs/security.md)");
      }
      return new ProofSession(this, server);
    }
  }

  /**
   * Returns false if another token is to be proved now, or if the server may soon take no more calls of this session.
   */
  boolean isUsable(Token now) {
    return token.equals(now) && nanos.getAsLong() - since < RENEW_NANOS;
  }

  /**
   * Returns the header {@code authorization} of one call.
   *
   * @param method of HTTP, e.g. {@code POST}
   * @param path with the query, e.g. {@code /regatta.Rendezvous/Join}
   */
  String header(String method, String path) {
    String number = Long.toString(calls.incrementAndGet());
    return ProofHeader.SCHEME + " key=" + token.id() + ", client=" + client + ", server=" + server + ", number="
        + number + ", proof="
        + ProofHeader.ofClient(token.proofKey(), client, server, number, method, path);
  }
}
