package io.regatta.parameterserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.protocol.message.JobSpecs;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.parameterserver.ShardMapReply;
import io.regatta.protocol.parameterserver.ShardMapRequest;
import io.regatta.protocol.tensor.Contributor;
import io.regatta.protocol.tensor.DenseSlice;
import io.regatta.protocol.tensor.Initialize;
import io.regatta.protocol.tensor.Leave;
import io.regatta.protocol.tensor.Pull;
import io.regatta.protocol.tensor.Push;
import io.regatta.protocol.tensor.Register;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.tensor.TensorMessage.BodyCase;
import io.vertx.grpc.health.v1.HealthCheckRequest;
import io.vertx.grpc.health.v1.HealthCheckResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** grpc-java with our .proto and nothing else of ours on the client's side. */
@ExtendWith(BlockedLoopGuard.class)
class StockClientTest {

  private static final int NUMEL = 6;

  @Test
  void findsTheShardPushesAndPullsATensorAndReadsWhyABadOneIsRefused() throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      ManagedChannel control = channel("127.0.0.1", servers.servers.get(0).port());
      ManagedChannel data = null;
      try {
        assertThat(call(control, "grpc.health.v1.Health/Check", HealthCheckRequest.getDefaultInstance(),
            HealthCheckResponse.getDefaultInstance()).getStatus()).isEqualTo(HealthCheckResponse.ServingStatus.SERVING);
        ShardMapReply map = call(control, "regatta.ParameterServer/ShardMap", ShardMapRequest.getDefaultInstance(),
            ShardMapReply.getDefaultInstance());
        Shard shard = map.getShards(0);
        data = channel(shard.getHost(), shard.getPort());
        Exchange exchange = new Exchange(data);
        exchange.send(message(1).setRegister(Register.newBuilder().setTrainer(JobSpecs.toProto(job()))));
        assertThat(exchange.receive().getBodyCase()).isEqualTo(BodyCase.REGISTER_ACK);
        exchange.send(message(2).setInitialize(Initialize.getDefaultInstance()).setDense(dense(NUMEL))
            .setPayload(floats(0, 1, 2, 3, 4, 5)));
        assertThat(exchange.receive().getBodyCase()).isEqualTo(BodyCase.INITIALIZE_ACK);
        exchange.send(push(3, 1, 0).setDense(dense(NUMEL)).setPayload(floats(2, 2, 2, 2, 2, 2)));
        TensorMessage ack = exchange.receive();
        assertThat(ack.getBodyCase()).isEqualTo(BodyCase.PUSH_ACK);
        assertThat(ack.getPushAck().getVersion()).isEqualTo(1);
        exchange.send(message(4).setPull(Pull.newBuilder().setMinStep(1).setDense(true)));
        TensorMessage values = exchange.receive();
        assertThat(values.getRequest()).isEqualTo(4);
        ByteBuffer payload = values.getPayload().asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < NUMEL; i++) {
          assertThat(payload.getFloat()).isCloseTo(i - 0.5f * 2, within(1e-6f));
        }

        exchange.send(push(5, 2, 1).setDense(dense(4)).setPayload(floats(1, 1, 1, 1)));
        Status refused = exchange.failure();
        assertThat(refused.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(refused.getDescription()).contains("push of step 1 of trainer 0", "shard 0 of job stock",
            "has 4 dense elements", "has 6");

        Exchange again = new Exchange(data);
        again.send(message(1).setRegister(Register.newBuilder().setTrainer(JobSpecs.toProto(job()))));
        assertThat(again.receive().getBodyCase()).isEqualTo(BodyCase.REGISTER_ACK);
        again.send(push(2, 2, 1).setDense(dense(NUMEL)).setPayload(floats(0, 0, 0, 0, 0, 0)));
        assertThat(again.receive().getPushAck().getVersion()).as("the refused one changed nothing").isEqualTo(2);
        again.send(message(3).setLeave(Leave.getDefaultInstance()));
        assertThat(again.receive().getBodyCase()).isEqualTo(BodyCase.LEAVE_ACK);
        assertThat(servers.status(0).getShards(0).getJobsCount()).isZero();
      } finally {
        control.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
        if (data != null) {
          data.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
        }
      }
    }
  }

  /** The server requires a token. */
  @Test
  void aProbeThatShowsNoTokenLearnsWhetherTheServerIsReadyAndNothingElse(@TempDir Path dir) throws Exception {
    Path token = Files.writeString(dir.resolve("token"), "the-token-of-this-job");
    Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
    try (RunningServers servers = RunningServers.start(0, 1)) {
      NodeConfig config = NodeConfig.defaults().withTokenFile(token.toString());
      Node node = RunningServers.get(Node.embedded(servers.vertx, servers.directory, config, "test"));
      ParameterServerVerticle server = new ParameterServerVerticle(node, ParameterServerConfig.defaults().at(0, 1, 1));
      RunningServers.get(servers.vertx.deployVerticle(server));
      ManagedChannel control = channel("127.0.0.1", server.port());
      try {
        assertThat(call(control, "grpc.health.v1.Health/Check", HealthCheckRequest.getDefaultInstance(),
            HealthCheckResponse.getDefaultInstance()).getStatus()).isEqualTo(HealthCheckResponse.ServingStatus.SERVING);
        for (String method : List.of("regatta.ParameterServer/ShardMap", "grpc.health.v1.Health/List")) {
          assertThatThrownBy(() -> call(control, method, ShardMapRequest.getDefaultInstance(), ShardMapReply.getDefaultInstance()))
              .hasMessageContaining("UNAUTHENTICATED").hasMessageContaining("without the job's token");
        }
      } finally {
        control.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
        RunningServers.get(node.close());
      }
    }
  }

  private static JobSpec job() {
    return new JobSpec("stock", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 1, 8192,
        new ModelSpec(1, List.of(new DenseVariable("w", List.of(NUMEL))), OptimizerSpec.sgd(0.5), List.of()));
  }

  private static TensorMessage.Builder message(long request) {
    return TensorMessage.newBuilder().setRequest(request).setJob("stock").setIncarnation(1);
  }

  private static TensorMessage.Builder push(long request, long sequence, long step) {
    return message(request).setPush(Push.newBuilder().setStep(step).addContributors(
        Contributor.newBuilder().setRank(0).setIncarnation(1).setSequence(sequence).setWeight(8)));
  }

  private static DenseSlice dense(int elements) {
    return DenseSlice.newBuilder().setTotal(elements).build();
  }

  private static ByteString floats(float... values) {
    ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
    for (float v : values) {
      bytes.putFloat(v);
    }
    return ByteString.copyFrom(bytes.flip());
  }

  private static ManagedChannel channel(String host, int port) {
    return NettyChannelBuilder.forAddress(host, port).usePlaintext().build();
  }

  private static <Q extends Message, A extends Message> A call(ManagedChannel channel, String method, Q request,
      A answer) {
    @SuppressWarnings("unchecked")
    Q type = (Q) request.getDefaultInstanceForType();
    return ClientCalls.blockingUnaryCall(channel, MethodDescriptor.<Q, A>newBuilder()
        .setType(MethodDescriptor.MethodType.UNARY).setFullMethodName(method)
        .setRequestMarshaller(ProtoUtils.marshaller(type)).setResponseMarshaller(ProtoUtils.marshaller(answer)).build(),
        CallOptions.DEFAULT.withDeadlineAfter(20, TimeUnit.SECONDS), request);
  }

  /** One bidi stream; answers wait in a queue for the test. */
  private static final class Exchange implements StreamObserver<TensorMessage> {
    private final BlockingQueue<Object> received = new LinkedBlockingQueue<>();
    private final StreamObserver<TensorMessage> requests;

    Exchange(ManagedChannel channel) {
      MethodDescriptor<TensorMessage, TensorMessage> method = MethodDescriptor.<TensorMessage, TensorMessage>newBuilder()
          .setType(MethodDescriptor.MethodType.BIDI_STREAMING).setFullMethodName("regatta.ParameterShard/Exchange")
          .setRequestMarshaller(ProtoUtils.marshaller(TensorMessage.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(TensorMessage.getDefaultInstance())).build();
      requests = ClientCalls.asyncBidiStreamingCall(channel.newCall(method, CallOptions.DEFAULT), this);
    }

    void send(TensorMessage.Builder message) {
      requests.onNext(message.build());
    }

    TensorMessage receive() throws InterruptedException {
      Object next = received.poll(20, TimeUnit.SECONDS);
      assertThat(next).isInstanceOf(TensorMessage.class);
      return (TensorMessage) next;
    }

    Status failure() throws InterruptedException {
      Object next = received.poll(20, TimeUnit.SECONDS);
      assertThat(next).isInstanceOf(Throwable.class);
      return Status.fromThrowable((Throwable) next);
    }

    @Override
    public void onNext(TensorMessage message) {
      received.add(message);
    }

    @Override
    public void onError(Throwable error) {
      received.add(error);
    }

    @Override
    public void onCompleted() {
      received.add("completed");
    }
  }
}
