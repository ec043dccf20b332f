package io.regatta.protocol.message;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.ArrayList;
import java.util.List;

/** Reads the messages that the members of a group have gathered. Stateless; any thread. */
public final class GatheredMessages {

  private GatheredMessages() {}

  /**
   * Returns the members' messages in the order of their payloads.
   *
   * @param key of the gather, for messages
   * @param mine this member's own, of the type that all must have given
   * @throws InvalidInput if a payload is no message of that type
   */
  public static <M extends Message> List<M> read(String key, M mine, List<ByteString> payloads) {
    List<M> all = new ArrayList<>(payloads.size());
    for (ByteString payload : payloads) {
      try {
        @SuppressWarnings("unchecked") // a message's parser makes messages of its own type
        M message = (M) mine.getParserForType().parseFrom(payload);
        all.add(message);
      } catch (InvalidProtocolBufferException e) {
        throw new InvalidInput("gather " + key + ": member " + all.size() + " in the order of ranks has given " + payload.size()
            + " bytes that are no " + mine.getDescriptorForType().getFullName() + ": " + e.getMessage()
            + "; run the same version in all processes");
      }
    }
    return all;
  }
}
