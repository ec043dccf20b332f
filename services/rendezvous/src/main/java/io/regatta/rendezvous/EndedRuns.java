package io.regatta.rendezvous;

import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The runs that ended with success, by group and run id. A process of such a run that joins later has nothing left to do. The
 * memory is bounded: the oldest runs are forgotten first, and each after a time. Owned by {@link Groups}, on its thread.
 */
final class EndedRuns {

  private record Run(String group, String id) {}

  private final int limit;
  private final long ageMillis;
  /** Time of each end, the oldest first. */
  private final Map<Run, Long> runs = new LinkedHashMap<>();

  EndedRuns(int limit, long ageMillis) {
    this.limit = limit;
    this.ageMillis = ageMillis;
  }

  /** Remembers the run of a group under all of its ids. */
  void add(String group, Collection<String> ids, long nowMillis) {
    forgetOld(nowMillis);
    for (String id : ids) {
      Run run = new Run(group, id);
      runs.remove(run);
      runs.put(run, nowMillis);
    }
    Iterator<Run> oldest = runs.keySet().iterator();
    while (runs.size() > limit) {
      oldest.next();
      oldest.remove();
    }
  }

  /** Returns how long ago the run ended, in ms; empty if none of that id is remembered. */
  Optional<Long> since(String group, String id, long nowMillis) {
    forgetOld(nowMillis);
    return Optional.ofNullable(runs.get(new Run(group, id))).map(ended -> nowMillis - ended);
  }

  private void forgetOld(long nowMillis) {
    runs.values().removeIf(ended -> nowMillis - ended > ageMillis);
  }
}
