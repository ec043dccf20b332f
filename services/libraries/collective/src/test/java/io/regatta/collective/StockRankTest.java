package io.regatta.collective;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.address.HostPort;
import io.regatta.node.admin.Waits;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.collective.CollectiveGrpcClient;
import io.regatta.protocol.tensor.CollectiveCall.Algorithm;
import io.regatta.protocol.tensor.CollectiveCall.Operation;
import io.regatta.protocol.tensor.CollectiveCall.Reduction;
import io.regatta.protocol.tensor.CollectiveCall;
import io.regatta.protocol.tensor.CollectiveElements;
import io.regatta.protocol.tensor.CollectiveFailed;
import io.regatta.protocol.tensor.CollectiveOpen;
import io.regatta.protocol.tensor.DType;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.GrpcClientRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A gRPC client with nothing of ours but the .proto is rank 0 of two. */
class StockRankTest {
  private final Vertx vertx = Vertx.vertx(PlainVertx.options());
  private final BlockingQueue<TensorMessage> received = new LinkedBlockingQueue<>();
  private CollectivePort port;
  private GrpcClient client;
  private GrpcClientRequest<TensorMessage, TensorMessage> stream;
  private Collectives ranks;

  @BeforeEach
  void form() throws Exception {
    port = get(CollectivePort.listen(vertx, "127.0.0.1", CollectiveOptions.defaults(), new Waits()));
    Future<Collectives> formed = port.form(new Membership("stock", 7, 1, List.of("127.0.0.1:1", port.endpoint())));
    client = GrpcClient.client(vertx);
    HostPort at = HostPort.parse(port.endpoint(), "rank 1");
    stream = get(client.request(SocketAddress.inetSocketAddress(at.port(), at.host()), CollectiveGrpcClient.Exchange));
    stream.response().onSuccess(answer -> answer.handler(received::add));
    get(stream.write(TensorMessage.newBuilder().setCollectiveOpen(CollectiveOpen.newBuilder().setGroup("stock").setGeneration(7)
        .setRank(0).setWorldSize(2)).build()));
    CollectiveOpen answer = next().getCollectiveOpen();
    assertThat(answer.getRank()).isEqualTo(1);
    assertThat(answer.getGeneration()).isEqualTo(7);
    ranks = get(formed);
  }

  @AfterEach
  void close() {
    get(port.close());
    get(client.close());
    get(vertx.close());
  }

  private TensorMessage next() throws InterruptedException {
    TensorMessage message = received.poll(20, TimeUnit.SECONDS);
    assertThat(message).as("a message within 20 s").isNotNull();
    return message;
  }

  private static ByteString floats(float... values) {
    ByteBuffer bytes = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    return ByteString.copyFrom(bytes);
  }

  /**
   * Rank 0's message in an exchange, the algorithm for this number of elements: all it has, and it gets all of rank
   * 1's.
   */
  private TensorMessage mine(float... values) {
    return TensorMessage.newBuilder().setCollective(CollectiveElements.newBuilder().setCall(CollectiveCall.newBuilder().setNumber(0)
        .setOperation(Operation.ALL_REDUCE).setReduction(Reduction.MEAN).setLength(values.length).setDtype(DType.FLOAT32)
        .setAlgorithm(Algorithm.EXCHANGE).setChunkBytes(32_768))).setPayload(floats(values)).build();
  }

  @Test
  void it_takes_part_in_an_all_reduce() throws Exception {
    float[] values = {1, 2, 3};
    Future<Void> call = ranks.allReduce(Tensor.of(values), ReduceOp.MEAN);
    get(stream.write(mine(3, 4, 9)));
    TensorMessage theirs = next();
    assertThat(theirs.getCollective()).isEqualTo(mine(0, 0, 0).getCollective());
    assertThat(theirs.getPayload()).isEqualTo(floats(1, 2, 3));
    get(call);
    assertThat(values).containsExactly(2, 3, 6);
  }

  @Test
  void when_it_gives_up_its_reason_is_told() throws Exception {
    Future<Void> call = ranks.allReduce(Tensor.of(new float[3]), ReduceOp.MEAN);
    get(stream.write(TensorMessage.newBuilder().setCollectiveFailed(CollectiveFailed.newBuilder().setStatus(14)
        .setText("group stock, generation 7: rank 0 has no power")).build()));
    assertThatThrownBy(() -> get(call)).isInstanceOf(PeerLost.class).hasMessage("group stock, generation 7: rank 0 has no power");
  }

  @Test
  void when_it_goes_away_it_is_lost() {
    Future<Void> call = ranks.allReduce(Tensor.of(new float[3]), ReduceOp.MEAN);
    stream.cancel();
    assertThatThrownBy(() -> get(call)).isInstanceOf(PeerLost.class).hasMessageContaining("rank 0 was lost");
  }
}
