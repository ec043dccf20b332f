package io.regatta.load.dense;

import com.google.protobuf.UnsafeByteOperations;
import io.grpc.ClientCall;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import io.regatta.protocol.tensor.Kind;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The trainer's end of grpc-java's stream. One thread pushes and pulls and waits; the chunks of a push are sent by the
 * stream's loop, and the first ones by that thread: never both, since it is under the monitor.
 */
final class GrpcJavaTrainer implements ClientResponseObserver<TensorMessage, TensorMessage>, Peer.Client {
  private static final long LIMIT_SECONDS = 60;

  private final DenseTask task;
  private final float[] gradient;
  private final float[] values;
  private final CopyPieces copy;
  private ClientCallStreamObserver<TensorMessage> requests;
  private volatile CompletableFuture<Void> done;
  private int next;

  private GrpcJavaTrainer(DenseTask task) {
    this.task = task;
    gradient = task.gradient();
    values = new float[task.elements()];
    copy = new CopyPieces(values);
    next = gradient.length;
  }

  static GrpcJavaTrainer open(DenseTask task, ClientCall<TensorMessage, TensorMessage> call) {
    GrpcJavaTrainer trainer = new GrpcJavaTrainer(task);
    ClientCalls.asyncBidiStreamingCall(call, trainer);
    return trainer;
  }

  /** A part of the vector as a message; the payload is copied once, into an array that the message takes over. */
  static TensorMessage chunk(Kind kind, float[] vector, int at, DenseTask task) {
    int n = Math.min(task.chunkElements(), vector.length - at);
    byte[] bytes = new byte[n * Float.BYTES];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().put(vector, at, n);
    return TensorMessage.newBuilder().setKind(kind).setOffset(at).setTotal(vector.length)
        .setPayload(UnsafeByteOperations.unsafeWrap(bytes)).build();
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<TensorMessage> stream) {
    requests = stream;
    stream.setOnReadyHandler(this::pump);
  }

  @Override
  public void push() throws Exception {
    CompletableFuture<Void> acknowledged = request();
    synchronized (this) {
      next = 0;
    }
    pump();
    acknowledged.get(LIMIT_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public float[] pull() throws Exception {
    CompletableFuture<Void> arrived = request();
    requests.onNext(TensorMessage.newBuilder().setKind(Kind.PULL).build());
    arrived.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    return values;
  }

  private CompletableFuture<Void> request() {
    CompletableFuture<Void> answered = new CompletableFuture<>();
    done = answered;
    return answered;
  }

  private synchronized void pump() {
    while (next < gradient.length && requests.isReady()) {
      requests.onNext(chunk(Kind.PUSH, gradient, next, task));
      next += task.chunkElements();
    }
  }

  @Override
  public void onNext(TensorMessage m) {
    if (m.getKind() == Kind.PULL_VALUES) {
      copy.begin((int) m.getOffset());
      if (copy.take(m.getPayload().asReadOnlyByteBuffer()) < values.length) {
        return;
      }
    }
    done.complete(null);
  }

  @Override
  public void onError(Throwable t) {
    CompletableFuture<Void> waiting = done;
    if (waiting != null) {
      waiting.completeExceptionally(t);
    }
  }

  @Override
  public void onCompleted() {}
}
