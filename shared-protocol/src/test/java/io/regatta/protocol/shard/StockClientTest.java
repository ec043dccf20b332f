package io.regatta.protocol.shard;

import static io.regatta.protocol.shard.StockClientExample.dense;
import static io.regatta.protocol.shard.StockClientExample.floats;
import static io.regatta.protocol.shard.StockClientExample.ids;
import static io.regatta.protocol.shard.StockClientExample.rows;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.shard.ParameterShard;
import io.regatta.protocol.stream.Loop;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.tensor.DenseVariable;
import io.regatta.protocol.tensor.Initialize;
import io.regatta.protocol.tensor.LearningRate;
import io.regatta.protocol.tensor.Leave;
import io.regatta.protocol.tensor.Optimizer;
import io.regatta.protocol.tensor.Pull;
import io.regatta.protocol.tensor.Register;
import io.regatta.protocol.tensor.RegisterTrainer;
import io.regatta.protocol.tensor.RegisterTrainer.Mode;
import io.regatta.protocol.tensor.RegisterTrainer.NanPolicy;
import io.regatta.protocol.tensor.SparseTable;
import io.regatta.protocol.tensor.SparseTable.Initializer;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.tensor.TensorMessage.BodyCase;
import io.regatta.protocol.vertx.SystemClock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A stock grpc-java client, with nothing of ours but the .proto, talks to a shard. docs/protocol.md quotes this. */
class StockClientTest {
  private static final String PATH = "/regatta.ParameterShard/Exchange";
  private static final TensorMessage FROM = TensorMessage.newBuilder().setJob("stock").setRank(0).setIncarnation(1)
      .setShard(0).build();

  private final Loop loop = new Loop();
  private final BlockingQueue<TensorStream> streams = new LinkedBlockingQueue<>();
  private ManagedChannel channel;
  private StockClientExample shard;

  @BeforeEach
  void connect() throws Exception {
    ParameterShard core = new ParameterShard(0, ShardLimits.defaults(), SystemClock.get());
    int port = loop.serve(PATH, StreamOptions.defaults(), s -> {
      streams.add(s);
      ShardStreamSession.serve(s, new CoreShardHandler(core), StreamOptions.defaults());
    }).actualPort();
    channel = NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
    // When a first stream has been answered, so has the server's PING: from then on streams go past Vert.x.
    StockClientExample first = new StockClientExample(channel, FROM);
    assertThatThrownBy(() -> first.ask(first.request().setPull(Pull.getDefaultInstance()))).isInstanceOf(StatusRuntimeException.class);
    streams.clear();
    shard = new StockClientExample(channel, FROM);
  }

  @AfterEach
  void close() throws Exception {
    channel.shutdownNow().awaitTermination(20, TimeUnit.SECONDS);
    loop.close();
  }

  @Test
  void it_pushes_and_pulls_a_tensor() throws Exception {
    // usage begins
    Optimizer sgd = Optimizer.newBuilder().setKind("sgd")
        .setLearningRate(LearningRate.newBuilder().setKind(LearningRate.Kind.CONSTANT).setBase(0.5)).build();
    RegisterTrainer job = RegisterTrainer.newBuilder().setMode(Mode.ASYNC).setTrainers(1).setNanPolicy(NanPolicy.FAIL)
        .setShards(1).setMinBlock(8192).setSeed(1).setDenseOptimizer(sgd)
        .addDense(DenseVariable.newBuilder().setName("w").addShape(4))
        .addSparse(SparseTable.newBuilder().setName("emb").setDim(2).setInitializer(Initializer.CONSTANT).setOptimizer(sgd))
        .build();
    shard.ask(shard.request().setRegister(Register.newBuilder().setTrainer(job)));
    shard.ask(shard.request().setInitialize(Initialize.getDefaultInstance()).setDense(dense(4)).setPayload(floats(1, 2, 3, 4)));

    TensorMessage ack = shard.ask(shard.push(0, 32).setDense(dense(4)).setPayload(floats(2, 2, 2, 2)));
    shard.ask(shard.push(1, 32).setRows(rows("emb", 1, 2)).setPayload(ids(77).concat(floats(-2, 4))));

    Pull step2 = Pull.newBuilder().setMinStep(2).build();
    TensorMessage dense = shard.ask(shard.request().setPull(step2.toBuilder().setDense(true))); // floats(0, 1, 2, 3)
    TensorMessage rows = shard.ask(shard.request().setPull(step2).setRows(rows("emb", 1, 0))
        .setPayload(ids(77))); // the id, then floats(1, -2)

    shard.ask(shard.request().setLeave(Leave.newBuilder().setSucceeded(true)));
    shard.end();
    // usage ends
    assertThat(loop.onLane(streams.remove())).as("its bytes go past Vert.x").isTrue();
    assertThat(ack.getBodyCase()).isEqualTo(BodyCase.PUSH_ACK);
    assertThat(ack.getPushAck().getVersion()).isEqualTo(1);
    assertThat(dense.getBodyCase()).isEqualTo(BodyCase.PULL_VALUES);
    assertThat(dense.getPayload()).isEqualTo(floats(0, 1, 2, 3)); // w - 0.5 * 2
    assertThat(rows.getPayload()).isEqualTo(ids(77).concat(floats(1, -2)));
    assertThatThrownBy(shard::next).hasMessage("no answer: the shard has ended the stream");
  }

  @Test
  void it_reads_why_a_bad_tensor_was_refused() throws Exception {
    register();
    shard.ask(shard.request().setInitialize(Initialize.getDefaultInstance()).setDense(dense(4)).setPayload(floats(1, 2, 3, 4)));
    Status status = refused(shard.push(0, 1).setDense(dense(3)).setPayload(floats(1, 2, 3)));
    assertThat(status.getDescription()).contains("stock").contains("3").contains("4");
  }

  @Test
  void it_reads_why_a_cut_chunk_was_refused() throws Exception {
    register();
    Status status = refused(shard.push(0, 1).setDense(dense(4)).setPayload(ByteString.copyFrom(new byte[7])));
    assertThat(status.getDescription()).contains("job 'stock'").contains("PUSH")
        .contains("7 bytes is no whole number of 4-byte floats");
  }

  @Test
  void it_reads_that_a_stream_starts_with_a_registration() {
    assertThat(refused(shard.request().setPull(Pull.getDefaultInstance())).getDescription()).contains("must be REGISTER, but is PULL");
  }

  @Test
  void the_documentation_quotes_this() throws Exception {
    Path root = Path.of(System.getProperty("regatta.root", ".."));
    String docs = Files.readString(root.resolve("docs/protocol.md"));
    Path here = root.resolve("shared-protocol/src/test/java/io/regatta/protocol/shard");
    for (String[] quote : List.of(new String[] {"StockClientExample.java", "// example begins\n", "// example ends"},
        new String[] {"StockClientTest.java", "    // usage begins\n", "// usage ends"})) {
      String source = Files.readString(here.resolve(quote[0]));
      int from = source.indexOf(quote[1]) + quote[1].length();
      assertThat(docs).contains(source.substring(from, source.indexOf(quote[2], from)).stripIndent());
    }
  }

  private void register() throws Exception {
    Optimizer sgd = Optimizer.newBuilder().setKind("sgd")
        .setLearningRate(LearningRate.newBuilder().setKind(LearningRate.Kind.CONSTANT).setBase(0.5)).build();
    shard.ask(shard.request().setRegister(Register.newBuilder().setTrainer(RegisterTrainer.newBuilder().setMode(Mode.ASYNC)
        .setTrainers(1).setNanPolicy(NanPolicy.FAIL).setShards(1).setMinBlock(8192).setDenseOptimizer(sgd)
        .addDense(DenseVariable.newBuilder().setName("w").addShape(4)))));
  }

  private Status refused(TensorMessage.Builder message) {
    StatusRuntimeException[] thrown = new StatusRuntimeException[1];
    assertThatThrownBy(() -> shard.ask(message)).isInstanceOfSatisfying(StatusRuntimeException.class,
        e -> thrown[0] = e);
    assertThat(thrown[0].getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    return thrown[0].getStatus();
  }
}
