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
 * Keeps forged entries out of a shared map that others can write to. Each entry of a process with a token ends with a
 * line {@code TOKEN_ID.MEMBER.CODE}, and readers with a token accept no other. The code is HMAC-SHA256 over key, member
 * and text, so that an entry counts under its own key alone. The member is the Hazelcast member that wrote the entry:
 * each start of a process has another one, so readers can tell the entry of an ended process from that of a running
 * one. Of a map whose entries outlive their writers it is empty. Without a token nothing is added and nothing checked.
 * Any thread.
 */
public final class EntrySeal {

  private static final char LINE = '\n';
  private static final char DOT = '.';
  private static final Base64.Encoder TEXT = Base64.getUrlEncoder().withoutPadding();

  private final PeerSecurity security;
  private final String label;
  private final long graceMillis;
  /** Tokens with which this process has sealed, by id: entries of its own count under each of them. */
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
   * takes. An expired token counts for the time of grace: so long a process may need to write its entry anew.
   */
  public Optional<Opened> open(String key, String entry) {
    return open(key, entry, id -> security.tokens().memberOfId(id, SystemClock.get().epochMillis() - graceMillis));
  }

  /** As {@link #open}, also for entries sealed with a token that this process has shown before and no longer takes. */
  public Optional<Opened> openOwn(String key, String entry) {
    return open(key, entry, id -> Optional.ofNullable(used.get(id)));
  }

  private Optional<Opened> open(String key, String entry, Function<String, Optional<Token>> tokens) {
    int line = entry.lastIndexOf(LINE);
    String text = line < 0 ? entry : entry.substring(0, line);
    if (!seals()) {
      return Optional.of(new Opened(text, ""));
    }
    int member = line + 1 + Token.ID_CHARS + 1;
    int code = entry.indexOf(DOT, member) + 1;
    if (line < 0 || entry.length() <= member || code <= member) {
      return Optional.empty();
    }
    Opened opened = new Opened(text, entry.substring(member, code - 1));
    return tokens.apply(entry.substring(line + 1, member - 1))
        .filter(token -> Macs.isSame(code(token, key, opened.member(), text), entry.substring(code)))
        .map(token -> opened);
  }

  private String code(Token token, String key, String member, String text) {
    return TEXT.encodeToString(Macs.of(token.derive(label),
        (key + LINE + member + LINE + text).getBytes(StandardCharsets.UTF_8)));
  }
}
