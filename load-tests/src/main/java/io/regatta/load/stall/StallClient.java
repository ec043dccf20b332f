package io.regatta.load.stall;

import io.regatta.core.dense.DenseMemory;
import io.regatta.load.dense.DenseTask;
import io.regatta.load.process.WorkerLoop;
import io.regatta.load.process.MemoryWatch;
import io.regatta.load.process.Task;
import io.regatta.load.run.ShardTrainer;
import io.regatta.node.process.PlainVertx;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The process of a trainer that requests much at once. The commands {@code push} and {@code pull} send a number of
 * requests and do not wait, a {@code pull} with the reader stalled. The command {@code stand} lets time pass. The
 * command {@code finish} reads again, waits for all answers and compares the weights with the closed form.
 */
final class StallClient implements Task {
  private final Vertx vertx = Vertx.vertx(PlainVertx.options());
  private final MemoryWatch memory = new MemoryWatch(vertx);
  private final WorkerLoop loop = WorkerLoop.on(vertx);
  private final DenseTask task;
  private final ShardTrainer trainer;
  private final DenseMemory gradient;
  private final List<DenseMemory> values = new ArrayList<>();
  private final List<Future<?>> asked = new ArrayList<>();
  private long pushes;

  StallClient(JsonObject setup) throws Exception {
    task = new DenseTask(setup.getInteger("elements"), StallDriver.options(setup));
    trainer = ShardTrainer.open(loop, vertx, setup.getInteger("port"), StallDriver.options(setup),
        task.model(), task.initial());
    gradient = DenseMemory.of(task.gradient());
    for (int i = 0; i < StallDriver.REQUESTS; i++) { // before anything is measured
      values.add(DenseMemory.of(new float[task.elements()]));
    }
  }

  @Override
  public JsonObject run(JsonObject command) throws Exception {
    switch (command.getString("do")) {
      case "begin" -> memory.begin();
      case "end" -> {
        return memory.end();
      }
      case "push" -> {
        for (int i = 0; i < command.getInteger("times"); i++, pushes++) {
          asked.add(onLoop(() -> trainer.push(gradient, List.of())));
        }
      }
      case "pull" -> {
        trainer.reads(false);
        for (int i = 0; i < command.getInteger("times"); i++) {
          DenseMemory into = values.get(i);
          asked.add(onLoop(() -> trainer.pull(into, List.of())));
        }
      }
      case "stand" -> {
        loop.call(() -> vertx.timer(command.getLong("millis"), TimeUnit.MILLISECONDS));
        return new JsonObject().put("answered", asked.stream().filter(Future::isComplete).count());
      }
      case "finish" -> finish();
      default -> throw new IllegalArgumentException("unknown command " + command);
    }
    return new JsonObject();
  }

  private Future<?> onLoop(Supplier<Future<?>> request) throws Exception {
    List<Future<?>> made = new ArrayList<>();
    loop.call(() -> {
      made.add(request.get());
      return Future.succeededFuture();
    });
    return made.get(0);
  }

  private void finish() throws Exception {
    trainer.reads(true);
    loop.call(() -> Future.all(asked));
    asked.clear();
    trainer.call(() -> trainer.pull(values.get(0), List.of()));
    task.check(values.get(0).array(), pushes);
  }

  @Override
  public void close() {
    vertx.close();
  }
}
