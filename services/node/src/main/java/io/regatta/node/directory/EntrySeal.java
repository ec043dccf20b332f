package io.regatta.node.directory;

import io.regatta.protocol.security.Macs;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Token;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;

/**
 * What keeps forged entries out of a directory that others can write to: each entry of a process with a token ends with
 * a line {@code TOKEN_ID.CODE}, and readers with a token take no other. The code is HMAC-SHA256 over key and text, so
 * that an entry counts under its own key alone. Without a token nothing is added and nothing asked. Any thread.
 */
final class EntrySeal {

  private static final String LABEL = "regatta directory entry";
  private static final char LINE = '\n';
  private static final Base64.Encoder TEXT = Base64.getUrlEncoder().withoutPadding();

  private final PeerSecurity security;

  EntrySeal(PeerSecurity security) {
    this.security = security;
  }

  /**
   * Returns what stands in the map for a text: the text itself, or sealed with the token that this process shows now.
   */
  String seal(String key, String text) {
    Token token = security.token();
    return token.isNone() ? text : text + LINE + token.id() + '.' + code(token, key, text);
  }

  /**
   * Returns the text of an entry; empty if there is a token, and the entry is not sealed with one that this process
   * takes.
   */
  Optional<String> open(String key, String entry) {
    int line = entry.lastIndexOf(LINE);
    String text = line < 0 ? entry : entry.substring(0, line);
    if (security.tokens().isNone()) {
      return Optional.of(text);
    }
    int id = line + 1;
    int code = id + Token.ID_CHARS + 1;
    if (line < 0 || entry.length() <= code) {
      return Optional.empty();
    }
    return security.tokens().memberOfId(entry.substring(id, code - 1), System.currentTimeMillis())
        .filter(token -> Macs.isSame(code(token, key, text), entry.substring(code)))
        .map(token -> text);
  }

  private static String code(Token token, String key, String text) {
    return TEXT.encodeToString(Macs.of(token.derive(LABEL), (key + LINE + text).getBytes(StandardCharsets.UTF_8)));
  }
}
