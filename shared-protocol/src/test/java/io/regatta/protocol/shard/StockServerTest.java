package io.regatta.protocol.shard;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.TrainerId;
import io.regatta.protocol.message.JobSpecs;
import io.regatta.protocol.stream.Loop;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.tensor.PullValues;
import io.regatta.protocol.tensor.PushAck;
import io.regatta.protocol.tensor.RegisterAck;
import io.regatta.protocol.tensor.TensorMessage;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A trainer's link against a stock grpc-java server, with nothing of ours but the .proto. */
class StockServerTest {
  private static final StreamOptions OPTIONS = StreamOptions.defaults().withChunkBytes(1024);

  private final Loop loop = new Loop();
  private final BlockingQueue<TensorMessage> received = new LinkedBlockingQueue<>();
  private Server server;
  private TensorStream stream;
  private GrpcShardLink link;

  /** Keeps the dense vector that it was given last, in the chunks in which it came. */
  private final class VectorShard implements StreamObserver<TensorMessage> {
    final StreamObserver<TensorMessage> answers;
    ByteString vector = ByteString.EMPTY;

    VectorShard(StreamObserver<TensorMessage> answers) {
      this.answers = answers;
    }

    @Override
    public void onNext(TensorMessage m) {
      received.add(m);
      boolean last = m.getChunkIndex() == m.getChunkCount() - 1;
      TensorMessage.Builder answer = TensorMessage.newBuilder().setRequest(m.getRequest()).setChunkCount(1);
      switch (m.getBodyCase()) {
        case REGISTER -> answers.onNext(answer.setRegisterAck(RegisterAck.getDefaultInstance()).build());
        case PUSH -> {
          vector = vector.concat(m.getPayload());
          if (last) {
            answers.onNext(answer.setPushAck(PushAck.newBuilder().setVersion(9).setStaleness(2)).build());
          }
        }
        case PULL -> answers.onNext(answer.setPullValues(PullValues.newBuilder().setVersion(9))
            .setDense(StockClientExample.dense(vector.size() / Float.BYTES)).setPayload(vector).build());
        default -> answers.onError(Status.INVALID_ARGUMENT.withDescription("kein + größeres Übel: 100 %")
            .asRuntimeException());
      }
    }

    @Override
    public void onError(Throwable t) {}

    @Override
    public void onCompleted() {
      answers.onCompleted();
    }
  }

  @BeforeEach
  void connect() throws Exception {
    server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
        .addService(ServerServiceDefinition.builder("regatta.ParameterShard")
            .addMethod(StockClientExample.EXCHANGE, ServerCalls.asyncBidiStreamingCall(VectorShard::new)).build())
        .build().start();
    link = get(loop.on(() -> new TensorStreamClient(loop.vertx, OPTIONS)
        .open("127.0.0.1", server.getPort(), "/regatta.ParameterShard/Exchange")
        .map(s -> {
          stream = s;
          return new GrpcShardLink(s, "shard 4 at a stock server", 4, 77, () -> 5, null, OPTIONS);
        })));
    assertThat(loop.onLane(stream)).as("our bytes go past Vert.x").isTrue();
    get(call(() -> link.register(TestJobs.job("job", Mode.ASYNC, 3, 5000), new TrainerId(2, 11), 0)));
  }

  @AfterEach
  void close() throws Exception {
    server.shutdownNow().awaitTermination(20, TimeUnit.SECONDS);
    loop.close();
  }

  @Test
  void it_takes_our_push_in_chunks_and_we_take_its_answer_in_one() throws Exception {
    float[] gradient = TestJobs.ramp(5000, 0.3f);
    Push push = new Push(List.of(new Contributor(2, 11, 1, 32)), 6, 3, DenseMemory.of(gradient), List.of());
    assertThat(get(call(() -> link.push(push))).staleness()).isEqualTo(2);
    assertThat(get(call(() -> link.pull(new Pull(2, 7, true, List.of(), false)))).dense().toArray()).isEqualTo(gradient);
    TensorMessage register = received.remove();
    assertThat(JobSpecs.ofProto(register.getJob(), register.getRegister().getTrainer()))
        .isEqualTo(TestJobs.job("job", Mode.ASYNC, 3, 5000));
    TensorMessage chunk = received.remove();
    assertThat(chunk.toBuilder().clearPayload().build()).isEqualTo(TensorMessage.newBuilder()
        .setRequest(2).setJob("job").setGeneration(5).setShardIncarnation(77).setShard(4).setRank(2).setIncarnation(11)
        .setChunkCount(20).setDense(StockClientExample.dense(5000))
        .setPush(io.regatta.protocol.tensor.Push.newBuilder().setStep(6).setVersion(3)
            .addContributors(io.regatta.protocol.tensor.Contributor.newBuilder().setRank(2).setIncarnation(11)
                .setSequence(1).setWeight(32))).build());
    assertThat(chunk.getPayload().size()).isEqualTo(1024);
    assertThat(chunk.getPayload().asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN).getFloat())
        .isEqualTo(gradient[0]);
  }

  @Test
  void its_status_reaches_us_with_its_text() {
    assertThatThrownBy(() -> get(call(() -> link.leave(true)))).isInstanceOf(InvalidInput.class)
        .hasMessage("kein + größeres Übel: 100 %");
  }

  @Test
  void its_death_is_noticed() {
    server.shutdownNow();
    assertThatThrownBy(() -> get(call(() -> link.leave(true)))).isInstanceOf(PeerLost.class)
        .hasMessageContaining("shard 4 at a stock server");
  }

  private <T> CompletionStage<T> call(Supplier<CompletionStage<T>> call) {
    return CompletableFuture.supplyAsync(call, r -> loop.context.runOnContext(v -> r.run())).thenCompose(s -> s);
  }
}
