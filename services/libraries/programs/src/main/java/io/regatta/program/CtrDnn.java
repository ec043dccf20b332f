package io.regatta.program;

import ai.djl.nn.Block;
import io.regatta.data.format.CriteoFormat;
import io.regatta.program.block.BinaryHead;
import io.regatta.program.block.CtrDnnBlock;

/**
 * CTR-DNN on Criteo-format files, the network of PaddlePaddle's quick start for click-through rates. Embeddings of 26
 * hashed ids and 13 dense features pass through relu layers to a softmax over two classes. PaddlePaddle sums the cross
 * entropy over a batch, this takes its mean: multiply a learning rate from there by the batch size. If the data
 * directory is empty, data are generated there first. Runs on a model thread.
 */
public final class CtrDnn extends CriteoProgram {

  public CtrDnn() {
    super("ctr-dnn", BinaryHead.SOFTMAX);
  }

  @Override
  Block network(CriteoSettings settings) {
    return new CtrDnnBlock(CriteoFormat.LAYOUT, settings.embedding(), (float) settings.embeddingBound(),
        settings.hidden(), settings.gain());
  }
}
