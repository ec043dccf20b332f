package io.regatta.training.config;

import io.regatta.core.collective.WireType;
import io.regatta.core.error.RegattaException.InvalidInput;

/** The content and the rhythm of the exchange among the ranks of a collective job; the same on all ranks. Immutable. */
public sealed interface Communication
    permits Communication.AllReduce, DgcConfigs, LocalsgdConfigs, AdaptiveLocalsgdConfigs {

  /**
   * An exchange of the sum of all gradients in every step.
   *
   * @param wire float type of the gradients on the wire
   */
  record AllReduce(WireType wire) implements Communication {

    public AllReduce {
      if (wire == WireType.INT64) {
        throw new InvalidInput("gradients travel as FLOAT32, FLOAT16 or BFLOAT16, not as INT64");
      }
    }
  }

  /** All-reduce in float32, without any compression. */
  Communication PLAIN = new AllReduce(WireType.FLOAT32);
}
