package io.regatta.trainer.data;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * Widths of an example: {@code dense} float features, {@code slots} sparse features of one 64-bit id each, and one
 * label.
 */
public record Layout(int dense, int slots) {

  public Layout {
    if (dense < 0 || slots < 0 || dense + slots == 0) {
      throw new InvalidInput("an example needs at least one feature, but dense=" + dense + " and slots=" + slots);
    }
  }
}
