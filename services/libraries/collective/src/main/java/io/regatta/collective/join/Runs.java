package io.regatta.collective.join;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * The run ids that a {@link MembershipRecord} knows: of the members of the run under way, and of the runs that ended
 * with success. Immutable and bounded. The oldest ended runs are forgotten first. Each is forgotten after
 * {@value #AGE_MILLIS} ms by the clock of the member that marks another end.
 *
 * @param current of the members so far, each once
 * @param ended the oldest first
 */
record Runs(List<String> current, List<Ended> ended) {

  static final int LIMIT = 256;
  private static final long AGE_MILLIS = 86_400_000;
  static final Runs NONE = new Runs(List.of(), List.of());

  /** @param millis when it ended, since the epoch */
  record Ended(String id, long millis) {}

  Runs {
    current = List.copyOf(current);
    ended = List.copyOf(ended);
  }

  /** Adds the run of a member that has been seated. */
  Runs with(String id) {
    if (id.isEmpty() || current.contains(id) || current.size() >= LIMIT) {
      return this;
    }
    List<String> more = new ArrayList<>(current);
    more.add(id);
    return new Runs(more, ended);
  }

  /** Begins a new run. */
  Runs anew() {
    return new Runs(List.of(), ended);
  }

  /** Notes that the run under way has ended with success. */
  Runs succeed(long nowMillis) {
    List<Ended> all = new ArrayList<>(ended);
    all.removeIf(run -> nowMillis - run.millis > AGE_MILLIS || current.contains(run.id));
    current.forEach(id -> all.add(new Ended(id, nowMillis)));
    return new Runs(current, all.subList(Math.max(0, all.size() - LIMIT), all.size()));
  }

  boolean isCurrent(String id) {
    return current.contains(id);
  }

  boolean hasEnded(String id) {
    return ended.stream().anyMatch(run -> run.id.equals(id));
  }

  JsonObject toJson() {
    return new JsonObject().put("current", new JsonArray(current)).put("ended", new JsonArray(ended.stream()
        .map(run -> new JsonObject().put("id", run.id).put("millis", run.millis)).toList()));
  }

  /** @param json null: none */
  static Runs of(JsonObject json) {
    return json == null ? NONE : new Runs(json.getJsonArray("current").stream().map(String.class::cast).toList(),
        json.getJsonArray("ended").stream().map(JsonObject.class::cast)
            .map(run -> new Ended(run.getString("id"), run.getLong("millis"))).toList());
  }
}
