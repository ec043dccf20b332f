package io.regatta.program;

import ai.djl.nn.Block;
import io.regatta.data.format.CriteoFormat;
import io.regatta.program.block.BinaryHead;
import io.regatta.program.block.DeepFmBlock;

/**
 * DeepFM on Criteo-format files: a factorization machine and relu layers over the same embeddings, dense features
 * embedded too, mean log loss. If the data directory is empty, data are generated there first. Runs on a model thread.
 */
public final class DeepFm extends CriteoProgram {

  public DeepFm() {
    super("deepfm", BinaryHead.LOGIT);
  }

  @Override
  Block network(CriteoSettings settings) {
    return new DeepFmBlock(CriteoFormat.LAYOUT, settings.embedding(), (float) settings.embeddingBound(),
        settings.hidden(), settings.gain());
  }
}
