package io.regatta.load;

import static org.openjdk.jmh.annotations.Mode.*;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.SparseRows;
import io.regatta.load.codec.EndlessStream;
import io.regatta.load.codec.NoShard;
import io.regatta.protocol.shard.GrpcShardLink;
import io.regatta.protocol.shard.ShardStreamSession;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.frame.FrameReceiver;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.Register;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A benchmark of the protocol's work on a push of about 600 KB without a network. A trainer's link cuts it into frames
 * in pooled memory, and a server's session assembles it from slices of 64 KB. Rows: 12,800 of 10 floats; dense: 153,600
 * floats.
 */
@State(Scope.Benchmark)
@BenchmarkMode(AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class CodecBenchmark {

  static final int ROWS = 12_800;
  static final int DIM = 10;
  static final int ELEMENTS = 153_600;
  private static final int PIECE = 64 << 10;
  private static final TensorMessage.Builder COMMON = TensorMessage.newBuilder().setJob("codec").setIncarnation(1);

  /** The content of the push. */
  public enum Content { ROWS, DENSE }

  @Param
  public Content content = Content.ROWS;

  private final EndlessStream client = new EndlessStream();
  private final EndlessStream server = new EndlessStream();
  private final NoShard shard = new NoShard();
  private GrpcShardLink link;
  private Push push;
  private List<TensorMessage> headers;
  private List<ByteBuf> payloads;
  private long requests;

  @Setup
  public void open() {
    StreamOptions options = StreamOptions.defaults();
    push = content == Content.ROWS ? new Push(List.of(new Contributor(0, 1, 1, 1)), 0, 0, null, List.of(rows()))
        : new Push(List.of(new Contributor(0, 1, 1, 1)), 0, 0, DenseMemory.of(new float[ELEMENTS]), List.of());
    link = new GrpcShardLink(client, "nobody", 0, 0, () -> 1, job -> Future.failedFuture("no digest"), options);
    ShardStreamSession.serve(server, shard, options);
    feed(server.receiver(), List.of(COMMON.clone().setChunkCount(1)
        .setRegister(Register.newBuilder().setAgain(true)).build()), List.of(Unpooled.EMPTY_BUFFER));
    headers = new ArrayList<>();
    payloads = new ArrayList<>();
    client.onSend(frame -> {
      headers.add(frame.header().toBuilder().setJob("codec").setIncarnation(1).build());
      payloads.add(copy(frame));
    });
    encode();
    client.onSend(frame -> { });
  }

  private static SparseRows rows() {
    long[] ids = new long[ROWS];
    for (int i = 0; i < ROWS; i++) {
      ids[i] = i * 0x9E3779B97F4A7C15L;
    }
    return new SparseRows("embedding", ids, new float[ROWS * DIM]);
  }

  private static ByteBuf copy(TensorFrame frame) {
    ByteBuffer payload = frame.read();
    return Unpooled.wrappedBuffer(ByteBuffer.allocateDirect(payload.remaining()).put(payload).flip());
  }

  /** Encodes a push to frames, and handles its acknowledgement. */
  @Benchmark
  public CompletionStage<PushAck> encode() {
    CompletionStage<PushAck> answer = link.push(push);
    FrameReceiver receiver = client.receiver();
    receiver.begin(TensorMessage.newBuilder().setPushAck(io.regatta.protocol.tensor.PushAck.getDefaultInstance())
        .setRequest(++requests).setChunkCount(1).build(), 0);
    receiver.end();
    return answer;
  }

  /** Decodes frames to a push, and acknowledges it. */
  @Benchmark
  public Push decode() {
    feed(server.receiver(), headers, payloads);
    return shard.last();
  }

  private static void feed(FrameReceiver receiver, List<TensorMessage> headers, List<ByteBuf> payloads) {
    for (int i = 0; i < headers.size(); i++) {
      ByteBuf payload = payloads.get(i).duplicate();
      receiver.begin(headers.get(i), payload.readableBytes());
      while (payload.isReadable()) {
        receiver.payload(payload.readSlice(Math.min(PIECE, payload.readableBytes())));
      }
      receiver.end();
    }
  }
}
