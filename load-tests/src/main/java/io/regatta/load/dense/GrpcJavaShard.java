package io.regatta.load.dense;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.regatta.protocol.tensor.PullValues;
import io.regatta.protocol.tensor.PushAck;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;

/** The shard's end of grpc-java's stream. Owned by the stream, whose calls come one at a time. */
final class GrpcJavaShard implements StreamObserver<TensorMessage> {
  private final DenseTask task;
  private final ServerCallStreamObserver<TensorMessage> answers;
  private final float[] weights;
  private final SgdPieces apply;
  private final ArrayDeque<TensorMessage> values = new ArrayDeque<>();

  GrpcJavaShard(DenseTask task, ServerCallStreamObserver<TensorMessage> answers) {
    this.task = task;
    this.answers = answers;
    weights = task.initial();
    apply = new SgdPieces(weights);
    answers.setOnReadyHandler(this::pump);
  }

  @Override
  public void onNext(TensorMessage m) {
    if (m.hasPull()) {
      for (int at = 0; at < weights.length; at += task.chunkElements()) { // all at once: isolated from the next push
        byte[] bytes = new byte[Math.min(task.chunkElements(), weights.length - at) * Float.BYTES];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().put(weights, at, bytes.length / Float.BYTES);
        values.add(GrpcJavaTrainer.chunk(TensorMessage.newBuilder().setPullValues(PullValues.getDefaultInstance()), bytes, at, task));
      }
      pump();
      return;
    }
    apply.begin((int) m.getDense().getOffset());
    if (apply.take(m.getPayload().asReadOnlyByteBuffer()) == weights.length) {
      answers.onNext(TensorMessage.newBuilder().setPushAck(PushAck.getDefaultInstance()).build());
    }
  }

  private void pump() {
    while (!values.isEmpty() && answers.isReady()) {
      answers.onNext(values.remove());
    }
  }

  @Override
  public void onError(Throwable t) {}

  @Override
  public void onCompleted() {
    answers.onCompleted();
  }
}
