package io.regatta.protocol.shard;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.dense.DenseVector;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Indeterminate;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.memory.HeapBudget;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.protocol.message.JobSpecs;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.stream.Loop;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.Leave;
import io.regatta.protocol.tensor.Register;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.tensor.TensorMessage.BodyCase;
import io.regatta.protocol.testing.Messages;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The refusals, waits and limits of a session on every transport, seen by a client that writes its own frames. */
abstract class ShardStreamSessionContract {
  private static final String PATH = StreamPaths.PARAMETER_SHARD;

  private final Loop loop = new Loop();
  private final Recorder shard = new Recorder();
  private final BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
  private final StreamOptions options;

  ShardStreamSessionContract(Transport transport) {
    this(transport, PeerSecurity.NONE);
  }

  ShardStreamSessionContract(Transport transport, PeerSecurity security) {
    options = StreamOptions.defaults()
        .with(s -> s.initialWindowBytes(65_535).connectionWindowBytes(1 << 20)
            .chunkBytes(32 << 10).maxMessageBytes(64 << 10).maxRequestBytes(1 << 20).maxRequests(4))
        .withTransport(transport).withSecurity(security);
  }

  /** A shard whose answers the test gives, or gives beforehand. Its fields are read by the test between events. */
  private static final class Recorder implements ShardStreamHandler {
    final BlockingQueue<String> calls = new LinkedBlockingQueue<>();
    final List<Promise<Pulled>> pulls = new ArrayList<>();
    Future<Long> registered = Future.succeededFuture(0L);
    float[] values;

    @Override
    public Future<Long> register(Origin from, JobSpec job, long step) {
      calls.add("register " + from.trainer().rank());
      return registered;
    }

    @Override
    public Future<Void> initialize(Origin from, DenseValues dense) {
      calls.add("initialize " + dense.size());
      throw new IllegalStateException("a bug");
    }

    @Override
    public Future<PushAck> push(Origin from, Push push) {
      calls.add("push " + push.dense().size());
      return Future.succeededFuture(new PushAck(1, 0, false, false));
    }

    @Override
    public Future<Pulled> pull(Origin from, Pull pull) {
      calls.add("pull");
      if (values != null) {
        return Future.succeededFuture(new Pulled(1, DenseMemory.of(values), List.of()));
      }
      Promise<Pulled> promise = Promise.promise();
      pulls.add(promise);
      return promise.future();
    }

    @Override
    public Future<Void> leave(Origin from, boolean succeeded) {
      calls.add(succeeded ? "leave with success" : "leave");
      return Future.succeededFuture();
    }

    @Override
    public Future<ExportCursor> export(Origin from, String table) {
      return Future.failedFuture(new InvalidInput("no table " + table));
    }

    @Override
    public void closed(Origin from) {
      calls.add("closed " + from.trainer().rank());
    }
  }

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  @Test
  void a_stream_starts_with_a_registration() throws Exception {
    send(connect(), message(BodyCase.PULL, 1));
    assertRefused(InvalidInput.class, "must be REGISTER, but is PULL");
    assertThat(shard.calls).isEmpty();
  }

  @Test
  void a_registration_without_a_job_is_refused() throws Exception {
    send(connect(), message(BodyCase.REGISTER, 1));
    assertRefused(InvalidInput.class, "without `trainer` or `again`");
    assertThat(shard.calls).isEmpty();
  }

  @Test
  void a_trainer_that_leaves_says_whether_its_run_has_succeeded() throws Exception {
    send(registered(), message(BodyCase.LEAVE, 2).setLeave(Leave.newBuilder().setSucceeded(true)));
    assertCalls("leave with success");
    assertThat(answer().getBodyCase()).isEqualTo(BodyCase.LEAVE_ACK);
    send(registered(), message(BodyCase.LEAVE, 2));
    assertCalls("leave");
  }

  @Test
  void requests_wait_for_the_registration_before_them() throws Exception {
    Promise<Long> later = Promise.promise();
    shard.registered = later.future();
    TensorStream s = connect();
    send(s, register(), message(BodyCase.LEAVE, 2));
    assertCalls("register 3");
    loop.context.runOnContext(v -> {
      assertThat(shard.calls).isEmpty();
      later.complete(0L);
    });
    assertThat(answer().getBodyCase()).isEqualTo(BodyCase.REGISTER_ACK);
    assertThat(answer().getBodyCase()).isEqualTo(BodyCase.LEAVE_ACK);
    assertCalls("leave");
  }

  @Test
  void a_message_of_another_trainer_is_refused_on_this_stream() throws Exception {
    TensorStream s = registered();
    send(s, message(BodyCase.PULL, 2).setRank(5));
    assertRefused(InvalidInput.class, "rank=5");
    assertCalls("closed 3");
  }

  @Test
  void an_answer_is_no_request() throws Exception {
    TensorStream s = registered();
    send(s, message(BodyCase.PUSH_ACK, 2));
    assertRefused(InvalidInput.class, "PUSH_ACK is not a request");
  }

  @Test
  void a_bug_in_the_server_is_told_as_not_known_to_have_happened() throws Exception {
    TensorStream s = registered();
    send(s, message(BodyCase.INITIALIZE, 2));
    assertRefused(Indeterminate.class, "a bug");
    assertCalls("initialize 0", "closed 3");
  }

  @Test
  void a_half_closed_stream_gets_the_answers_that_it_waits_for_and_then_the_end() throws Exception {
    TensorStream s = registered();
    send(s, message(BodyCase.PULL, 2));
    loop.context.runOnContext(v -> s.end());
    assertCalls("pull");
    loop.context.runOnContext(v -> shard.pulls.get(0).complete(new Pulled(4, DenseMemory.of(new float[] {1}), List.of())));
    assertThat(answer().getPullValues().getVersion()).isEqualTo(4);
    assertThat(next()).isEqualTo("end");
    assertCalls("closed 3");
  }

  @Test
  void a_stream_that_ends_in_the_middle_of_a_request_is_refused_and_nothing_is_applied() throws Exception {
    TensorStream s = registered();
    send(s, message(BodyCase.PUSH, 2).setChunkCount(2).setDense(Messages.dense(0, 8)), 16);
    loop.context.runOnContext(v -> s.end());
    assertRefused(InvalidInput.class, "ended with 1 incomplete request; of a push");
    assertCalls("closed 3");
  }

  @Test
  void chunks_of_several_requests_may_be_mixed_within_one_budget() throws Exception {
    TensorStream s = registered();
    send(s, message(BodyCase.PUSH, 2).setChunkCount(2).setDense(Messages.dense(0, 8)), 16);
    send(s, message(BodyCase.PUSH, 3).setChunkCount(2).setDense(Messages.dense(0, 4)), 8);
    send(s, message(BodyCase.PUSH, 3).setChunkCount(2).setChunkIndex(1).setDense(Messages.dense(2, 4)), 8);
    send(s, message(BodyCase.PUSH, 2).setChunkCount(2).setChunkIndex(1).setDense(Messages.dense(4, 8)), 16);
    assertThat(answer().getRequest()).isEqualTo(3);
    assertThat(answer().getRequest()).isEqualTo(2);
    assertCalls("push 4", "push 8");
    send(s, message(BodyCase.PUSH, 4).setChunkCount(2).setDense(Messages.dense(0, 200_000)), 16);
    send(s, message(BodyCase.PUSH, 5).setChunkCount(2).setDense(Messages.dense(0, 200_000)), 16);
    assertRefused(InvalidInput.class, "stream.max_request_bytes = 1048576");
  }

  /** Else a process would serve less and less the more of its trainers are killed. */
  @Test
  void a_stream_that_ends_gives_back_what_its_requests_have_taken_of_the_heap() throws Exception {
    long before = HeapBudget.REQUESTS.taken();
    TensorStream s = registered();
    send(s, message(BodyCase.PULL, 2).setRows(Messages.rows("t", 2, 0)), 16);
    assertCalls("pull");
    assertThat(HeapBudget.REQUESTS.taken()).isEqualTo(before + 16);
    send(s, message(BodyCase.PUSH, 4).setChunkCount(2).setDense(Messages.dense(0, 100)), 16);
    send(s, message(BodyCase.PUSH, 5).setChunkCount(2).setRows(Messages.rows("t", 1, 2).toBuilder().setTotal(10)), 16);
    loop.context.runOnContext(v -> s.fail(new PeerLost("gone")));
    String call;
    do {
      call = shard.calls.poll(30, TimeUnit.SECONDS);
      assertThat(call).isNotNull();
    } while (!call.equals("closed 3"));
    assertThat(HeapBudget.REQUESTS.taken()).isEqualTo(before);
  }

  @Test
  void a_request_that_has_been_answered_takes_nothing_of_the_heap() throws Exception {
    long before = HeapBudget.REQUESTS.taken();
    TensorStream s = registered();
    send(s, message(BodyCase.PUSH, 2).setDense(Messages.dense(0, 4)), 16);
    assertThat(answer().getRequest()).isEqualTo(2);
    send(s, message(BodyCase.PULL, 3).setRows(Messages.rows("t", 2, 0)), 16);
    assertCalls("push 4", "pull");
    loop.context.runOnContext(v -> shard.pulls.get(0).complete(new Pulled(1, null, List.of())));
    assertThat(answer().getRequest()).isEqualTo(3);
    assertThat(HeapBudget.REQUESTS.taken()).isEqualTo(before);
  }

  @Test
  void rows_of_an_answer_count_until_they_are_sent() throws Exception {
    long before = HeapBudget.ANSWERS.taken();
    TensorStream s = registered();
    loop.context.runOnContext(v -> s.pause());
    send(s, message(BodyCase.PULL, 3).setRows(Messages.rows("t", 1, 0)), 8);
    send(s, message(BodyCase.PULL, 4).setRows(Messages.rows("t", 1, 0)), 8);
    send(s, message(BodyCase.PULL, 5).setRows(Messages.rows("t", 1, 0)), 8);
    assertCalls("pull", "pull", "pull");
    int n = 1_000_000;
    List<SparseRows> rows = List.of(new SparseRows("t", new long[n], new float[n]));
    Promise<Long> taken = Promise.promise();
    loop.context.runOnContext(v -> {
      shard.pulls.forEach(p -> p.complete(new Pulled(1, null, rows)));
      taken.complete(HeapBudget.ANSWERS.taken());
    });
    assertThat(get(taken.future())).isGreaterThan(before + 12L * n);
    loop.context.runOnContext(v -> s.resume());
    for (int i = 3; i < 6; i++) {
      TensorMessage last;
      do {
        last = answer();
      } while (last.getChunkIndex() < last.getChunkCount() - 1);
      assertThat(last.getRequest()).isEqualTo(i);
    }
    assertThat(HeapBudget.ANSWERS.taken()).isEqualTo(before);
  }

  @Test
  void requests_beyond_the_limit_are_not_read_until_one_is_answered() throws Exception {
    TensorStream s = registered();
    for (int i = 0; i < 7; i++) {
      send(s, message(BodyCase.PULL, 10 + i));
    }
    assertCalls("pull", "pull", "pull", "pull");
    loop.context.runOnContext(v -> {
      assertThat(shard.calls).isEmpty();
      shard.pulls.get(0).complete(new Pulled(1, null, List.of()));
    });
    assertThat(answer().getRequest()).isEqualTo(10);
    assertCalls("pull");
    assertThat(shard.calls).isEmpty();
  }

  @Test
  void a_peer_that_asks_and_does_not_read_is_held_back() throws Exception {
    shard.values = new float[100_000];
    TensorStream s = registered();
    loop.context.runOnContext(v -> s.pause());
    for (int i = 0; i < 50; i++) {
      send(s, message(BodyCase.PULL, 10 + i));
    }
    assertCalls("pull");
    // 64 KiB of window and the sender's queue hold no more than parts of two answers of 400 kB; no third is made.
    Promise<Void> turns = Promise.promise();
    loop.context.runOnContext(v -> loop.vertx.setTimer(100, t -> turns.complete()));
    get(turns.future());
    assertThat(shard.calls.size()).isLessThan(4);
    loop.context.runOnContext(v -> s.resume());
    for (int i = 0; i < 50; i++) {
      TensorMessage last;
      do {
        last = answer();
      } while (last.getChunkIndex() < last.getChunkCount() - 1);
      assertThat(last.getRequest()).isEqualTo(10 + i);
    }
  }

  @Test
  void a_client_that_vanishes_closes_its_session() throws Exception {
    TensorStream s = registered();
    send(s, message(BodyCase.PULL, 2));
    loop.context.runOnContext(v -> s.end());
    assertCalls("pull");
    loop.context.runOnContext(v -> s.fail(new PeerLost("gone")));
    assertCalls("closed 3");
    // An answer that comes too late has nowhere to go, and is given back.
    DenseVector vector = new DenseVector(DenseMemory.of(new float[DenseValues.BLOCK]), OptimizerSpec.sgd(1),
        List.of(), new BlockPool());
    Promise<Void> late = Promise.promise();
    loop.context.runOnContext(v -> {
      DenseValues first = vector.snapshot();
      float[] block = first.block(0);
      shard.pulls.get(0).complete(new Pulled(4, first, List.of()));
      vector.update(1, 1).apply(0, 0, new float[DenseValues.BLOCK]);
      assertThat(vector.snapshot().block(0)).as("nobody needs the old values").isSameAs(block);
      late.complete();
    });
    get(late.future());
  }

  private TensorStream connect() throws Exception {
    int port = loop.serve(PATH, options, s -> ShardStreamSession.serve(s, shard, options)).actualPort();
    return loop.open(port, PATH, options, s -> {
      s.exceptionHandler(answers::add).endHandler(v -> answers.add("end"));
      s.handler(answers::add);
    });
  }

  private TensorStream registered() throws Exception {
    TensorStream s = connect();
    send(s, register());
    assertThat(answer().getBodyCase()).isEqualTo(BodyCase.REGISTER_ACK);
    assertCalls("register 3");
    return s;
  }

  private static TensorMessage.Builder register() {
    return message(BodyCase.REGISTER, 1).setRegister(Register.newBuilder()
        .setTrainer(JobSpecs.toProto(TestJobs.job("job", Mode.ASYNC, 9, 8))));
  }

  private static TensorMessage.Builder message(BodyCase kind, long request) {
    return Messages.of(kind).setRequest(request).setJob("job").setRank(3).setIncarnation(1)
        .setChunkCount(1);
  }

  private void send(TensorStream s, TensorMessage.Builder... messages) {
    for (TensorMessage.Builder m : messages) {
      send(s, m, 0);
    }
  }

  private void send(TensorStream s, TensorMessage.Builder message, int bytes) {
    loop.context.runOnContext(v -> s.send(new TensorFrame(message.build(), ByteBuffer.allocate(bytes))));
  }

  private Object next() throws Exception {
    Object next = answers.poll(20, TimeUnit.SECONDS);
    assertThat(next).as("the server says something").isNotNull();
    return next;
  }

  private TensorMessage answer() throws Exception {
    Object next = next();
    assertThat(next).isInstanceOf(TensorFrame.class);
    return ((TensorFrame) next).header();
  }

  private void assertRefused(Class<? extends RegattaException> type, String reason) throws Exception {
    Object next = next();
    while (next instanceof TensorFrame) {
      next = next();
    }
    assertThat((Throwable) next).isInstanceOf(type).hasMessageContaining(reason);
  }

  private void assertCalls(String... expected) throws Exception {
    for (String call : expected) {
      assertThat(shard.calls.poll(20, TimeUnit.SECONDS)).isEqualTo(call);
    }
  }
}
