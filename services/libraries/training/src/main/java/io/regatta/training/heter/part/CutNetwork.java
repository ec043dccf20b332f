package io.regatta.training.heter.part;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.training.GradientCollector;
import ai.djl.training.loss.Loss;
import io.regatta.training.cut.RemoteBlock;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.replica.StepTimes;
import io.regatta.training.strategy.TrainerStrategy;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The training passes of a trainer's network, which may be cut. Everything around it sees a network that has been
 * computed. Belongs to the model thread of its trainer.
 */
public interface CutNetwork extends AutoCloseable {

  /** A network without a cut or a mark. */
  CutNetwork NONE = new CutNetwork() {};

  /**
   * A forward pass of training.
   *
   * @param data inputs of the network
   * @param labels that the program has given to the network; null: none
   * @param ofBatch labels of the batch, as far as they are known; null: they are not
   */
  record Pass(NDList data, NDList labels, NDList ofBatch) {}

  /**
   * Returns the passes of an initialized network, which the session's heter workers compute in part, or which is seeded
   * as if they did.
   *
   * @param shapes with which it was initialized
   * @param loss of the training configuration
   * @param strategy of the job
   * @param step returns the local steps made
   * @throws io.regatta.core.error.RegattaException.InvalidInput if the network cannot be cut
   */
  static CutNetwork of(Block network, Shape[] shapes, Loss loss, ReplicaContext replica, TrainerStrategy strategy,
      StepTimes times,
      LongSupplier step) {
    ReplicaSeeds seeds = new ReplicaSeeds(replica, step);
    if (replica.session().remote().isPresent()) {
      return new RemotePart(NetworkCut.of(replica.session().job(), network), shapes, loss, replica, strategy, times,
          step, seeds);
    }
    List<RemoteBlock> marks = NetworkCut.marks(network);
    return marks.isEmpty() && !replica.session().job().heter().seedBatches() ? NONE : new SeededNetwork(marks, seeds);
  }

  /** Returns true if heter workers compute a part of the network. */
  default boolean isRemote() {
    return false;
  }

  /** Returns true if the values and gradients of a variable are those of this trainer, not of heter workers. */
  default boolean isHere(String variable) {
    return true;
  }

  /** Returns the collector of a step's gradients, given the engine's, which begins a pass. */
  default GradientCollector collector(GradientCollector engine) {
    return engine;
  }

  /**
   * Returns the network's outputs.
   *
   * @param here computes the network as it is
   */
  default NDList forward(Pass pass, Supplier<NDList> here) {
    return here.get();
  }

  /** Returns the loss that the program evaluates, given that of the training configuration. */
  default Loss loss(Loss own) {
    return own;
  }

  @Override
  default void close() {}
}
