package io.regatta.load.sparse;

import com.google.protobuf.UnsafeByteOperations;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.regatta.load.run.GrpcJavaStream;
import io.regatta.protocol.tensor.Pull;
import io.regatta.protocol.tensor.Push;
import io.regatta.protocol.tensor.RowSlice;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Stock grpc-java to {@link GrpcJavaRowShard}. One thread calls and waits, the stream's loop answers it. */
final class GrpcJavaRows implements RowClient, StreamObserver<TensorMessage> {
  private static final long LIMIT_SECONDS = 60;

  private final GrpcJavaStream streams = new GrpcJavaStream();
  private final StreamObserver<TensorMessage> requests;
  private volatile CompletableFuture<TensorMessage> answer = new CompletableFuture<>();

  GrpcJavaRows(int port) {
    requests = ClientCalls.asyncBidiStreamingCall(streams.call(port), this);
  }

  @Override
  public float[] pull(long[] ids) throws Exception {
    float[] values = new float[ids.length * SparseDriver.DIM];
    request(TensorMessage.newBuilder().setPull(Pull.getDefaultInstance()), ids, new float[0]).getPayload()
        .asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN)
        .asFloatBuffer().get(values);
    return values;
  }

  @Override
  public void push(long[] ids, float[] gradients) throws Exception {
    request(TensorMessage.newBuilder().setPush(Push.getDefaultInstance()), ids, gradients);
  }

  private TensorMessage request(TensorMessage.Builder message, long[] ids, float[] gradients) throws Exception {
    byte[] bytes = new byte[ids.length * Long.BYTES + gradients.length * Float.BYTES];
    ByteBuffer payload = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    payload.asLongBuffer().put(ids);
    payload.position(ids.length * Long.BYTES);
    payload.slice().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().put(gradients);
    CompletableFuture<TensorMessage> answered = new CompletableFuture<>();
    answer = answered;
    requests.onNext(message.setRows(RowSlice.newBuilder().setRowCount(ids.length))
        .setPayload(UnsafeByteOperations.unsafeWrap(bytes)).build());
    return answered.get(LIMIT_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void onNext(TensorMessage m) {
    answer.complete(m);
  }

  @Override
  public void onError(Throwable t) {
    answer.completeExceptionally(t);
  }

  @Override
  public void onCompleted() {}

  @Override
  public void close() {
    streams.close();
  }
}
