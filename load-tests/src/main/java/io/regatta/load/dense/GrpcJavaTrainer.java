package io.regatta.load.dense;

import com.google.protobuf.UnsafeByteOperations;
import io.grpc.ClientCall;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import io.regatta.protocol.tensor.DenseSlice;
import io.regatta.protocol.tensor.Pull;
import io.regatta.protocol.tensor.Push;
import io.regatta.protocol.tensor.TensorMessage;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The trainer's end of grpc-java's stream. One thread pushes and pulls and waits. That thread sends the first chunks of
 * a push, and the stream's loop the others; never both at once, because of the monitor.
 */
final class GrpcJavaTrainer implements ClientResponseObserver<TensorMessage, TensorMessage>, Peer.Client {
  private static final long LIMIT_SECONDS = 60;

  private final DenseTask task;
  private final TrainerMemory memory;
  private ClientCallStreamObserver<TensorMessage> requests;
  private volatile CompletableFuture<Void> done;
  private int next;

  private GrpcJavaTrainer(DenseTask task) {
    this.task = task;
    memory = new TrainerMemory(task);
    next = task.elements();
  }

  static GrpcJavaTrainer open(DenseTask task, ClientCall<TensorMessage, TensorMessage> call) {
    GrpcJavaTrainer trainer = new GrpcJavaTrainer(task);
    ClientCalls.asyncBidiStreamingCall(call, trainer);
    return trainer;
  }

  /** Returns the next chunk of the gradient; copied once, into an array that the message takes over. */
  private TensorMessage chunk() {
    byte[] bytes = new byte[Math.min(task.chunkElements(), task.elements() - next) * Float.BYTES];
    memory.gradient().get(next * Float.BYTES, bytes);
    return chunk(TensorMessage.newBuilder().setPush(Push.getDefaultInstance()), bytes, next, task);
  }

  /** Returns a part of the vector as a message, which takes the bytes over. */
  static TensorMessage chunk(TensorMessage.Builder message, byte[] bytes, int element, DenseTask task) {
    return message.setDense(DenseSlice.newBuilder().setOffset(element).setTotal(task.elements()))
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
  public void pull() throws Exception {
    CompletableFuture<Void> arrived = request();
    requests.onNext(TensorMessage.newBuilder().setPull(Pull.getDefaultInstance()).build());
    arrived.get(LIMIT_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public float[] values() {
    return memory.toArray();
  }

  private CompletableFuture<Void> request() {
    CompletableFuture<Void> answered = new CompletableFuture<>();
    done = answered;
    return answered;
  }

  private synchronized void pump() {
    while (next < task.elements() && requests.isReady()) {
      requests.onNext(chunk());
      next += task.chunkElements();
    }
  }

  @Override
  public void onNext(TensorMessage m) {
    if (m.hasPullValues()) {
      memory.begin((int) m.getDense().getOffset());
      if (!memory.take(m.getPayload().asReadOnlyByteBuffer())) {
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
