package io.regatta.protocol.rank;

import io.netty.buffer.ByteBuf;
import io.regatta.core.collective.Operation;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.schedule.Choices.Choice;
import io.regatta.core.collective.schedule.Step;
import io.regatta.core.error.RegattaException;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.memory.DirectMemory;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.CollectiveCall;
import io.regatta.protocol.tensor.CollectiveElements;
import io.regatta.protocol.tensor.CollectiveFailed;
import io.regatta.protocol.tensor.CollectiveOpen;
import io.regatta.protocol.tensor.DType;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.grpc.common.GrpcStatus;
import java.nio.ByteBuffer;
import java.util.Locale;

/** The messages of collective calls between two ranks. Pure functions but for pooled memory; any thread. */
public final class CollectiveFrames {
  /** Largest size that is copied instead of lent, so that the memory is the caller's again at once. */
  private static final int COPIED_BYTES = 32 << 10;

  private CollectiveFrames() {}

  /** Returns a call as it is compared between ranks. */
  public static CollectiveCall call(long number, Operation operation, ReduceOp op, int root, Tensor tensor,
      Choice choice) {
    CollectiveCall.Builder call = CollectiveCall.newBuilder().setNumber(number)
        .setOperation(CollectiveCall.Operation.forNumber(operation.ordinal())).setLength(tensor.size())
        .setDtype(DType.forNumber(tensor.wire().ordinal()))
        .setAlgorithm(CollectiveCall.Algorithm.forNumber(choice.algorithm().ordinal()))
        .setChunkBytes(choice.chunkBytes());
    if (operation.reduces()) {
      call.setReduction(CollectiveCall.Reduction.forNumber(op.ordinal()));
    }
    return operation.hasRoot() ? call.setRoot(root).build() : call.build();
  }

  /** Returns a call in words, e.g. {@code all-reduce (sum) of 1000 float32, call 17}. */
  public static String words(CollectiveCall call) {
    Operation operation = Operation.values()[Math.max(0, call.getOperationValue()) % Operation.values().length];
    StringBuilder words = new StringBuilder(operation.word());
    if (operation.reduces()) {
      words.append(" (").append(call.getReduction().name().toLowerCase(Locale.ROOT)).append(')');
    }
    if (operation.hasRoot()) {
      words.append(operation == Operation.REDUCE ? " to rank " : " from rank ").append(call.getRoot());
    }
    if (operation != Operation.BARRIER) {
      words.append(" of ").append(call.getLength()).append(' ')
          .append(call.getDtype().name().toLowerCase(Locale.ROOT));
    }
    return words + ", call " + call.getNumber();
  }

  /** Returns the remedy for two calls that differ; the text follows the {@link #words} of both. */
  public static String difference(CollectiveCall mine, CollectiveCall theirs) {
    return words(mine).equals(words(theirs))
        ? ", by " + way(mine) + " and " + way(theirs) + "; all ranks must have the same table of algorithms"
        : "; all ranks must make the same calls in the same order";
  }

  private static String way(CollectiveCall call) {
    return call.getAlgorithm().name().toLowerCase(Locale.ROOT) + " in chunks of " + call.getChunkBytes() + " bytes";
  }

  /**
   * Returns the first message on a stream, in either direction.
   *
   * @param process the same for all ranks of one process that hand messages over; 0: this rank does not
   * @param aggregator index of the aggregator to which the stream leads, from 0
   * @param aggregators number of aggregators; 0: the stream leads to another rank
   */
  public static TensorFrame open(String group, long generation, int rank, int ranks, long process, int aggregator,
      int aggregators) {
    return TensorFrame.of(TensorMessage.newBuilder().setCollectiveOpen(CollectiveOpen.newBuilder().setGroup(group)
        .setGeneration(generation).setRank(rank).setWorldSize(ranks).setProcess(process).setAggregator(aggregator)
        .setAggregators(aggregators)).build());
  }

  /** Returns the message with which a sender gives up, with the reason. */
  public static TensorFrame failed(RegattaException why) {
    return TensorFrame.of(TensorMessage.newBuilder().setCollectiveFailed(CollectiveFailed.newBuilder()
        .setStatus(ErrorMapping.status(why).code).setText(String.valueOf(why.getMessage()))).build());
  }

  /** Returns the error with which a peer has given up. */
  public static RegattaException failure(CollectiveFailed failed) {
    return ErrorMapping.exception(GrpcStatus.valueOf(failed.getStatus()), failed.getText());
  }

  /**
   * Returns the message of a step that sends. If it is possible and pays, the elements are sent without a copy;
   * otherwise they are copied to pooled memory, which is released when the message has been sent.
   */
  public static Outgoing data(CollectiveCall call, Tensor tensor, Step step, Tensor.Workspace workspace) {
    TensorMessage header = TensorMessage.newBuilder().setCollective(CollectiveElements.newBuilder().setCall(call)
        .setOffset(step.from()).build()).build();
    int bytes = step.count() * tensor.wire().bytes();
    if (bytes == 0) {
      return new Outgoing(TensorFrame.of(header), null);
    }
    ByteBuffer lent = bytes <= COPIED_BYTES || step.kind() == Step.Kind.SEND_COPIED ? null : tensor.lent(step.from(), step.count());
    if (lent != null) {
      return new Outgoing(new TensorFrame(header, lent, tensor.memory(), tensor.memory() == null ? 0 : tensor.memoryAt(step.from())), null);
    }
    ByteBuf memory = DirectMemory.ALLOCATOR.directBuffer(bytes, bytes);
    ByteBuffer payload = memory.nioBuffer(0, bytes);
    tensor.encode(step.from(), step.count(), payload, workspace);
    return new Outgoing(new TensorFrame(header, payload.flip()), memory);
  }
}
