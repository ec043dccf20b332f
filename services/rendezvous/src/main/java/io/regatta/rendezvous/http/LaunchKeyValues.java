package io.regatta.rendezvous.http;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The content of the key-value server of PaddlePaddle's launch (2.3 and later,
 * {@code distributed/launch/utils/kv_server.py}). The whole path is the key. POST and PUT set it, and DELETE removes
 * it. GET answers all keys that begin with the path as a JSON object, in the order in which they were first set. From
 * the start there is {@code /healthy}. Values are UTF-8 text.
 *
 * <p>A key that has not been set or found for long is forgotten. PaddlePaddle's own server ends with the launcher that
 * has started it, and with it the keys of a run. This one continues. A launcher that registers beside those of its job
 * ({@link #PEER}) finds only the ones that set their keys again, as a waiting launcher does every half second. So keys
 * of an earlier run are not taken for launchers that wait. Owned by its {@link KeyValueServer}, on its loop.
 */
final class LaunchKeyValues implements KeyValues {
  private static final String HEALTHY = "/healthy";
  private static final String HEX = "0123456789abcdef";
  /** Limit of an answer, which is made at once, on the loop; or the length of one largest value and its key. */
  private static final long ANSWER_CHARACTERS = 8 << 20;
  private static final int CHARACTERS_PER_BYTE = 6;
  /** {@code /JOB/info/POD/RANK}: keys by which the launchers of a job find each other. */
  private static final Pattern PEER = Pattern.compile("(/.+/info)/[^/]+/-?\\d+");
  private static final long UNCONFIRMED_MILLIS = 10_000;

  private static final class Value {
    final byte[] bytes;
    long askedMillis;
    /** Arrival time of a newcomer that does not find it until it is set again; -1: everybody finds it. */
    long hiddenMillis = -1;

    Value(byte[] bytes, long nowMillis) {
      this.bytes = bytes;
      this.askedMillis = nowMillis;
    }
  }

  private final long idleMillis;
  private final long answerCharacters;
  private final LongSupplier clock;
  private final Budget budget;
  private final Map<String, Value> values = new LinkedHashMap<>();

  /** @param clock ms, never going back */
  LaunchKeyValues(HttpStoreConfig config, LongSupplier clock) {
    this.idleMillis = config.idleSeconds() * 1000L;
    this.answerCharacters = Math.max(ANSWER_CHARACTERS,
        CHARACTERS_PER_BYTE * (KeyValueServer.MAX_PATH_BYTES + (long) config.valueBytes()));
    this.clock = clock;
    this.budget = new Budget(config);
    set(HEALTHY, new Condition(null, null), "ok".getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public Answer answer(String method, String path, Condition condition, byte[] body) {
    forgetIdle();
    return switch (method) {
      case "GET" -> get(path);
      case "PUT", "POST" -> set(path, condition, body);
      case "DELETE" -> delete(path, condition);
      default -> Answer.refusal(501, "this server knows GET, POST, PUT and DELETE");
    };
  }

  private Answer get(String prefix) {
    StringBuilder json = new StringBuilder("{");
    long now = clock.getAsLong();
    for (Map.Entry<String, Value> entry : values.entrySet()) {
      String key = entry.getKey();
      Value value = entry.getValue();
      if (value.hiddenMillis < 0 && key.startsWith(prefix)) {
        value.askedMillis = now;
        json.append(json.length() == 1 ? "" : ", ");
        text(json, key);
        json.append(": ");
        text(json, new String(value.bytes, StandardCharsets.UTF_8));
        if (json.length() > answerCharacters) {
          return Answer.refusal(Budget.FULL, "the keys that begin with " + prefix + " make an answer of more than "
              + answerCharacters + " characters; ask for fewer by a longer path");
        }
      }
    }
    return json.length() == 1 ? Answer.NOT_FOUND
        : Answer.value(json.append('}').toString().getBytes(StandardCharsets.US_ASCII));
  }

  /**
   * Writes a string as Python's {@code json.dumps} does: in ASCII, everything else as UTF-16 code units in hexadecimal.
   */
  private static void text(StringBuilder json, String text) {
    json.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> json.append("\\\"");
        case '\\' -> json.append("\\\\");
        case '\n' -> json.append("\\n");
        case '\r' -> json.append("\\r");
        case '\t' -> json.append("\\t");
        case '\b' -> json.append("\\b");
        case '\f' -> json.append("\\f");
        default -> {
          if (c < ' ' || c > '~') {
            json.append("\\u").append(HEX.charAt(c >> 12)).append(HEX.charAt(c >> 8 & 15)).append(HEX.charAt(c >> 4 & 15))
                .append(HEX.charAt(c & 15));
          } else {
            json.append(c);
          }
        }
      }
    }
    json.append('"');
  }

  private Answer set(String key, Condition condition, byte[] bytes) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
    } catch (CharacterCodingException e) {
      return Answer.refusal(400, "the value is no UTF-8 text, which a GET answers as JSON");
    }
    Value before = values.get(key);
    if (!condition.holds(before == null ? null : before.bytes)) {
      return condition.tagged(Answer.of(Condition.FAILED), before == null ? null : before.bytes);
    }
    Answer refusal = budget.take(before == null ? 1 : 0, bytes.length,
        bytes.length - (before == null ? 0 : before.bytes.length));
    if (refusal != null) {
      return refusal;
    }
    if (before == null && !condition.named()) {
      hideOthers(key);
    }
    values.put(key, new Value(bytes, clock.getAsLong()));
    return condition.tagged(Answer.OK, bytes);
  }

  private void hideOthers(String newcomer) {
    Matcher peer = PEER.matcher(newcomer);
    if (!peer.matches()) {
      return;
    }
    values.forEach((key, value) -> {
      Matcher other = PEER.matcher(key);
      if (value.hiddenMillis < 0 && other.matches() && other.group(1).equals(peer.group(1))) {
        value.hiddenMillis = clock.getAsLong();
      }
    });
  }

  private Answer delete(String key, Condition condition) {
    Value before = values.get(key);
    if (!condition.holds(before == null ? null : before.bytes)) {
      return condition.tagged(Answer.of(Condition.FAILED), before == null ? null : before.bytes);
    }
    if (before == null) {
      return Answer.NOT_FOUND;
    }
    values.remove(key);
    budget.giveBack(1, before.bytes.length);
    return condition.tagged(Answer.OK, null);
  }

  private void forgetIdle() {
    long now = clock.getAsLong();
    values.entrySet().removeIf(e -> {
      Value value = e.getValue();
      boolean idle = value.askedMillis < now - idleMillis && !e.getKey().equals(HEALTHY)
          || value.hiddenMillis >= 0 && now - value.hiddenMillis > UNCONFIRMED_MILLIS;
      if (idle) {
        budget.giveBack(1, e.getValue().bytes.length);
      }
      return idle;
    });
  }

  @Override
  public String what() {
    return "launch's key-value server";
  }

  @Override
  public String contentType() {
    return "application/json; charset=utf8";
  }
}
