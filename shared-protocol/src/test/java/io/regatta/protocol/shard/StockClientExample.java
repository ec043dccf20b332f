package io.regatta.protocol.shard;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.regatta.protocol.tensor.Contributor;
import io.regatta.protocol.tensor.DenseSlice;
import io.regatta.protocol.tensor.Push;
import io.regatta.protocol.tensor.RowSlice;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The example of docs/protocol.md, which quotes what stands between the two marks: one trainer's stream to one shard by
 * stock grpc-java and the classes that protoc makes of tensor.proto. Blocks; for one thread.
 */
// example begins
final class StockClientExample implements StreamObserver<TensorMessage> {
  static final MethodDescriptor<TensorMessage, TensorMessage> EXCHANGE = MethodDescriptor
      .<TensorMessage, TensorMessage>newBuilder().setType(MethodDescriptor.MethodType.BIDI_STREAMING)
      .setFullMethodName("regatta.ParameterShard/Exchange")
      .setRequestMarshaller(ProtoUtils.marshaller(TensorMessage.getDefaultInstance()))
      .setResponseMarshaller(ProtoUtils.marshaller(TensorMessage.getDefaultInstance())).build();

  private final BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
  private final StreamObserver<TensorMessage> requests;
  private final TensorMessage from;
  private long request;
  private long sequence;

  /** @param from the fields that every message carries: job, rank, incarnation, shard */
  StockClientExample(Channel channel, TensorMessage from) {
    this.from = from;
    requests = ClientCalls.asyncBidiStreamingCall(channel.newCall(EXCHANGE, CallOptions.DEFAULT), this);
  }

  /** A request of one chunk, whose body is still to be set. */
  TensorMessage.Builder request() {
    return from.toBuilder().setRequest(++request);
  }

  /** A push carries who made it; the sequence counts a trainer's pushes to this shard from 1. */
  TensorMessage.Builder push(long step, double examples) {
    return request().setPush(Push.newBuilder().setStep(step).addContributors(Contributor.newBuilder().setRank(from.getRank())
        .setIncarnation(from.getIncarnation()).setSequence(++sequence).setWeight(examples)));
  }

  /** Says that the payload is a whole dense vector. */
  static DenseSlice dense(int elements) {
    return DenseSlice.newBuilder().setTotal(elements).build();
  }

  /** Says that the payload is rows of a table: their ids and, if dim is above 0, that many values of each. */
  static RowSlice rows(String table, int rows, int dim) {
    return RowSlice.newBuilder().setTable(table).setTotal(rows).setRowCount(rows).setDim(dim).build();
  }

  /** Sends a request and takes the next answer; throws the shard's status if it has ended the stream. */
  TensorMessage ask(TensorMessage.Builder message) throws Exception {
    requests.onNext(message.build());
    return next();
  }

  TensorMessage next() throws Exception {
    Object answer = answers.poll(20, TimeUnit.SECONDS);
    if (answer instanceof TensorMessage message) {
      return message;
    }
    throw answer instanceof Exception status ? status : new IllegalStateException("no answer: " + answer);
  }

  /** The bytes of a vector, or of a row's values. */
  static ByteString floats(float... values) {
    ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    return ByteString.copyFrom(bytes);
  }

  /** The bytes of the ids of rows, which stand in front of the rows' values, if there are any. */
  static ByteString ids(long... ids) {
    ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES * ids.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asLongBuffer().put(ids);
    return ByteString.copyFrom(bytes);
  }

  @Override
  public void onNext(TensorMessage answer) {
    answers.add(answer);
  }

  @Override
  public void onError(Throwable status) {
    answers.add(status);
  }

  @Override
  public void onCompleted() {
    answers.add("the shard has ended the stream");
  }

  void end() {
    requests.onCompleted();
  }
}
// example ends
