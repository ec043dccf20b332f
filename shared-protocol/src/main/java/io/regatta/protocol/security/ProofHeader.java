package io.regatta.protocol.security;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parameters and message authentication codes of the scheme {@code Regatta-HMAC}, by which client and server prove to
 * each other that they know the token without sending it. docs/protocol.md describes the scheme. Stateless, any thread.
 */
final class ProofHeader {

  static final String SCHEME = "Regatta-HMAC";
  private static final int MAX_CHARS = 512;
  private static final Pattern PARAMETER = Pattern.compile("([a-z]{1,8})=([A-Za-z0-9_.-]{1,64})");
  private static final Base64.Encoder TEXT = Base64.getUrlEncoder().withoutPadding();

  private ProofHeader() {}

  /** Returns true if a header is of this scheme. */
  static boolean isOne(String header) {
    return header != null && header.startsWith(SCHEME + " ");
  }

  /** Returns the parameters of a header of this scheme, or null if it cannot be read. */
  static Map<String, String> parse(String header) {
    if (header.length() > MAX_CHARS) {
      return null;
    }
    Map<String, String> values = new HashMap<>();
    for (String part : header.substring(SCHEME.length() + 1).split(",")) {
      Matcher parameter = PARAMETER.matcher(part.strip());
      if (!parameter.matches() || values.put(parameter.group(1), parameter.group(2)) != null) {
        return null;
      }
    }
    return values;
  }

  /** Returns the HMAC-SHA256 of a text. */
  static byte[] mac(byte[] key, String text) {
    return Macs.of(key, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns what the server shows: that it knows the token, for this client and this challenge. */
  static String ofServer(byte[] key, String client, String server) {
    return text(mac(key, "server\n" + client + "\n" + server));
  }

  /** Returns what the client shows with a call: that it knows the token, for this challenge, call and number. */
  static String ofClient(byte[] key, String client, String server, String number, String method, String path) {
    return text(mac(key, "client\n" + client + "\n" + server + "\n" + number + "\n" + method + "\n" + path));
  }

  /** Returns bytes in base64url without padding. */
  static String text(byte[] bytes) {
    return TEXT.encodeToString(bytes);
  }
}
