package io.regatta.load.dense;

import io.regatta.load.process.Task;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** The process of one kind's trainers, one for each task; includes the server if the kind is one process. */
final class DenseClient implements Task {
  private final Peer peer;
  private final boolean applies;
  private final List<Trainer> trainers = new ArrayList<>();

  private static final class Trainer {
    final DenseTask task;
    final Peer.Client client;
    long pushes;

    Trainer(DenseTask task, Peer.Client client) {
      this.task = task;
      this.client = client;
    }
  }

  /** @param setup {@code ports}: one for each task; none if the kind is one process */
  DenseClient(JsonObject setup) throws Exception {
    String kind = setup.getString("kind");
    peer = Peers.named(kind, setup.getString("certificates"));
    applies = !kind.equals(Peers.MEMCPY);
    JsonArray ports = setup.getJsonArray("ports");
    for (DenseTask task : DenseTask.all(setup)) {
      int port = ports == null ? peer.serve(task) : ports.getInteger(trainers.size());
      trainers.add(new Trainer(task, peer.connect(port, task)));
    }
  }

  /**
   * Runs {@code push} and {@code pull}, {@code times}; {@code check} reports whether the weights are the expected ones.
   */
  @Override
  public JsonObject run(JsonObject command) throws Exception {
    Trainer trainer = trainers.get(command.getInteger("task"));
    int times = command.getInteger("times", 1);
    switch (command.getString("do")) {
      case "push" -> {
        for (int i = 0; i < times; i++) {
          trainer.client.push();
          trainer.pushes++;
        }
      }
      case "pull" -> {
        for (int i = 0; i < times; i++) {
          trainer.client.pull();
        }
      }
      case "check" -> {
        if (applies) {
          trainer.client.pull();
          trainer.task.check(trainer.client.values(), trainer.pushes);
        }
      }
      default -> throw new IllegalArgumentException("unknown command " + command);
    }
    return new JsonObject().put("pushes", trainer.pushes);
  }

  @Override
  public void close() throws Exception {
    peer.close();
  }
}
