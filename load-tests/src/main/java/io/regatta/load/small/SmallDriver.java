package io.regatta.load.small;

import io.regatta.load.process.WorkerPair;
import io.regatta.load.process.Medians;
import io.regatta.load.process.Sample;
import io.regatta.load.process.Scale;
import io.regatta.load.process.Table;
import io.regatta.load.process.Task;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The driver of round trips of 256 bytes, one after another on one stream. It compares a push of 64 floats and its
 * acknowledgement with the echo of as many bytes by Vert.x's gRPC. A trainer's client is called by a thread that waits,
 * as a model thread does. Its link alone and the bare echo repeat on the client's event loop. The echo with a waiting
 * thread shows the cost of the way between a thread and the loop.
 */
public final class SmallDriver {

  static final int FLOATS = 64;
  static final String LINK = "regatta-link";
  private static final String ECHO = "vertx-grpc-echo";
  private static final String WAITED_ECHO = "vertx-grpc-echo-waited";
  private static final String HANDOVER = "regatta-handover";
  private static final List<String> KINDS =
      List.of("regatta", "regatta-unix", LINK, "regatta-plain", HANDOVER, ECHO, WAITED_ECHO);

  private SmallDriver() {}

  /** Returns the work of this driver's worker. */
  public static Task task(JsonObject setup) throws Exception {
    boolean server = setup.getString("role").equals("server");
    String kind = setup.getString("kind");
    return switch (kind) {
      case ECHO, WAITED_ECHO ->
          server ? new EchoServer() : new EchoClient(setup.getInteger("port"), kind.equals(WAITED_ECHO));
      case LINK -> server ? new PushServer(setup) : new LinkClient(setup);
      default -> server ? new PushServer(setup) : new PushClient(setup);
    };
  }

  /** One round of a kind: microseconds. */
  private record Round(double p50, double p99, Sample sample) {}

  /** Markdown and raw values. */
  public record Result(String markdown, JsonObject json) {}

  /** Runs all kinds. */
  public static Result run(Scale scale, int times) throws IOException {
    Map<String, WorkerPair> pairs = new LinkedHashMap<>();
    Map<String, List<Round>> rounds = new LinkedHashMap<>();
    try {
      for (String kind : KINDS) {
        pairs.put(kind, WorkerPair.start(new JsonObject().put("driver", "small").put("kind", kind),
            kind.equals(HANDOVER)));
        rounds.put(kind, new ArrayList<>());
      }
      JsonObject command = new JsonObject().put("do", "trip").put("times", times);
      pairs.values().forEach(p -> p.warmUp(command, scale));
      for (int i = 0; i < scale.rounds(); i++) {
        pairs.forEach((kind, pair) -> {
          JsonObject[] told = new JsonObject[1];
          Sample sample = pair.measure(command, answer -> {
            told[0] = answer;
            return times;
          });
          rounds.get(kind).add(new Round(told[0].getDouble("p50"), told[0].getDouble("p99"), sample));
        });
      }
    } finally {
      pairs.values().forEach(WorkerPair::close);
    }
    return result(rounds, times);
  }

  private static double ratio(List<Round> one, List<Round> other, ToDoubleFunction<Round> figure) {
    return Medians.of(IntStream.range(0, one.size())
        .mapToDouble(i -> figure.applyAsDouble(one.get(i)) / figure.applyAsDouble(other.get(i))).toArray());
  }

  private static Result result(Map<String, List<Round>> rounds, int times) {
    Table table = new Table("kind", "p50 µs", "p99 µs", "CPU µs per trip", "p50 to echo's", "p99 to echo's",
        "p50 to that of the echo waited for", "wanted");
    JsonArray raw = new JsonArray();
    List<Round> echo = rounds.get(ECHO);
    rounds.forEach((kind, of) -> {
      double to50 = ratio(of, echo, Round::p50);
      double toWaited = ratio(of, rounds.get(WAITED_ECHO), Round::p50);
      table.row(kind, Medians.of(of.stream().mapToDouble(Round::p50).toArray()),
          Medians.of(of.stream().mapToDouble(Round::p99).toArray()),
          Medians.of(of.stream().mapToDouble(r -> r.sample.cpu() * 1e6).toArray()), to50,
          ratio(of, echo, Round::p99), toWaited, kind.equals("regatta") ? "p50 ≤ 1.3" : "");
      JsonArray p50 = new JsonArray();
      JsonArray p99 = new JsonArray();
      of.forEach(r -> {
        p50.add(r.p50);
        p99.add(r.p99);
      });
      raw.add(new JsonObject().put("kind", kind).put("p50_us", p50).put("p99_us", p99)
          .put("p50_ratio", to50).put("p50_ratio_waited", toWaited)
          .put("samples", Medians.raw(of.stream().map(Round::sample).toList())));
    });
    return new Result("## small: round trip of 256 B, " + times + " in a row\n\n" + table,
        new JsonObject().put("unit", "round trips").put("measured", raw));
  }
}
