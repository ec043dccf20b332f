package io.regatta.protocol.heter;

import static io.regatta.protocol.heter.CutTensors.TRAINER;
import static io.regatta.protocol.heter.CutTensors.batch;
import static io.regatta.protocol.heter.CutTensors.bytes;
import static io.regatta.protocol.heter.CutTensors.echo;
import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.TrainerId;
import io.regatta.protocol.stream.Loop;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.stream.request.RequestMemory;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.protocol.tensor.HeterFrame;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.tensor.WorkerLoad;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpServer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of a trainer's link to a heter worker on every transport; chunks are much smaller than the tensors. */
abstract class HeterLinkContract {
  private static final String PATH = StreamPaths.HETER_COMPUTE;
  private static final WorkerLoad LOAD = WorkerLoad.newBuilder().setTrainers(1).setHighestRank(1).build();

  private final Loop loop = new Loop();
  private final Worker worker = new Worker();
  private final StreamOptions options;
  private final List<WorkerLoad> loads = new ArrayList<>();
  private final Promise<RegattaException> lost = Promise.promise();
  private HttpServer server;
  private HeterStreamSession session;
  private TensorStream serverStream;

  /** A worker that answers when the test says so. */
  private static final class Worker implements HeterHandler {
    private final List<BatchToCompute> batches = new ArrayList<>();
    private final List<Promise<ComputedBatch>> answers = new ArrayList<>();
    private final Promise<Boolean> closed = Promise.promise();
    private boolean atOnce = true;
    private int mostAtATime;
    private int open;
    private RequestMemory memory = RequestMemory.unlimited();

    @Override
    public RequestMemory memory() {
      return memory;
    }

    @Override
    public Future<CutOpened> open(Origin from, CutOpen request) {
      return request.getProgram().isEmpty() ? Future.failedFuture(new InvalidInput("no program here"))
          : Future.succeededFuture(CutOpened.newBuilder().setDevice(from.job() + " " + from.trainer().rank())
          .setLoad(LOAD)
          .build());
    }

    @Override
    public Future<ComputedBatch> compute(Origin from, BatchToCompute batch) {
      if (atOnce) {
        return Future.succeededFuture(echo(batch));
      }
      batches.add(batch);
      Promise<ComputedBatch> answer = Promise.promise();
      answers.add(answer);
      mostAtATime = Math.max(mostAtATime, ++open);
      return answer.future().onComplete(v -> open--);
    }

    @Override
    public void closed(Origin from, boolean clean) {
      closed.tryComplete(clean);
    }
  }

  HeterLinkContract(Transport transport) {
    options = StreamOptions.defaults()
        .with(s -> s.chunkBytes(1024).maxMessageBytes(8192).maxRequestBytes(1 << 20).maxRequests(4)
            .initialWindowBytes(65_535))
        .withTransport(transport);
  }

  @BeforeEach
  void listen() throws Exception {
    server = loop.serve(PATH, options, stream -> {
      serverStream = stream;
      session = HeterStreamSession.serve(stream, worker, options);
    });
  }

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  private HeterLink link() throws Exception {
    return get(loop.on(() -> new TensorStreamClient(loop.vertx, options).open("127.0.0.1", server.actualPort(), PATH)
        .map(stream -> new HeterLink(stream, "heter worker 0", "ctr", TRAINER, () -> 3, options)
            .onLoad(loads::add).onLost(lost::tryComplete))));
  }

  private HeterLink opened() throws Exception {
    HeterLink link = link();
    get(call(() -> link.open(open())));
    return link;
  }

  private static CutOpen open() {
    return CutOpen.newBuilder().setProgram("Ctr").build();
  }

  private <T> Future<T> call(Supplier<CompletionStage<T>> call) {
    return loop.on(() -> Future.fromCompletionStage(call.get()));
  }

  private void onLoop(Runnable task) throws Exception {
    get(loop.on(() -> {
      task.run();
      return Future.succeededFuture();
    }));
  }

  /** Waits until the worker has this many batches that it has not answered. */
  private void awaitBatches(int count) throws Exception {
    Promise<Void> there = Promise.promise();
    loop.context.runOnContext(v -> lookFor(count, there));
    get(there.future());
  }

  private void lookFor(int count, Promise<Void> there) {
    if (worker.batches.size() >= count) {
      there.complete();
    } else {
      loop.context.runOnContext(v -> lookFor(count, there));
    }
  }

  @Test
  void a_batch_comes_back_computed() throws Exception {
    HeterLink link = link();
    assertThat(get(call(() -> link.open(open()))).getDevice()).isEqualTo("ctr 1");
    assertThat(loads).containsExactly(LOAD);
    for (int number = 1; number <= 3; number++) {
      BatchToCompute batch = batch(TRAINER, number, 100);
      ComputedBatch result = get(call(() -> link.compute(batch)));
      assertThat(result.id()).isEqualTo(batch.id());
      assertThat(result.head().getLoss()).isEqualTo((number + 10) / 2.0);
      assertThat(bytes(result.tensors())).isEqualTo(bytes(echo(batch).tensors()));
    }
    get(call(() -> link.close(true)));
    assertThat(get(worker.closed.future())).as("a clean end").isTrue();
    assertThat(lost.future().isComplete()).isFalse();
  }

  @Test
  void answers_may_come_in_any_order() throws Exception {
    worker.atOnce = false;
    HeterLink link = opened();
    List<Future<ComputedBatch>> results = new ArrayList<>();
    for (int number = 1; number <= 3; number++) {
      BatchToCompute batch = batch(TRAINER, number, 50);
      results.add(call(() -> link.compute(batch)));
    }
    awaitBatches(3);
    for (int i = 2; i >= 0; i--) {
      int at = i;
      onLoop(() -> worker.answers.get(at).complete(echo(worker.batches.get(at))));
      assertThat(get(results.get(i)).id().number()).isEqualTo(i + 1);
    }
  }

  @Test
  void a_trainer_with_too_many_batches_is_refused_here_and_held_back_there() throws Exception {
    worker.atOnce = false;
    HeterLink link = opened();
    for (int number = 1; number <= 4; number++) {
      BatchToCompute batch = batch(TRAINER, number, 10);
      call(() -> link.compute(batch));
    }
    assertThatThrownBy(() -> get(call(() -> link.compute(batch(TRAINER, 5, 10))))).isInstanceOf(Overloaded.class);
    awaitBatches(4);
    assertThat(worker.mostAtATime).isEqualTo(4);
  }

  /** Its batches have several chunks: the first of each is read before there is room for the rest. */
  @Test
  void batches_beyond_the_memory_of_the_worker_wait_and_are_computed() throws Exception {
    worker.atOnce = false;
    worker.memory = new RequestMemory(1);
    HeterLink link = opened();
    List<Future<ComputedBatch>> results = new ArrayList<>();
    for (int number = 1; number <= 4; number++) {
      BatchToCompute batch = batch(TRAINER, number, 100);
      results.add(call(() -> link.compute(batch)));
    }
    for (int number = 1; number <= 4; number++) {
      awaitBatches(number);
      int at = number - 1;
      onLoop(() -> worker.answers.get(at).complete(echo(worker.batches.get(at))));
      assertThat(get(results.get(at)).id().number()).isEqualTo(number);
    }
    assertThat(worker.mostAtATime).isEqualTo(1);
    assertThat(worker.memory.taken()).isZero();
    assertThat(worker.memory.kept()).as("nor more than the limit to be used again").isZero();
  }

  @Test
  void a_trainer_that_is_gone_gives_its_room_to_others() throws Exception {
    worker.atOnce = false;
    worker.memory = new RequestMemory(1);
    HeterLink link = opened();
    call(() -> link.compute(batch(TRAINER, 1, 100)));
    awaitBatches(1);
    Future<ComputedBatch> waiting = call(() -> link.compute(batch(TRAINER, 2, 100)));
    Promise<Void> waits = Promise.promise();
    loop.context.runOnContext(v -> awaitWaiting(waits));
    get(waits.future());
    get(call(() -> link.close(false)));
    assertThatThrownBy(() -> get(waiting)).isInstanceOf(Cancelled.class);
    onLoop(() -> worker.answers.get(0).complete(echo(worker.batches.get(0)))); // a stream that is held notices nothing
    assertThat(get(worker.closed.future())).as("a clean end").isFalse();
    onLoop(() -> worker.answers.forEach(answer -> answer.tryFail("its trainer is gone")));
    assertThat(worker.memory.waiting()).isZero();
    assertThat(worker.memory.taken()).isZero();
  }

  private void awaitWaiting(Promise<Void> there) {
    if (worker.memory.waiting() > 0) {
      there.complete();
    } else {
      loop.context.runOnContext(v -> awaitWaiting(there));
    }
  }

  @Test
  void the_reason_of_a_refusal_reaches_the_trainer() throws Exception {
    HeterLink link = link();
    assertThatThrownBy(() -> get(call(() -> link.open(CutOpen.getDefaultInstance())))).isInstanceOf(InvalidInput.class)
        .hasMessage("no program here");
    assertThat(get(lost.future())).isInstanceOf(InvalidInput.class);
    assertThat(get(worker.closed.future())).isFalse();
  }

  @Test
  void a_batch_before_the_cut_is_agreed_is_refused() throws Exception {
    HeterLink link = link();
    assertThatThrownBy(() -> get(call(() -> link.compute(batch(TRAINER, 1, 10))))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("must be OPEN");
  }

  @Test
  void a_batch_of_another_replica_is_refused_until_that_has_agreed() throws Exception {
    HeterLink link = opened();
    BatchToCompute batch = batch(TRAINER, 1, 10);
    BatchToCompute other = new BatchToCompute(new BatchId(TRAINER, 3, 1), batch.head(), batch.tensors());
    assertThatThrownBy(() -> get(call(() -> link.compute(other)))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("replica 3");
  }

  @Test
  void a_worker_that_ends_its_streams_is_lost_by_name() throws Exception {
    worker.atOnce = false;
    HeterLink link = opened();
    Future<ComputedBatch> result = call(() -> link.compute(batch(TRAINER, 1, 100)));
    awaitBatches(1);
    onLoop(() -> session.giveUp(new PeerLost("this heter worker shuts down")));
    assertThatThrownBy(() -> get(result)).isInstanceOf(PeerLost.class)
        .hasMessage("heter worker 0 is lost: this heter worker shuts down");
    assertThat(get(lost.future())).isInstanceOf(PeerLost.class);
  }

  @Test
  void a_stream_that_breaks_in_the_middle_of_a_tensor_makes_no_batch() throws Exception {
    Promise<Void> broken = Promise.promise();
    TensorStream stream = loop.open(server.actualPort(), PATH, options, s -> {
      s.exceptionHandler(e -> broken.tryComplete()).endHandler(v -> broken.tryComplete());
      s.handler(frame -> { // opened
        TensorMessage.Builder header = TensorMessage.newBuilder().setJob("ctr").setRank(1).setIncarnation(7)
        .setRequest(2);
        Iterator<Outgoing> frames = HeterCodec.batch(header, batch(TRAINER, 1, 100), 1024);
        for (int i = 0; i < 5; i++) {
          Outgoing out = frames.next();
          s.send(out.frame()).onComplete(v -> out.release());
        }
        s.end();
      });
      s.send(HeterCodec.one(TensorMessage.newBuilder().setJob("ctr").setRank(1).setIncarnation(7).setRequest(1),
          HeterFrame.newBuilder().setOpen(open()).build()).next().frame());
    });
    assertThat(stream).isNotNull();
    assertThat(get(worker.closed.future())).as("a clean end").isFalse();
    get(broken.future());
    assertThat(worker.batches).isEmpty();
  }

  @Test
  void a_server_that_breaks_in_the_middle_of_a_result_makes_no_result() throws Exception {
    worker.atOnce = false;
    HeterLink link = opened();
    Future<ComputedBatch> result = call(() -> link.compute(batch(TRAINER, 1, 100)));
    awaitBatches(1);
    onLoop(() -> {
      TensorMessage.Builder header = TensorMessage.newBuilder().setJob("ctr").setRank(1).setIncarnation(7)
          .setRequest(2);
      Iterator<Outgoing> frames = HeterCodec.result(header, echo(worker.batches.get(0)), 1024);
      for (int i = 0; i < 5; i++) {
        Outgoing out = frames.next();
        serverStream.send(out.frame()).onComplete(v -> out.release());
      }
      serverStream.end();
    });
    assertThatThrownBy(() -> get(result)).isInstanceOf(PeerLost.class);
  }

  @Test
  void a_trainer_that_gives_up_with_a_batch_under_way_has_not_ended_cleanly() throws Exception {
    worker.atOnce = false;
    HeterLink link = opened();
    Future<ComputedBatch> result = call(() -> link.compute(batch(TRAINER, 1, 100)));
    awaitBatches(1);
    get(call(() -> link.close(true)));
    assertThatThrownBy(() -> get(result)).isInstanceOf(Cancelled.class);
    assertThat(get(worker.closed.future())).isFalse();
  }

  @Test
  void a_load_reaches_the_trainer_unasked() throws Exception {
    opened();
    WorkerLoad more = LOAD.toBuilder().setTrainers(2).build();
    onLoop(() -> session.tell(more));
    CompletableFuture<Void> heard = new CompletableFuture<>();
    loop.context.runOnContext(v -> look(more, heard));
    get(heard);
  }

  @Test
  void a_load_behind_a_large_result_holds_no_later_batch_back() throws Exception {
    worker.atOnce = false;
    HeterLink link = opened();
    for (int number = 1; number <= 2; number++) {
      BatchToCompute batch = batch(TRAINER, number, 10);
      ComputedBatch large = echo(batch(TRAINER, number, 2000));
      int at = number - 1;
      Future<ComputedBatch> result = call(() -> link.compute(batch));
      awaitBatches(number);
      onLoop(() -> {
        worker.answers.get(at).complete(large);
        session.tell(LOAD);
      });
      assertThat(get(result).id()).isEqualTo(batch.id());
    }
  }

  private void look(WorkerLoad load, CompletableFuture<Void> heard) {
    if (loads.contains(load)) {
      heard.complete(null);
    } else {
      loop.context.runOnContext(v -> look(load, heard));
    }
  }

  @Test
  void a_stream_belongs_to_one_trainer() throws Exception {
    Promise<RegattaException> refused = Promise.promise();
    loop.open(server.actualPort(), PATH, options, s -> {
      s.exceptionHandler(refused::tryComplete).handler(frame -> { });
      for (TrainerId trainer : List.of(TRAINER, new TrainerId(2, 7))) {
        s.send(HeterCodec.one(TensorMessage.newBuilder().setJob("ctr").setRank(trainer.rank())
            .setIncarnation(trainer.incarnation()).setRequest(trainer.rank()),
            HeterFrame.newBuilder().setOpen(open()).build()).next().frame());
      }
    });
    assertThat(get(refused.future())).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("open a stream for each trainer");
  }
}
