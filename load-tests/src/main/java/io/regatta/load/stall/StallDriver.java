package io.regatta.load.stall;

import io.regatta.load.process.WorkerPair;
import io.regatta.load.process.Table;
import io.regatta.load.process.Task;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.Transport;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The driver that measures memory of both ends while one of them stands still. One case is a trainer that pushes to a
 * frozen server (SIGSTOP), the other a server that answers a trainer that does not read. In the end both continue, and
 * the weights must be those of every push applied once.
 */
public final class StallDriver {
  /**
   * Added to the streams' options: bytes that may wait in a stream's queue, heads of frames, and one read of the
   * socket.
   */
  private static final long QUEUE_BYTES = 2 << 20;
  private static final long READ_BYTES = 1 << 20;
  private static final long HEAD_BYTES = 64 << 10;
  private static final double MEGA = 1 << 20;
  static final int REQUESTS = 4;

  private StallDriver() {}

  /** Returns the work of this driver's worker. */
  public static Task task(JsonObject setup) throws Exception {
    return setup.getString("role").equals("server") ? new StallServer(setup) : new StallClient(setup);
  }

  static StreamOptions options(JsonObject setup) {
    StreamOptions defaults = StreamOptions.defaults().withTransport(Transport.GRPC);
    int window = setup.getInteger("window_bytes");
    return defaults.with(s -> s.initialWindowBytes(window).connectionWindowBytes(Math.max(window, defaults.connectionWindowBytes())));
  }

  /**
   * The peak of one process in one case, in bytes above the level before.
   *
   * @param bound of buffers, from the streams' options
   * @param buffers peak of pooled direct memory in use
   * @param resident peak of the process's pages
   */
  public record Peak(String what, String process, long bound, long buffers, long resident) {}

  /** Markdown, raw values, and the peaks. */
  public record Result(String markdown, JsonObject json, List<Peak> peaks) {}

  /**
   * Runs both cases; fails if anything is lost or applied twice.
   *
   * @param elements floats of the vector
   * @param windowBytes of a stream
   * @param millis how long the stall lasts
   */
  public static Result run(int elements, int windowBytes, long millis) throws IOException {
    JsonObject setup = new JsonObject().put("driver", "stall").put("kind", "regatta").put("elements", elements)
        .put("window_bytes", windowBytes);
    StreamOptions options = options(setup);
    long sent = Math.min(QUEUE_BYTES, windowBytes) + options.chunkBytes() + HEAD_BYTES;
    List<Peak> peaks = new ArrayList<>();
    try (WorkerPair pair = WorkerPair.start(setup, false)) {
      pair.ask(command("push").put("times", REQUESTS)); // warms up
      pair.ask(command("finish"));
      pair.freezeServer();
      try {
        pair.ask(command("begin"));
        pair.ask(command("push").put("times", REQUESTS));
        stand(pair, millis);
        peaks.add(peak("server frozen, trainer pushes", "trainer", sent, pair.ask(command("end"))));
      } finally {
        pair.thawServer();
      }
      pair.ask(command("finish"));

      pair.ask(command("begin"));
      pair.askServer(command("begin"));
      pair.ask(command("pull").put("times", REQUESTS));
      stand(pair, millis);
      peaks.add(peak("trainer does not read, server answers pulls", "server", sent, pair.askServer(command("end"))));
      peaks.add(peak("trainer does not read, server answers pulls", "trainer", windowBytes + READ_BYTES,
          pair.ask(command("end"))));
      pair.ask(command("finish"));
    }
    return result(peaks, elements, millis);
  }

  private static JsonObject command(String what) {
    return new JsonObject().put("do", what);
  }

  private static void stand(WorkerPair pair, long millis) {
    long answered = pair.ask(command("stand").put("millis", millis)).getLong("answered");
    if (answered == REQUESTS) {
      throw new IllegalStateException("nothing stalled: all " + REQUESTS + " requests were answered; take a larger vector");
    }
  }

  private static Peak peak(String what, String process, long bound, JsonObject told) {
    return new Peak(what, process, bound, told.getLong("buffers"), told.getLong("resident"));
  }

  private static Result result(List<Peak> peaks, int elements, long millis) {
    Table table = new Table("for " + millis / 1000.0 + " s", "process", "bound of buffers MiB", "peak of buffers MiB",
        "peak of resident pages MiB");
    JsonArray raw = new JsonArray();
    for (Peak p : peaks) {
      table.row(p.what, p.process, p.bound / MEGA, p.buffers / MEGA, p.resident / MEGA);
      raw.add(new JsonObject().put("case", p.what).put("process", p.process).put("bound_bytes", p.bound)
          .put("buffer_bytes", p.buffers).put("resident_bytes", p.resident));
    }
    String head = "## stall: " + REQUESTS + " requests of " + elements * 4L / 1_000_000 + " MB each; then both go on, and "
        + "every push is applied once\n\nAbove what the process had before.\n\n";
    return new Result(head + table, new JsonObject().put("millis", millis).put("measured", raw), peaks);
  }
}
