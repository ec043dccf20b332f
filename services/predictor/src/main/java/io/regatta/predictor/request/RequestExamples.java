package io.regatta.predictor.request;

import io.regatta.data.SlotBatch;

/**
 * The examples of one request, not yet parsed. It does not change until its request is answered; any thread may use it.
 */
public interface RequestExamples {

  /** Returns an upper bound of the examples, known without parsing. */
  int rows();

  /** Returns the bytes that the request holds while it waits. */
  long bytes();

  /**
   * Parses the examples into {@code into}, from row {@code at} on, which has room for {@link #rows}.
   *
   * @return number of examples
   * @throws io.regatta.core.error.RegattaException.InvalidInput if one of them is malformed; the rows are then
   *     undefined
   */
  int read(SlotBatch into, int at);

  /** Returns the examples as a batch that need not be copied; null: they have to be read. */
  default SlotBatch parsed() {
    return null;
  }

  /** Returns examples that have been parsed. */
  static RequestExamples of(SlotBatch batch) {
    return new RequestExamples() {
      @Override
      public int rows() {
        return batch.rows();
      }

      @Override
      public long bytes() {
        return batch.rows() * SlotBatch.bytes(batch.layout());
      }

      @Override
      public int read(SlotBatch into, int at) {
        for (int row = 0; row < batch.rows(); row++) {
          batch.copy(row, into, at + row);
        }
        return batch.rows();
      }

      @Override
      public SlotBatch parsed() {
        return batch;
      }
    };
  }
}
