package io.regatta.load.sparse;

import com.google.protobuf.UnsafeByteOperations;
import io.grpc.stub.StreamObserver;
import io.regatta.protocol.tensor.PullValues;
import io.regatta.protocol.tensor.PushAck;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The peer's end of grpc-java's stream. A payload is ids, then (of a push) gradients; one message holds a whole request.
 * Owned by the stream, whose calls come one at a time.
 */
final class GrpcJavaRowShard implements StreamObserver<TensorMessage> {
  private final AdagradRows rows;
  private final StreamObserver<TensorMessage> answers;

  GrpcJavaRowShard(AdagradRows rows, StreamObserver<TensorMessage> answers) {
    this.rows = rows;
    this.answers = answers;
  }

  @Override
  public void onNext(TensorMessage m) {
    ByteBuffer payload = m.getPayload().asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    long[] ids = new long[m.getRows().getRowCount()];
    payload.asLongBuffer().get(ids);
    float[] values = new float[ids.length * SparseDriver.DIM];
    if (m.hasPull()) {
      for (int i = 0; i < ids.length; i++) {
        rows.pull(ids[i], values, i * SparseDriver.DIM);
      }
      byte[] bytes = new byte[values.length * Float.BYTES];
      ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().put(values);
      answers.onNext(TensorMessage.newBuilder().setPullValues(PullValues.getDefaultInstance())
          .setPayload(UnsafeByteOperations.unsafeWrap(bytes)).build());
    } else {
      payload.position(ids.length * Long.BYTES);
      payload.slice().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values);
      for (int i = 0; i < ids.length; i++) {
        rows.push(ids[i], values, i * SparseDriver.DIM);
      }
      answers.onNext(TensorMessage.newBuilder().setPushAck(PushAck.getDefaultInstance()).build());
    }
  }

  @Override
  public void onError(Throwable t) {}

  @Override
  public void onCompleted() {
    answers.onCompleted();
  }
}
