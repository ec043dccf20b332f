package io.regatta.trainer.exchange.collective;

import java.nio.FloatBuffer;
import java.util.BitSet;

/**
 * The header of a step of a collective job: floats behind the gradients, each of which is summed over the ranks. How
 * many ranks step, their weights in full batches, what the ledger says, and for each variable how many ranks have a
 * gradient of it. Places only; a model thread's.
 *
 * @param at of its first float
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
   * Writes what this rank says.
   *
   * @param stepping whether it has gradients in this step, of this weight
   * @param fresh the variables that it has a gradient of
   */
  void write(FloatBuffer floats, boolean stepping, double weight, BitSet fresh) {
    floats.put(at + STEPPING, stepping ? 1 : 0);
    floats.put(at + WEIGHT, (float) weight);
    for (int v = 0; v < variables; v++) {
      floats.put(counts() + v, fresh.get(v) ? 1 : 0);
    }
  }

  /** Writes what it says to the ledger: {@link StepLedger#write}. */
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

  /** Where the counts of variables begin. */
  int counts() {
    return at + LEDGER + ledger.floats();
  }
}
