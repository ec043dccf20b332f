package io.regatta.parameterserver;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.protocol.message.JobSpecs;
import io.regatta.protocol.tensor.Contributor;
import io.regatta.protocol.tensor.Leave;
import io.regatta.protocol.tensor.Pull;
import io.regatta.protocol.tensor.Push;
import io.regatta.protocol.tensor.Register;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.tensor.TensorMessage.BodyCase;
import io.regatta.protocol.testing.Messages;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server process with a heap of 512 MiB whose clients ask for more: it refuses in words, and serves the others. */
class SmallHeapTest {

  private static final int SECONDS = 300;
  private static final int WIDE = 64;
  private static final int TRAINERS = 16;
  private static final int CHUNK_ROWS = 1 << 16;

  @TempDir
  Path dir;
  private Process server;
  private ManagedChannel channel;
  private Path log;

  @BeforeEach
  void start() throws Exception {
    log = dir.resolve("log");
    server = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx512m", "-cp",
        System.getProperty("java.class.path"), ServerProcess.class.getName()).redirectError(log.toFile()).start();
    BufferedReader output = new BufferedReader(new InputStreamReader(server.getInputStream()));
    String line;
    do {
      line = output.readLine();
      assertThat(line).as(() -> text()).isNotNull();
    } while (!line.startsWith(ServerProcess.READY));
    Thread drain = new Thread(() -> output.lines().forEach(l -> { }));
    drain.setDaemon(true);
    drain.start();
    channel = NettyChannelBuilder.forAddress("127.0.0.1", Integer.parseInt(line.substring(ServerProcess.READY.length())))
        .usePlaintext().build();
  }

  @AfterEach
  void stop() throws Exception {
    channel.shutdownNow().awaitTermination(SECONDS, TimeUnit.SECONDS);
    server.destroyForcibly().waitFor();
  }

  private String text() {
    try {
      return Files.readString(log);
    } catch (java.io.IOException e) {
      return e.toString();
    }
  }

  @Test
  void refusesIncompletePushesThatTheHeapCannotHold() throws Exception {
    Exchange huge = registered(job("huge", Mode.ASYNC), 0);
    huge.send(message("huge", 2, 0).setPush(push(0)).setChunkCount(9)
        .setRows(Messages.rows("wide", 1, WIDE).toBuilder().setTotal(2_000_000)).setPayload(bytes(8 + 4 * WIDE)));
    assertThat(huge.failure()).satisfies(s -> refused(s, "PUSH of job 'huge', rank 0, step 0", "528000000 bytes", "-Xmx"));
    Exchange[] parts = new Exchange[3];
    for (int rank = 0; rank < 3; rank++) { // each of which would fit alone
      parts[rank] = registered(job("parts", Mode.ASYNC), rank);
      parts[rank].send(message("parts", 2, rank).setPush(push(rank)).setChunkCount(9)
          .setRows(Messages.rows("wide", 1, WIDE).toBuilder().setTotal(400_000)).setPayload(bytes(8 + 4 * WIDE)));
      if (rank < 2) {
        parts[rank].send(message("parts", 3, rank).setPull(Pull.getDefaultInstance()));
        assertThat(parts[rank].receive().getBodyCase()).isEqualTo(BodyCase.PULL_VALUES);
      }
    }
    assertThat(parts[2].failure()).satisfies(s -> refused(s, "PUSH of job 'parts', rank 2", "-Xmx"));
    servesOthers();
  }

  @Test
  void refusesWaitingPullsThatTheHeapCannotHold_andFreesThem() throws Exception {
    Exchange waits = registered(job("waits", Mode.SYNC), 0);
    registered(job("waits", Mode.SYNC), 1);
    for (int i = 0; i < 40 && !waits.failed(); i++) { // 8 MB of ids each
      pull(waits, 0, "waits", "narrow", 2 + i, 1, 1 << 20, 0);
    }
    assertThat(waits.failure()).satisfies(s -> refused(s, "PULL of job 'waits', rank 0, step 1", "8388608 bytes", "-Xmx"));
    servesOthers();
  }

  @Test
  void answersOneAfterTheOther_whenTheirReadersAreSlow() throws Exception {
    Exchange[] slow = new Exchange[TRAINERS];
    for (int rank = 0; rank < TRAINERS; rank++) { // 26 MB of rows and ids each
      slow[rank] = registered(job("slow", Mode.ASYNC), rank);
      slow[rank].reads(false);
      pull(slow[rank], rank, "slow", "wide", 2, 0, 100_000, 0);
    }
    servesOthers();
    for (Exchange each : slow) {
      each.reads(true);
    }
    for (Exchange each : slow) {
      TensorMessage last;
      do {
        last = each.receive();
        assertThat(last.getBodyCase()).isEqualTo(BodyCase.PULL_VALUES);
      } while (last.getChunkIndex() < last.getChunkCount() - 1);
    }
    pull(slow[0], 0, "slow", "wide", 99, 0, 600_000, 0);
    assertThat(slow[0].failure()).satisfies(s -> refused(s, "pull of step 0 of trainer 0", "153600000 bytes", "shard 0 of job slow", "-Xmx"));
    servesOthers();
  }

  @Test
  void refusesParametersThatTheHeapCannotHold() throws Exception {
    JobSpec dense = new JobSpec("dense", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 1, 8192, new ModelSpec(1,
        List.of(new DenseVariable("w", List.of(100_000_000))), OptimizerSpec.of("adagrad", 0.5), List.of()));
    Exchange exchange = new Exchange(channel);
    exchange.send(message("dense", 1, 0).setRegister(Register.newBuilder().setTrainer(JobSpecs.toProto(dense))));
    assertThat(exchange.failure()).satisfies(s -> refused(s, "shard 0 of job dense refused", "800000000 bytes", "-Xmx"));
    Exchange grows = registered(job("grows", Mode.ASYNC), 0);
    int rows = 100_000;
    int created = 0;
    while (!grows.failed() && created < 4_000_000) {
      pull(grows, 0, "grows", "wide", 2 + created, 0, rows, created);
      created += rows;
      grows.answered();
    }
    assertThat(grows.failure()).satisfies(s -> refused(s, "pull of step 0 of trainer 0", "new sparse rows", "shard 0 of job grows", "-Xmx"));
    servesOthers();
  }

  private static void refused(Status status, String... words) {
    assertThat(status.getCode()).as(status.toString()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    assertThat(status.getDescription()).contains(words);
  }

  /** A push and a pull of another job go through, and nothing has run out of memory. */
  private void servesOthers() throws Exception {
    Exchange good = registered(job("good", Mode.ASYNC), 0);
    good.send(message("good", 2, 0).setPush(push(0)).setRows(Messages.rows("narrow", 1, 1))
        .setPayload(ByteString.copyFrom(ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN).putLong(7)
            .putFloat(2).flip())));
    assertThat(good.receive().getBodyCase()).isEqualTo(BodyCase.PUSH_ACK);
    pull(good, 0, "good", "narrow", 3, 1, 1, 7);
    ByteBuffer row = good.receive().getPayload().asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    assertThat(row.getLong()).isEqualTo(7);
    assertThat(row.getFloat()).isEqualTo(-2);
    good.send(message("good", 4, 0).setLeave(Leave.getDefaultInstance()));
    assertThat(good.receive().getBodyCase()).isEqualTo(BodyCase.LEAVE_ACK);
    assertThat(server.isAlive()).isTrue();
    assertThat(text()).doesNotContain("OutOfMemoryError");
  }

  private static JobSpec job(String name, Mode mode) {
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    return new JobSpec(name, mode, name.equals("good") ? 1 : TRAINERS, 0, NanPolicy.FAIL, 1, 8192, new ModelSpec(1, List.of(), sgd,
        List.of(new SparseTableSpec("narrow", 1, InitializerSpec.zeros(), sgd),
            new SparseTableSpec("wide", WIDE, InitializerSpec.zeros(), sgd))));
  }

  private Exchange registered(JobSpec job, int rank) throws Exception {
    Exchange exchange = new Exchange(channel);
    exchange.send(message(job.job(), 1, rank).setRegister(Register.newBuilder().setTrainer(JobSpecs.toProto(job))));
    assertThat(exchange.receive().getBodyCase()).isEqualTo(BodyCase.REGISTER_ACK);
    return exchange;
  }

  private static TensorMessage.Builder message(String job, long request, int rank) {
    return TensorMessage.newBuilder().setRequest(request).setJob(job).setRank(rank).setIncarnation(1)
        .setChunkCount(1);
  }

  private static Push push(int rank) {
    return Push.newBuilder().addContributors(Contributor.newBuilder().setRank(rank).setIncarnation(1).setSequence(1).setWeight(8))
        .build();
  }

  private static ByteString bytes(int n) {
    return UnsafeByteOperations.unsafeWrap(new byte[n]);
  }

  /** Asks for rows {@code from .. from + rows}. */
  private static void pull(Exchange exchange, int rank, String job, String table, long request, long step, int rows, long from)
      throws Exception {
    int chunks = (rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
    for (int c = 0; c < chunks && !exchange.failed(); c++) {
      int n = Math.min(CHUNK_ROWS, rows - c * CHUNK_ROWS);
      ByteBuffer ids = ByteBuffer.allocate(Long.BYTES * n).order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < n; i++) {
        ids.putLong(from + (long) c * CHUNK_ROWS + i);
      }
      exchange.send(message(job, request, rank).setPull(Pull.newBuilder().setMinStep(step))
          .setRows(Messages.rows(table, n, 0).toBuilder().setTotal(rows).setOffset((long) c * CHUNK_ROWS))
          .setChunkIndex(c).setChunkCount(chunks)
          .setPayload(UnsafeByteOperations.unsafeWrap(ids.flip())));
    }
  }

  /** One bidi stream, which sends as fast as the server reads; answers wait in a queue for the test. */
  private static final class Exchange implements ClientResponseObserver<TensorMessage, TensorMessage> {
    private final BlockingQueue<Object> received = new LinkedBlockingQueue<>();
    private final Semaphore ready = new Semaphore(0);
    private ClientCallStreamObserver<TensorMessage> requests;
    private volatile boolean failed;
    private volatile boolean reads = true;

    Exchange(ManagedChannel channel) {
      MethodDescriptor<TensorMessage, TensorMessage> method = MethodDescriptor.<TensorMessage, TensorMessage>newBuilder()
          .setType(MethodDescriptor.MethodType.BIDI_STREAMING).setFullMethodName("regatta.ParameterShard/Exchange")
          .setRequestMarshaller(ProtoUtils.marshaller(TensorMessage.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(TensorMessage.getDefaultInstance())).build();
      ClientCalls.asyncBidiStreamingCall(channel.newCall(method, CallOptions.DEFAULT.withMaxInboundMessageSize(64 << 20)), this);
      requests.request(1);
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<TensorMessage> stream) {
      requests = stream;
      stream.disableAutoRequestWithInitial(0);
      stream.setOnReadyHandler(ready::release);
    }

    void send(TensorMessage.Builder message) throws InterruptedException {
      while (!requests.isReady() && !failed) {
        assertThat(ready.tryAcquire(SECONDS, TimeUnit.SECONDS)).as("the server reads").isTrue();
      }
      if (!failed) {
        requests.onNext(message.build());
      }
    }

    /** Lets answers come, or holds them back; one may be on its way. */
    void reads(boolean on) {
      reads = on;
      if (on) {
        requests.request(1);
      }
    }

    boolean failed() {
      return failed;
    }

    /** Waits for the end of an answer, or of the stream, which stays in the queue. */
    void answered() throws InterruptedException {
      while (true) {
        Object next = received.poll(SECONDS, TimeUnit.SECONDS);
        assertThat(next).isNotNull();
        if (next instanceof Throwable) {
          received.add(next);
          return;
        }
        TensorMessage m = (TensorMessage) next;
        if (m.getChunkIndex() == m.getChunkCount() - 1) {
          return;
        }
      }
    }

    TensorMessage receive() throws InterruptedException {
      Object next = received.poll(SECONDS, TimeUnit.SECONDS);
      assertThat(next).isInstanceOf(TensorMessage.class);
      return (TensorMessage) next;
    }

    Status failure() throws InterruptedException {
      Object next = received.poll(SECONDS, TimeUnit.SECONDS);
      assertThat(next).isInstanceOf(Throwable.class);
      return Status.fromThrowable((Throwable) next);
    }

    @Override
    public void onNext(TensorMessage message) {
      received.add(message);
      if (reads) {
        requests.request(1);
      }
    }

    @Override
    public void onError(Throwable error) {
      received.add(error);
      failed = true;
      ready.release(1000);
    }

    @Override
    public void onCompleted() {
      received.add("completed");
    }
  }
}
