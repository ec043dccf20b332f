package io.regatta.protocol.heter;

import io.regatta.core.exchange.TrainerId;
import io.regatta.protocol.tensor.CutBatch;
import io.regatta.protocol.tensor.CutResult;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Element;
import io.regatta.protocol.tensor.CutTensor.Role;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Batches and results for tests, with random bytes. */
public final class CutTensors {
  public static final TrainerId TRAINER = new TrainerId(1, 7);

  private CutTensors() {}

  /** Returns a tensor of random elements in direct memory. */
  public static TensorData of(Role role, String name, Element element, Random random, long... shape) {
    CutTensor.Builder tensor = CutTensor.newBuilder().setRole(role).setName(name).setElement(element);
    for (long dimension : shape) {
      tensor.addShape(dimension);
    }
    byte[] bytes = new byte[(int) HeterCodec.bytes(tensor.build())];
    random.nextBytes(bytes);
    return new TensorData(tensor.build(), ByteBuffer.allocateDirect(bytes.length).put(bytes).flip()
        .order(ByteOrder.LITTLE_ENDIAN));
  }

  /** Returns a batch of replica 0 with a large and a small tensor. */
  public static BatchToCompute batch(TrainerId trainer, long number, int examples) {
    Random random = new Random(number);
    return new BatchToCompute(new BatchId(trainer, 0, number),
        CutBatch.newBuilder().setReplica(0).setNumber(number).setStep(number + 10).setExamples(examples).build(),
        List.of(of(Role.INPUT, "0", Element.FLOAT32, random, examples, 100),
            of(Role.LABEL, "0", Element.INT64, random, examples)));
  }

  /** Returns the result that a worker of these tests has for a batch: its tensors, in reverse order. */
  public static ComputedBatch echo(BatchToCompute batch) {
    List<TensorData> reversed = new ArrayList<>();
    for (TensorData data : batch.tensors()) { // the batch's memory is used again once the result is there
      ByteBuffer copy = ByteBuffer.allocateDirect(data.bytes().remaining()).put(data.bytes().duplicate()).flip();
      reversed.add(0, new TensorData(data.tensor(), copy.order(ByteOrder.LITTLE_ENDIAN)));
    }
    return new ComputedBatch(batch.id(), CutResult.newBuilder().setReplica(batch.id().replica())
        .setNumber(batch.id().number()).setLoss(batch.head().getStep() / 2.0).build(), reversed);
  }

  /** Returns the elements of all tensors as bytes. */
  public static List<List<Byte>> bytes(List<TensorData> tensors) {
    return tensors.stream().map(data -> {
      List<Byte> bytes = new ArrayList<>();
      ByteBuffer from = data.bytes().duplicate();
      while (from.hasRemaining()) {
        bytes.add(from.get());
      }
      return bytes;
    }).toList();
  }
}
