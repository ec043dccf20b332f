package io.regatta.protocol.security;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A server's side of {@code Regatta-HMAC}. A challenge holds its time and is bound to this process and to the client's
 * nonce, so greetings leave nothing here. The first call that is let in creates the session's record of numbers, by
 * which a repeated call is recognized. Records end with their sessions. A token has 65,536 at most, so its holder
 * cannot use up those of another token. Thread-safe.
 */
final class ProofVerifier {

  /** Time for which calls of a session are taken, ms. */
  static final long LIFETIME_MILLIS = TimeUnit.MINUTES.toMillis(10);
  /** Calls of one session that may overtake each other. */
  static final int WINDOW = 1024;
  private static final int MAX_SESSIONS_OF_TOKEN = 65_536;
  private static final int RADIX = 36;
  private static final int CHALLENGE_CHARS = 22;

  /** Result of checking a call. */
  enum Verdict { PROVED, WRONG, EXPIRED, REPEATED, OVERLOADED }

  private final byte[] secret = Macs.random(Macs.BYTES);
  private final LongSupplier millis;
  private final int maxSessionsOfToken;
  /** Numbers of each session by the token's id and the challenge, the oldest first; also the lock. */
  private final Map<String, Map<String, Numbers>> sessions = new HashMap<>();

  /** Numbers of one session's calls: the highest, and which of those below it have come. */
  private static final class Numbers {
    private final long until;
    private final BitSet come = new BitSet(WINDOW);
    private long highest;

    private Numbers(long until) {
      this.until = until;
    }

    /** Returns true for a number that has not come yet and is not too old. */
    private boolean take(long number) {
      if (number <= highest - WINDOW || number <= highest && come.get((int) (number % WINDOW))) {
        return false;
      }
      if (number - highest >= WINDOW) {
        come.clear();
        highest = number;
      }
      for (; highest < number; highest++) {
        come.clear((int) ((highest + 1) % WINDOW));
      }
      come.set((int) (number % WINDOW));
      return true;
    }
  }

  /** @param millis clock of this process alone, e.g. since its start, ms */
  ProofVerifier(LongSupplier millis) {
    this(millis, MAX_SESSIONS_OF_TOKEN);
  }

  ProofVerifier(LongSupplier millis, int maxSessionsOfToken) {
    this.millis = millis;
    this.maxSessionsOfToken = maxSessionsOfToken;
  }

  /** Returns the header {@code www-authenticate} for a client that greets, or null if it names no nonce. */
  String challenge(Map<String, String> greeting, Token token) {
    String client = greeting.get("client");
    if (client == null) {
      return null;
    }
    String server = challenge(client, millis.getAsLong());
    return ProofHeader.SCHEME + " client=" + client + ", server=" + server + ", proof="
        + ProofHeader.ofServer(token.proofKey(), client, server);
  }

  private String challenge(String client, long time) {
    String at = Long.toString(time, RADIX);
    return at + "." + ProofHeader.text(ProofHeader.mac(secret, client + "\n" + at)).substring(0, CHALLENGE_CHARS);
  }

  /** Checks the proof of one call, which leaves nothing here. Never {@code REPEATED} or {@code OVERLOADED}. */
  Verdict check(Map<String, String> call, Token token, String method, String path) {
    String client = call.get("client");
    String server = call.get("server");
    String number = call.get("number");
    if (client == null || server == null || number == null || !number.matches("[1-9][0-9]{0,17}")) {
      return Verdict.WRONG;
    }
    String proof = ProofHeader.ofClient(token.proofKey(), client, server, number, method, path);
    if (!Macs.isSame(proof, call.get("proof"))) {
      return Verdict.WRONG;
    }
    long time = time(server);
    long now = millis.getAsLong();
    if (time < 0 || time > now || now - time > LIFETIME_MILLIS || !Macs.isSame(challenge(client, time), server)) {
      return Verdict.EXPIRED; // or of another life of this process
    }
    return Verdict.PROVED;
  }

  /**
   * Records a call that is to be let in. Only after {@link #check}. A session that has expired since then may have lost
   * its record, so none of its calls is let in.
   *
   * @return {@code PROVED} if it has not come before, or {@code REPEATED}, {@code EXPIRED}, or {@code OVERLOADED}
   */
  Verdict record(Map<String, String> call, Token token) {
    String server = call.get("server");
    long until = time(server) + LIFETIME_MILLIS;
    synchronized (sessions) {
      long now = millis.getAsLong(); // within the lock: no record has been removed by a later time
      if (until < now) {
        return Verdict.EXPIRED;
      }
      Map<String, Numbers> ofToken = sessions.get(token.id());
      Numbers numbers = ofToken == null ? null : ofToken.get(server);
      if (numbers == null) {
        removeExpired(now);
        ofToken = sessions.computeIfAbsent(token.id(), id -> new LinkedHashMap<>());
        if (ofToken.size() >= maxSessionsOfToken) {
          return Verdict.OVERLOADED;
        }
        numbers = new Numbers(until);
        ofToken.put(server, numbers);
      }
      return numbers.take(Long.parseLong(call.get("number"))) ? Verdict.PROVED : Verdict.REPEATED;
    }
  }

  /** Sessions are in the order of their first calls, which is nearly that of their ends. */
  private void removeExpired(long now) {
    sessions.values().removeIf(ofToken -> {
      Iterator<Numbers> oldest = ofToken.values().iterator();
      while (oldest.hasNext() && oldest.next().until < now) {
        oldest.remove();
      }
      return ofToken.isEmpty();
    });
  }

  private static long time(String server) {
    int dot = server.indexOf('.');
    try {
      return dot < 1 ? -1 : Long.parseLong(server.substring(0, dot), RADIX);
    } catch (NumberFormatException e) {
      return -1;
    }
  }
}
