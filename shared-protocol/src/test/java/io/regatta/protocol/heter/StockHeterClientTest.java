package io.regatta.protocol.heter;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.regatta.protocol.stream.Loop;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.tensor.CutBatch;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Role;
import io.regatta.protocol.tensor.HeterFrame;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A stock grpc-java client, with nothing of ours but the .proto, has a batch computed by a heter worker. */
class StockHeterClientTest {
  private static final MethodDescriptor<TensorMessage, TensorMessage> COMPUTE = MethodDescriptor
      .<TensorMessage, TensorMessage>newBuilder().setType(MethodDescriptor.MethodType.BIDI_STREAMING)
      .setFullMethodName("regatta.HeterWorker/Compute")
      .setRequestMarshaller(ProtoUtils.marshaller(TensorMessage.getDefaultInstance()))
      .setResponseMarshaller(ProtoUtils.marshaller(TensorMessage.getDefaultInstance())).build();
  private static final TensorMessage FROM = TensorMessage.newBuilder().setJob("stock").setRank(0).setIncarnation(1)
      .build();

  private final BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
  private final StreamObserver<TensorMessage> observer = new StreamObserver<>() {
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
      answers.add("end");
    }
  };

  private static final HeterHandler ECHO = new HeterHandler() {
    @Override
    public Future<CutOpened> open(Origin from, CutOpen open) {
      return Future.succeededFuture(CutOpened.newBuilder().setDevice("cpu").build());
    }

    @Override
    public Future<ComputedBatch> compute(Origin from, BatchToCompute batch) {
      return Future.succeededFuture(CutTensors.echo(batch));
    }

    @Override
    public void closed(Origin from, boolean clean) {}
  };

  private static ByteString floats(float... values) {
    ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    return ByteString.copyFrom(bytes);
  }

  private TensorMessage next() throws Exception {
    Object answer = answers.poll(20, TimeUnit.SECONDS);
    assertThat(answer).isInstanceOf(TensorMessage.class);
    return (TensorMessage) answer;
  }

  @Test
  void it_opens_and_computes_in_two_chunks() throws Exception {
    try (Loop loop = new Loop()) {
      int port = loop.serve(StreamPaths.HETER_COMPUTE, StreamOptions.defaults(),
          stream -> HeterStreamSession.serve(stream, ECHO, StreamOptions.defaults())).actualPort();
      ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
      StreamObserver<TensorMessage> requests =
          ClientCalls.asyncBidiStreamingCall(channel.newCall(COMPUTE, CallOptions.DEFAULT), observer);
      requests.onNext(FROM.toBuilder().setRequest(1)
          .setHeter(HeterFrame.newBuilder().setOpen(CutOpen.newBuilder().setProgram("Ctr"))).build());
      assertThat(next().getHeter().getOpened().getDevice()).isEqualTo("cpu");

      CutTensor input = CutTensor.newBuilder().setRole(Role.INPUT).setName("0").addShape(2).addShape(3).build();
      TensorMessage.Builder batch = FROM.toBuilder().setRequest(2).setChunkCount(2);
      requests.onNext(batch.setHeter(HeterFrame.newBuilder().setTotal(24)
          .setBatch(CutBatch.newBuilder().setNumber(1).setStep(4).setExamples(2).addTensors(input)))
          .setPayload(floats(1, 2, 3, 4)).build());
      requests.onNext(batch.setChunkIndex(1).setHeter(HeterFrame.newBuilder().setTotal(24).setOffset(16))
          .setPayload(floats(5, 6)).build());
      TensorMessage result = next();
      assertThat(result.getRequest()).isEqualTo(2);
      assertThat(result.getHeter().getResult().getLoss()).isEqualTo(2);
      assertThat(result.getHeter().getResult().getTensors(0)).isEqualTo(input);
      assertThat(result.getPayload()).isEqualTo(floats(1, 2, 3, 4, 5, 6));

      requests.onCompleted();
      assertThat(answers.poll(20, TimeUnit.SECONDS)).isEqualTo("end");
      channel.shutdownNow().awaitTermination(20, TimeUnit.SECONDS);
    }
  }
}
