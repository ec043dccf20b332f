package io.regatta.node.directory;

import io.regatta.protocol.security.Macs;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.vertx.SystemClock;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Seals against forged entries in a shared map that others can write to. Each entry of a process with a token ends with
 * a line {@code TOKEN_ID.MEMBER.CODE}, and readers with a token accept no other. The code is HMAC-SHA256 over key,
 * member and text, so that an entry counts under its own key alone; the key may hold any character. The member is the
 * Hazelcast member that wrote the entry. Each start of a process has another one, so readers can distinguish the entry
 * of an ended process from that of a running one. Without a token nothing is added and nothing checked. Any thread.
 */
public final class EntrySeal {

  private static final char LINE = '\n';
  private static final char DOT = '.';
  private static final Base64.Encoder TEXT = Base64.getUrlEncoder().withoutPadding();

  private final PeerSecurity security;
  private final String label;
  private final long graceMillis;
  /** Tokens with which this process has sealed, by id: its own entries count under each of them. */
  private final Map<String, Token> used = new ConcurrentHashMap<>();

  /**
   * Creates the seals of one process in one map.
   *
   * @param entry what is sealed, e.g. {@code directory entry}: the seal of another kind does not count
   * @param graceMillis time for which seals are accepted after their token has expired: until then their writers seal
   *     them anew
   */
  public EntrySeal(PeerSecurity security, String entry, long graceMillis) {
    this.security = security;
    this.label = "regatta " + entry;
    this.graceMillis = graceMillis;
  }

  /**
   * The content of an entry.
   *
   * @param member UUID of the Hazelcast member that sealed it; empty: there was none, or the entry has no seal
   */
  public record Opened(String text, String member) {}

  /** Returns true if entries are sealed, because there is a token. */
  public boolean seals() {
    return !security.tokens().isNone();
  }

  /**
   * Returns what stands in the map for a text: the text itself, or sealed with the token that this process shows now.
   *
   * @param member UUID of this process's Hazelcast member; empty if it has none
   */
  public String seal(String key, String text, String member) {
    Token token = security.token();
    if (!token.isNone()) {
      used.put(token.id(), token);
    }
    return token.isNone() ? text : text + LINE + token.id() + DOT + member + DOT + code(token, key, member, text);
  }

  /**
   * Returns the content of an entry; empty if there is a token, and the entry is not sealed with one that this process
   * accepts. An expired token counts for the time of grace, which a process may need to write its entry anew.
   */
  public Optional<Opened> open(String key, String entry) {
    return open(key, entry, id -> security.tokens().memberOfId(id, SystemClock.get().epochMillis() - graceMillis));
  }

  /**
   * Opens as {@link #open}, also entries sealed with a token that this process has shown before and no longer accepts.
   */
  public Optional<Opened> openOwn(String key, String entry) {
    return open(key, entry, id -> Optional.ofNullable(used.get(id)));
  }

  /**
   * Returns the member that an entry names as its writer, whether its seal counts or not; empty if it has no seal. Used
   * to decide whether the writer may still be there when the seal is of no token of this process.
   */
  public String claimedMember(String entry) {
    return Sealed.of(entry).map(Sealed::member).orElse("");
  }

  private Optional<Opened> open(String key, String entry, Function<String, Optional<Token>> tokens) {
    if (!seals()) {
      int line = entry.lastIndexOf(LINE);
      return Optional.of(new Opened(line < 0 ? entry : entry.substring(0, line), ""));
    }
    return Sealed.of(entry).filter(sealed -> tokens.apply(sealed.token)
        .filter(token -> Macs.isSame(code(token, key, sealed.member, sealed.text), sealed.code)).isPresent())
        .map(sealed -> new Opened(sealed.text, sealed.member));
  }

  /** The parts of an entry with a seal, not verified. */
  private record Sealed(String text, String token, String member, String code) {

    static Optional<Sealed> of(String entry) {
      int line = entry.lastIndexOf(LINE);
      int member = line + 1 + Token.ID_CHARS + 1;
      int code = entry.indexOf(DOT, member) + 1;
      return line < 0 || entry.length() <= member || code <= member ? Optional.empty()
          : Optional.of(new Sealed(entry.substring(0, line), entry.substring(line + 1, member - 1),
              entry.substring(member, code - 1), entry.substring(code)));
    }
  }

  /** Returns the code. It covers the key's length, so no other key and text have the same code. */
  private String code(Token token, String key, String member, String text) {
    return TEXT.encodeToString(Macs.of(token.derive(label),
        (key.length() + ":" + key + LINE + member + LINE + text).getBytes(StandardCharsets.UTF_8)));
  }
}
