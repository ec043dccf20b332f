package io.regatta.rendezvous;

import com.google.protobuf.ByteString;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.reduce.Elementwise;
import io.regatta.protocol.message.Float64s;
import io.regatta.protocol.rendezvous.GatherRequest;
import java.util.List;

/**
 * One member's part of a gather: its payload, and the way in which payloads are combined. A value of {@link Gathers}.
 *
 * @param how null: everybody gets everybody's payload; else they are float64 values and are reduced to one
 * @param ofValues of the whole array, with {@code how}: the payload may be a slice of it
 */
record GatherPart(ByteString payload, Elementwise how, long ofValues) {

  static GatherPart of(GatherRequest request) {
    Elementwise how = request.getReduce().isEmpty() ? null : Elementwise.ofWord(request.getReduce());
    if (how != null && request.getPayload().size() % Double.BYTES != 0) {
      throw new InvalidInput("payload of gather " + request.getKey() + " of group " + request.getGroup() + " has "
          + request.getPayload().size() + " bytes, which are no float64 values; a reduction takes "
          + Double.BYTES + " bytes for each");
    }
    return new GatherPart(request.getPayload(), how, request.getValues());
  }

  int size() {
    return payload.size();
  }

  /** Returns true if both are plain payloads, or slices of the same place of arrays of one length. */
  boolean goesWith(GatherPart other) {
    return how == other.how && (how == null || ofValues == other.ofValues && size() == other.size());
  }

  /** Returns the part's description for messages. */
  String what() {
    return how == null ? "a payload" : size() / Double.BYTES + " of " + Math.max(ofValues, size() / Double.BYTES)
        + " values to " + how.word();
  }

  /**
   * Returns the bytes that {@link #answer} takes until it has been sent: the message, whose bytes are shared by all
   * members, and the payloads in it. A reduction also has an array of values.
   */
  static long answerBytes(List<GatherPart> parts) {
    return parts.get(0).how == null ? 2 * parts.stream().mapToLong(GatherPart::size).sum() : 3L * parts.get(0).size();
  }

  /** Returns the payloads of the answer to matching parts in rank order. */
  static List<ByteString> answer(List<GatherPart> parts) {
    List<ByteString> payloads = parts.stream().map(GatherPart::payload).toList();
    Elementwise how = parts.get(0).how;
    return how == null ? payloads
        : List.of(Float64s.bytes(how.reduce(payloads.stream().map(Float64s::view).toList())));
  }
}
