package io.regatta.training.config;

import io.regatta.core.collective.WireType;
import io.regatta.core.error.RegattaException.InvalidInput;

/** What the ranks of a collective job tell each other, and when: the same on all. */
public sealed interface Communication
    permits Communication.AllReduce, DgcConfigs, LocalsgdConfigs, AdaptiveLocalsgdConfigs {

  /**
   * The sum of all gradients in every step.
   *
   * @param wire type of float in which they travel
   */
  record AllReduce(WireType wire) implements Communication {

    public AllReduce {
      if (wire == WireType.INT64) {
        throw new InvalidInput("gradients travel as FLOAT32, FLOAT16 or BFLOAT16, not as INT64");
      }
    }
  }

  /** Nothing is left out. */
  Communication PLAIN = new AllReduce(WireType.FLOAT32);
}
