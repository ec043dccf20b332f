package io.regatta.training.trace;

import io.regatta.core.loop.Clock;
import io.regatta.training.trace.StepTrace.Span;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * The writer of spans in Chrome's trace format, JSON. Complete events ({@code ph: X}) have {@code ts} and {@code dur}
 * in µs, {@code ts} since 1970 so that the files of several ranks can be combined. {@code pid} is the rank, {@code tid}
 * a track, and metadata events ({@code ph: M}) hold their names. Viewers expect nested spans in a track, so spans that
 * overlap otherwise, such as requests to a shard, are assigned to lanes of their own. Stateless.
 */
final class ChromeTrace {

  private ChromeTrace() {}

  static String of(Clock clock, int rank, List<Span> spans) {
    long epochMicros = TimeUnit.MILLISECONDS.toMicros(clock.epochMillis()) - clock.nanos() / 1000;
    JsonArray events = new JsonArray();
    events.add(name("process_name", rank, 0, "trainer " + rank));
    int tid = 0;
    for (Map.Entry<String, List<List<Span>>> track : tracks(spans).entrySet()) {
      List<List<Span>> lanes = track.getValue();
      for (int lane = 0; lane < lanes.size(); lane++) {
        events.add(name("thread_name", rank, ++tid, track.getKey() + (lane == 0 ? "" : " (" + (lane + 1) + ")")));
        for (Span s : lanes.get(lane)) {
          events.add(new JsonObject().put("name", s.name()).put("ph", "X").put("pid", rank).put("tid", tid)
              .put("ts", epochMicros + s.beginNanos() / 1e3).put("dur", (s.endNanos() - s.beginNanos()) / 1e3)
              .put("args", new JsonObject(new LinkedHashMap<>(s.details()))));
        }
      }
    }
    return new JsonObject().put("displayTimeUnit", "ms").put("traceEvents", events).encode();
  }

  private static JsonObject name(String what, int pid, int tid, String name) {
    return new JsonObject().put("name", what).put("ph", "M").put("pid", pid).put("tid", tid)
        .put("args", new JsonObject().put("name", name));
  }

  /** Returns the lanes of each track, by its name; in a lane, spans follow or contain one another. */
  private static Map<String, List<List<Span>>> tracks(List<Span> spans) {
    List<Span> inOrder = new ArrayList<>(spans);
    inOrder.sort(Comparator.comparingLong(Span::beginNanos).thenComparing(Span::endNanos, Comparator.reverseOrder()));
    Map<String, List<List<Span>>> tracks = new TreeMap<>();
    for (Span s : inOrder) {
      List<List<Span>> lanes = tracks.computeIfAbsent(s.track(), t -> new ArrayList<>());
      lanes.stream().filter(lane -> fits(s, lane)).findFirst().orElseGet(() -> {
        lanes.add(new ArrayList<>());
        return lanes.get(lanes.size() - 1);
      }).add(s);
    }
    return tracks;
  }

  private static boolean fits(Span s, List<Span> lane) {
    return lane.stream().noneMatch(earlier -> earlier.endNanos() > s.beginNanos() && earlier.endNanos() < s.endNanos());
  }
}
