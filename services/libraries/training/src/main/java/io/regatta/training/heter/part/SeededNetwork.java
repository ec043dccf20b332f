package io.regatta.training.heter.part;

import ai.djl.ndarray.NDList;
import io.regatta.training.cut.RemoteBlock;
import java.util.List;
import java.util.function.Supplier;

/**
 * A network in one piece that draws the random numbers that it would draw if it were cut. Belongs to a model thread.
 */
final class SeededNetwork implements CutNetwork {

  private final List<RemoteBlock> marks;
  private final ReplicaSeeds seeds;

  SeededNetwork(List<RemoteBlock> marks, ReplicaSeeds seeds) {
    this.marks = marks;
    this.seeds = seeds;
    marks.forEach(mark -> mark.attach((inputs, here) -> {
      seeds.set(BatchSeed.PassPhase.PART);
      NDList outputs = here.get();
      seeds.set(BatchSeed.PassPhase.AFTER);
      return outputs;
    }));
  }

  @Override
  public NDList forward(Pass pass, Supplier<NDList> here) {
    seeds.set(marks.isEmpty() ? BatchSeed.PassPhase.PART : BatchSeed.PassPhase.BEFORE);
    return here.get();
  }

  @Override
  public void close() {
    marks.forEach(RemoteBlock::detach);
  }
}
