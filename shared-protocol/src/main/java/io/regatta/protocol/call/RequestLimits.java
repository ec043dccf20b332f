package io.regatta.protocol.call;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import java.util.Map;

/**
 * Limits of the requests of one service.
 *
 * @param messageBytes of a request, bytes
 * @param textCharacters of each text in it
 * @param textKey configuration key of that limit, for messages; empty: it has none
 * @param held limit of all requests that are arriving, which other calls may share; null: none
 */
public record RequestLimits(int messageBytes, int textCharacters, String textKey, HeldRequests held) {
  /** Limits of a service that names no others: 256 KiB, and texts as long as the longest path of Linux. */
  public static final RequestLimits DEFAULTS = new RequestLimits(256 << 10, 4096, "");

  private static final int SHOWN = 32;

  /** Creates limits of single requests. */
  public RequestLimits(int messageBytes, int textCharacters, String textKey) {
    this(messageBytes, textCharacters, textKey, null);
  }

  /** Returns limits of requests whose texts may fill the whole message. */
  public static RequestLimits ofBytes(int messageBytes, HeldRequests held) {
    return new RequestLimits(messageBytes, messageBytes, "", held);
  }

  /**
   * Checks a request.
   *
   * @throws InvalidInput if a text is too long
   */
  void check(String method, Object request) {
    if (request instanceof Message message) {
      for (Map.Entry<FieldDescriptor, Object> field : message.getAllFields().entrySet()) {
        if (field.getKey().getType() == FieldDescriptor.Type.STRING) {
          List<?> texts = field.getKey().isRepeated() ? (List<?>) field.getValue() : List.of(field.getValue());
          texts.forEach(text -> check(method, field.getKey().getName(), (String) text));
        }
      }
    }
  }

  private void check(String method, String field, String text) {
    if (text.length() > textCharacters) {
      throw new InvalidInput("the field " + field + " of a request for " + method + " has " + text.length()
          + " characters; at most " + textCharacters + " are possible" + (textKey.isEmpty() ? "" : " (" + textKey + ")")
          + "; it begins with '" + PeerText.of(text, SHOWN) + "'");
    }
  }
}
