package io.regatta.training.heter.part;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.loss.Loss;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.TrainerId;
import io.regatta.protocol.heter.BatchId;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.tensor.CutBatch;
import io.regatta.protocol.tensor.CutSignature;
import io.regatta.protocol.tensor.CutTensor.Role;
import io.regatta.protocol.vertx.SystemClock;
import io.regatta.training.config.JobConfig;
import io.regatta.training.cut.Heter;
import io.regatta.training.heter.PartHost;
import io.regatta.training.heter.queue.BatchQueue;
import io.regatta.training.heter.queue.SerialExecutor;
import io.regatta.training.heter.run.HostSession;
import io.regatta.training.model.Engines;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Batches of three trainers that are gathered, of which one cannot be computed. */
class PartLoopTest {

  private static final int WIDTH = 4;
  private static final int BAD = 1;
  private static final JobConfig JOB = JobConfig.of(new JsonObject().put("job", "j"));

  private final BatchQueue queue = new BatchQueue(new SerialExecutor(), SystemClock.get(), 100);
  private final List<CompletableFuture<ComputedBatch>> results = new ArrayList<>();
  private NDManager manager;

  @BeforeEach
  void engine() {
    Engines.start("auto", 1);
    manager = NDManager.newBaseManager();
  }

  @AfterEach
  void close() {
    manager.close();
  }

  /** Computes a batch of each trainer; that of one trainer has this value. */
  private void compute(float bad, PartHost host) {
    Block network = new SequentialBlock().add(Heter.remote(Linear.builder().setUnits(3).build()));
    network.initialize(manager, DataType.FLOAT32, new Shape(1, WIDTH));
    PartModel part = new PartModel(JOB, network, new Shape[] {new Shape(1, WIDTH)}, Loss.softmaxCrossEntropyLoss(), manager,
        SystemClock.get());
    for (int rank = 0; rank < 3; rank++) {
      Tensors tensors = new Tensors();
      tensors.add(Role.INPUT, "input 0", manager.full(new Shape(2, WIDTH), rank == BAD ? bad : 1), true);
      tensors.add(Role.LABEL, "label 0", manager.ones(new Shape(2, 1)), false);
      results.add(queue.add(new BatchToCompute(new BatchId(new TrainerId(rank, 1), 0, 1),
          CutBatch.newBuilder().setNumber(1).setStep(7).setValuesOf(7).setExamples(2).build(), tensors.take())));
    }
    queue.closeAfterWaiting(new Cancelled("the end"));
    assertThatThrownBy(() -> PartLoop.run(new HostSession(JOB, host), host, part)).isInstanceOf(PartLoop.Ended.class);
    assertThat(results).allMatch(CompletableFuture::isDone);
  }

  @Test
  void gathersThemAll_whenEachCanBeComputed() {
    compute(1, queue);
    assertThat(results).allMatch(result -> result.join().head().getGathered());
  }

  @Test
  void keepsTheNanOfOneBatchOutOfTheOthers() {
    compute(Float.NaN, queue);
    for (int rank = 0; rank < 3; rank++) {
      assertThat(Double.isNaN(results.get(rank).join().head().getLoss())).isEqualTo(rank == BAD);
    }
  }

  @Test
  void refusesOnlyTheBatchThatIsTheCause_whenResultsAreRefused() {
    compute(1, new Refusing(queue));
    for (int rank = 0; rank < 3; rank++) {
      assertThat(results.get(rank).isCompletedExceptionally()).isEqualTo(rank == BAD);
    }
    assertThatThrownBy(() -> results.get(BAD).join()).cause().isInstanceOf(InvalidInput.class).hasMessage("not this one");
  }

  /** A host that refuses results among which is that of one trainer. */
  private record Refusing(BatchQueue queue) implements PartHost {
    @Override
    public CompletionStage<Void> wanted() {
      return queue.wanted();
    }

    @Override
    public void ready(CutSignature own, boolean gatherable) {
      queue.ready(own, gatherable);
    }

    @Override
    public CompletionStage<Optional<PartWork>> next() {
      return queue.next().thenApply(next -> next.map(this::refusing));
    }

    private PartWork refusing(PartWork work) {
      return new PartWork(work.batches(), results -> {
        if (results.stream().anyMatch(result -> result.id().trainer().rank() == BAD)) {
          throw new InvalidInput("not this one");
        }
        work.done().accept(results);
      }, work.refused(), () -> work.alone().get().stream().map(this::refusing).toList());
    }
  }
}
