package io.regatta.collective;

import io.regatta.core.collective.Choices;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.stream.StreamOptions;

/**
 * How collective calls are carried out.
 *
 * @param stream sizes and ways of the streams between ranks; its ping times follow from the failure timeout
 * @param failureTimeoutMillis within which a rank that is frozen or cut off is noticed, at least 3; a process that dies is
 *     noticed at once
 * @param choices of algorithms; the same at all ranks
 */
public record CollectiveOptions(StreamOptions stream, long failureTimeoutMillis, Choices choices) {

  public CollectiveOptions {
    if (failureTimeoutMillis < 3) {
      throw new InvalidInput("the failure timeout is " + failureTimeoutMillis + " ms but must be at least 3");
    }
    stream = stream.withPing(failureTimeoutMillis / 3, failureTimeoutMillis - failureTimeoutMillis / 3);
  }

  /** Streams by default, 10 s, the table that is shipped. */
  public static CollectiveOptions defaults() {
    return new CollectiveOptions(StreamOptions.defaults(), 10_000, Choices.defaults());
  }

  /** The same with other streams; their ping times are not used. */
  public CollectiveOptions withStream(StreamOptions options) {
    return new CollectiveOptions(options, failureTimeoutMillis, choices);
  }

  /** The same with another failure timeout, in milliseconds. */
  public CollectiveOptions withFailureTimeout(long millis) {
    return new CollectiveOptions(stream, millis, choices);
  }

  /** The same with another table. */
  public CollectiveOptions withChoices(Choices table) {
    return new CollectiveOptions(stream, failureTimeoutMillis, table);
  }
}
