package io.regatta.training.exchange.collective;

import java.nio.FloatBuffer;
import java.util.BitSet;

/**
 * The header of a step of a collective job: floats after the gradients, each of which is summed over the ranks. It
 * holds the number of ranks that step, their weights in full batches, the ledger's floats, and for each variable the
 * number of ranks with a gradient. It only knows the indices; used on a model thread.
 *
 * @param at index of its first float
 * @param variables of the model
 */
record StepHeader(int at, StepLedger ledger, int variables) {

  private static final int STEPPING = 0;
  private static final int WEIGHT = 1;
  private static final int LEDGER = 2;

  int size() {
    return LEDGER + ledger.floats() + variables;
  }

  /**
   * Writes this rank's header.
   *
   * @param stepping true if it has gradients in this step, of this weight
   * @param fresh the variables of which it has a gradient
   */
  void write(FloatBuffer floats, boolean stepping, double weight, BitSet fresh) {
    floats.put(at + STEPPING, stepping ? 1 : 0);
    floats.put(at + WEIGHT, (float) weight);
    for (int v = 0; v < variables; v++) {
      floats.put(counts() + v, fresh.get(v) ? 1 : 0);
    }
  }

  /** Writes the ledger's floats; see {@link StepLedger#write}. */
  void writeLedger(FloatBuffer floats, boolean trains, boolean gone) {
    ledger.write(floats, at + LEDGER, trains, gone);
  }

  // ---- of the sum

  double stepping(FloatBuffer floats) {
    return floats.get(at + STEPPING);
  }

  double weight(FloatBuffer floats) {
    return floats.get(at + WEIGHT);
  }

  /** See {@link StepLedger#completed}. */
  boolean completed(FloatBuffer floats) {
    return ledger.completed(floats, at + LEDGER);
  }

  /** Returns the index of the first count of a variable. */
  int counts() {
    return at + LEDGER + ledger.floats();
  }
}
