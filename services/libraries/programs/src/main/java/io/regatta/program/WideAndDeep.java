package io.regatta.program;

import ai.djl.nn.Block;
import io.regatta.data.format.CriteoFormat;
import io.regatta.program.block.BinaryHead;
import io.regatta.program.block.WideAndDeepBlock;

/**
 * Wide and deep on Criteo-format files, as in PaddlePaddle's FleetX: wide {@code Linear(13 → 1)}, deep embeddings of 26
 * hashed ids with the dense features through relu layers, mean log loss. If the data directory is empty, data are
 * generated there first. Runs on a model thread.
 */
public final class WideAndDeep extends CriteoProgram {

  public WideAndDeep() {
    super("wide-and-deep", BinaryHead.LOGIT);
  }

  @Override
  Block network(CriteoSettings settings) {
    return new WideAndDeepBlock(CriteoFormat.LAYOUT, settings.embedding(), (float) settings.embeddingBound(),
        settings.hidden(), settings.gain(), false);
  }
}
