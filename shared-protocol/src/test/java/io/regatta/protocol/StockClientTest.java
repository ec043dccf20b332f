package io.regatta.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.JobSpec;
import io.regatta.core.shard.Mode;
import io.regatta.core.shard.NanPolicy;
import io.regatta.core.shard.ParameterShard;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStreamServer;
import io.regatta.protocol.tensor.Contributor;
import io.regatta.protocol.tensor.Kind;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A stock grpc-java client, with nothing of ours but the .proto, talks to a shard. docs/protocol.md quotes this. */
class StockClientTest {
  static final MethodDescriptor<TensorMessage, TensorMessage> EXCHANGE = MethodDescriptor
      .<TensorMessage, TensorMessage>newBuilder().setType(MethodDescriptor.MethodType.BIDI_STREAMING)
      .setFullMethodName("regatta.ParameterShard/Exchange")
      .setRequestMarshaller(ProtoUtils.marshaller(TensorMessage.getDefaultInstance()))
      .setResponseMarshaller(ProtoUtils.marshaller(TensorMessage.getDefaultInstance())).build();

  private final Vertx vertx = Vertx.vertx();
  private final BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
  private ManagedChannel channel;
  private StreamObserver<TensorMessage> requests;
  private ClientCall<TensorMessage, TensorMessage> call;

  @BeforeEach
  void connect() throws Exception {
    ParameterShard shard = new ParameterShard(0, ParameterShard.Limits.defaults(), System::currentTimeMillis);
    HttpServer server = TensorStreamServer.create(vertx, StreamOptions.defaults());
    server.requestHandler(TensorStreamServer.handler(vertx, Map.of("/regatta.ParameterShard/Exchange",
        s -> ShardStreamSession.serve(s, new CoreShardHandler(shard), StreamOptions.defaults())),
        r -> r.response().setStatusCode(404).end(), StreamOptions.defaults()));
    server.listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
    channel = NettyChannelBuilder.forAddress("127.0.0.1", server.actualPort()).usePlaintext().build();
    call = channel.newCall(EXCHANGE, CallOptions.DEFAULT);
    requests = ClientCalls.asyncBidiStreamingCall(call, new StreamObserver<>() {
      @Override
      public void onNext(TensorMessage m) {
        answers.add(m);
      }

      @Override
      public void onError(Throwable t) {
        answers.add(t);
      }

      @Override
      public void onCompleted() {
        answers.add("completed");
      }
    });
  }

  @AfterEach
  void close() throws Exception {
    channel.shutdownNow().awaitTermination(20, TimeUnit.SECONDS);
    vertx.close().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  @Test
  void it_pushes_and_pulls_a_tensor() throws Exception {
    register();
    requests.onNext(message(Kind.INITIALIZE, 2).setTotal(4).setPayload(floats(1, 2, 3, 4)).build());
    assertThat(next().getKind()).isEqualTo(Kind.INITIALIZE_ACK);
    requests.onNext(message(Kind.PUSH, 3).addContributors(Contributor.newBuilder().setIncarnation(1).setSequence(1)
        .setWeight(1)).setTotal(4).setPayload(floats(2, 2, 2, 2)).build());
    TensorMessage ack = next();
    assertThat(ack.getKind()).isEqualTo(Kind.PUSH_ACK);
    assertThat(ack.getVersion()).isEqualTo(1);
    requests.onNext(message(Kind.PULL, 4).setStep(1).setDenseWanted(true).build());
    TensorMessage values = next();
    assertThat(values.getKind()).isEqualTo(Kind.PULL_VALUES);
    assertThat(values.getPayload()).isEqualTo(floats(0, 1, 2, 3)); // w - 0.5 * 2
    requests.onCompleted();
    assertThat(answers.poll(20, TimeUnit.SECONDS)).isEqualTo("completed");
  }

  @Test
  void it_reads_why_a_bad_tensor_was_refused() throws Exception {
    register();
    requests.onNext(message(Kind.INITIALIZE, 2).setTotal(4).setPayload(floats(1, 2, 3, 4)).build());
    assertThat(next().getKind()).isEqualTo(Kind.INITIALIZE_ACK);
    requests.onNext(message(Kind.PUSH, 3).addContributors(Contributor.newBuilder().setIncarnation(1).setSequence(1)
        .setWeight(1)).setTotal(3).setPayload(floats(1, 2, 3)).build());
    Status status = error();
    assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(status.getDescription()).contains("stock").contains("3").contains("4");
  }

  @Test
  void it_reads_why_a_cut_chunk_was_refused() throws Exception {
    register();
    requests.onNext(message(Kind.PUSH, 2).setTotal(4).setPayload(ByteString.copyFrom(new byte[7])).build());
    Status status = error();
    assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(status.getDescription()).contains("job 'stock'").contains("PUSH");
  }

  @Test
  void it_reads_that_a_stream_starts_with_a_registration() throws Exception {
    requests.onNext(message(Kind.PULL, 1).build());
    Status status = error();
    assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(status.getDescription()).contains("REGISTER");
  }

  private void register() throws Exception {
    JobSpec job = new JobSpec("stock", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 1, 8192,
        new ModelSpec(1, List.of(new DenseVariable("w", List.of(4))), OptimizerSpec.sgd(0.5),
            List.of(new SparseTableSpec("t", 2, InitializerSpec.zeros(), OptimizerSpec.sgd(0.5)))));
    requests.onNext(message(Kind.REGISTER, 1).setRegister(JobSpecs.toProto(job)).build());
    assertThat(next().getKind()).isEqualTo(Kind.REGISTER_ACK);
  }

  private static TensorMessage.Builder message(Kind kind, long request) {
    return TensorMessage.newBuilder().setKind(kind).setRequest(request).setJob("stock").setIncarnation(1)
        .setChunkCount(1);
  }

  private TensorMessage next() throws Exception {
    Object answer = answers.poll(20, TimeUnit.SECONDS);
    assertThat(answer).isInstanceOf(TensorMessage.class);
    return (TensorMessage) answer;
  }

  private Status error() throws Exception {
    Object answer = answers.poll(20, TimeUnit.SECONDS);
    assertThat(answer).isInstanceOf(Throwable.class);
    return Status.fromThrowable((Throwable) answer);
  }

  private static ByteString floats(float... values) {
    ByteBuffer b = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    b.asFloatBuffer().put(values);
    return ByteString.copyFrom(b);
  }
}
