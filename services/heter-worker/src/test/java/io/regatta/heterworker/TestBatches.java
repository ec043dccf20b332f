package io.regatta.heterworker;

import io.regatta.core.exchange.TrainerId;
import io.regatta.protocol.heter.BatchId;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.TensorData;
import io.regatta.protocol.tensor.CutBatch;
import io.regatta.protocol.tensor.CutResult;
import io.regatta.protocol.tensor.CutSignature;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Role;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** Batches of a part whose one output is its input times 2, and their results. Stateless. */
final class TestBatches {

  static final int WIDTH = 3;
  static final CutSignature OWN = CutSignature.newBuilder().addTensors(tensor(Role.INPUT, "input 0", -1))
      .addTensors(tensor(Role.OUTPUT, "output 0", -1)).build();
  /** A cut whose input has another type. */
  static final CutSignature DOUBLES = CutSignature.newBuilder().addTensors(tensor(Role.INPUT, "input 0", -1).toBuilder()
      .setElement(CutTensor.Element.FLOAT64)).build();

  private TestBatches() {}

  private static CutTensor tensor(Role role, String name, long examples) {
    return CutTensor.newBuilder().setRole(role).setName(name).addShape(examples).addShape(WIDTH).build();
  }

  private static CutTensor label(long examples) {
    return CutTensor.newBuilder().setRole(Role.LABEL).setName("label 0").addShape(examples).build();
  }

  /** A batch whose values are its number. */
  static BatchToCompute batch(TrainerId trainer, int replica, long number, int examples, long valuesOf) {
    return new BatchToCompute(new BatchId(trainer, replica, number), CutBatch.newBuilder().setReplica(replica).setNumber(number)
        .setStep(number - 1).setValuesOf(valuesOf).setExamples(examples).build(),
        List.of(new TensorData(tensor(Role.INPUT, "input 0", examples), floats(examples * WIDTH, number)),
            new TensorData(label(examples), floats(examples, 0))));
  }

  /** A batch without labels. */
  static BatchToCompute inputOnly(TrainerId trainer) {
    BatchToCompute whole = batch(trainer, 0, 1, 4, 0);
    return new BatchToCompute(whole.id(), whole.head(), whole.tensors().subList(0, 1));
  }

  private static ByteBuffer floats(int count, float value) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(count * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      bytes.putFloat(i * Float.BYTES, value);
    }
    return bytes;
  }

  /** The part's result of a batch. */
  static ComputedBatch result(BatchToCompute batch) {
    TensorData input = batch.tensors().get(0);
    int examples = batch.head().getExamples();
    float first = input.bytes().order(ByteOrder.LITTLE_ENDIAN).getFloat(input.bytes().position());
    return new ComputedBatch(batch.id(), CutResult.newBuilder().setNumber(batch.id().number()).setReplica(batch.id().replica())
        .setLoss(first).build(), List.of(new TensorData(tensor(Role.OUTPUT, "output 0", examples),
        floats(examples * WIDTH, 2 * first))));
  }

  /** The first value of the output of a result. */
  static float output(ComputedBatch result) {
    ByteBuffer bytes = result.tensors().get(0).bytes();
    return bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN).getFloat(bytes.position());
  }
}
